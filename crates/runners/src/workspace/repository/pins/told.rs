//! Telling git what was written to in a workspace, so that it need not look at every file.
//!
//! Looking at a file through an overlay for the first time is what costs most in a large
//! repository. But whatever was changed lies in the folder that the overlay writes to, and
//! git asks a program first if there is one (`core.fsmonitor`). Ours is a few lines of shell
//! in the settings that all workspaces of a pin share. It answers with what lies at the top of
//! that folder, and means all below it: what is not there is as the index says.
//!
//! One thing leaves no trace there: something at the top that the base does not have, if it
//! was made, added to the index, and deleted. It shows in the time of the top itself, and so
//! an answer is by names only while that is the one of the last answer, which git remembers.
//! The first one is that of the pin, which every workspace begins with. Whatever else git
//! brings, or where anything fails, the answer is that all may have changed: after the first
//! work in another folder at the top, for one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::super::super::folders::{Laid, Made};
use super::super::super::git::Trust;
use super::super::super::index::Listing;
use super::super::super::{Error, record};
use super::super::{Repository, own};

/// The program. Git adds what it asks: the version of its question, and the last answer's
/// mark. A mark is of the top's own last change, unless that is so recent that the next could
/// have the same time. That of a pin is of the time that its top was given, and counts as long
/// as nothing at all has happened to the top since then, not even that it was dated back.
pub(in super::super) const PROGRAM: &str = r#"told() {
[ "$1" = 2 ] || return 1
here=$(pwd -P)
written=${here%/*/*}/layers/${here##*/}/upper
top=$(find "$written" -maxdepth 0 -printf 'c%C@' \( ! -newercm "$written/../since" -printf ' m%T@' , -newerct '2 seconds ago' -printf ' recent' \) 2>/dev/null) || return 1
case "$top " in
"$2 "*|*" $2 "*) printf '%s\0' "$2"
find "$written" -mindepth 1 -maxdepth 1 ! -name .git -printf '%f\0%f/\0';;
*' recent ') printf 'later\0/\0';;
*) printf '%s\0/\0' "${top%% *}";;
esac
}; told"#;

/// What git calls the part of an index that is about such a program, and how it is written.
const NAME: &[u8] = b"FSMN";
const VERSION: u32 = 2;

/// The file, beside what is written, that is as old as the workspace.
const SINCE: &str = "since";

/// How much older than now the top of a pin is made to look: nothing that is done in a
/// workspace gets such a time.
const OLDER_SECONDS: i64 = 2;

impl Repository {
    /// Sees to it that git is told in all workspaces of a fresh pin, if that is worth it and
    /// can be had: `find` has to be one that knows times.
    pub(super) fn have_told(&self, fresh: &Path, files: &Path) -> Result<(), Error> {
        let index = fresh.join("index");
        let listed = Listing::read(&index, self.user.hash_bytes)?;
        if listed.len() < self.told_from {
            return Ok(());
        }
        let now = fs::metadata(&index).map_err(Error::files("reading", &index))?.mtime();
        date(files, (now.saturating_sub(OLDER_SECONDS), 0))?;
        let Some(mark) = mark(files) else { return Ok(()) };
        record::write_bytes(&index, &listed.with(&extension(&mark)))?;
        // Git makes the sum at its end anew, and asks: it is told the same, and of no file.
        let program = format!("printf '%s\\0' '{mark}' #");
        let call = self.git.monitored("update-index", Trust::Repository, &program);
        self.for_pin(call, fresh, files).arg("--force-write-index").run()?;
        own::add_monitor(&files.join(".git"), &self.user, PROGRAM)
    }

    /// Gives the top of a workspace the time that its pin has, before the agent works in it.
    /// Where something was done with its index already, that may have left no trace.
    pub(in super::super) fn date_top(&self, made: &Made) -> Result<(), Error> {
        let Laid::Overlay { lower } = &made.laid else { return Ok(()) };
        if self.folders.layer(&made.place.attempt).join("upper/.git/index").exists() {
            return Ok(());
        }
        let Some(pin) = lower.first().map(|name| self.pins().join(name)) else { return Ok(()) };
        let found = fs::metadata(&pin).map_err(Error::files("reading", &pin))?;
        date(&made.place.root, (found.mtime(), found.mtime_nsec()))?;
        let since = self.folders.layer(&made.place.attempt).join(SINCE);
        fs::write(&since, "").map_err(Error::files("writing", &since))
    }
}

/// What an index says of a program that was asked, as git reads it: its version, the mark, and
/// the files that have to be looked at all the same, which are none. Git itself always looks
/// into what is in the place of another repository.
fn extension(mark: &str) -> Vec<u8> {
    const NO_FILES: [u32; 5] = [0, 1, 0, 0, 0];
    let length = u32::try_from(size_of_val(&NO_FILES)).unwrap_or_default();
    let files = [&[length][..], &NO_FILES].concat();
    let files = files.into_iter().flat_map(u32::to_be_bytes);
    let held: Vec<u8> =
        VERSION.to_be_bytes().into_iter().chain(mark.bytes()).chain([0]).chain(files).collect();
    let length = u32::try_from(held.len()).unwrap_or_default();
    [NAME, &length.to_be_bytes(), &held].concat()
}

/// The mark of a folder's time, in the words of the program that will compare it.
fn mark(folder: &Path) -> Option<String> {
    let mut find = Command::new("find");
    find.arg(folder).args(["-maxdepth", "0", "-printf", "m%T@"]);
    // Where one of these is not known, nothing is printed.
    find.args(["-newerct", "2 seconds ago", "-newercm"]).arg(folder);
    let said = find.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let mark = String::from_utf8(said.stdout).ok()?;
    let is_time = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_mark = mark.strip_prefix('m').is_some_and(|time| !time.is_empty() && is_time(time));
    (said.status.success() && is_mark).then_some(mark)
}

fn date(folder: &Path, (tv_sec, tv_nsec): (i64, i64)) -> Result<(), Error> {
    let time = Timespec { tv_sec, tv_nsec };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, folder, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| Error::files("dating", folder)(error.into()))
}
