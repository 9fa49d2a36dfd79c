//! Making a checkout look older than it is, so that git trusts what it remembers of it.
//!
//! Git knows times by the second. What was written in the second in which its index was, it
//! reads again to be sure, and so would every workspace of a fresh pin. So these files are
//! dated one second back, and whoever writes to one within that second shows it by the time.
//! They also get a second name each: of such a file the kernel makes another one when it is
//! written to through an overlay, which shows even if the time is set back again.

use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::super::super::index::{self, Listing};
use super::super::super::walk::below;
use super::super::super::{Error, record};
use super::super::Repository;

/// Where second names are.
const TWINS: &str = "twins";

impl Repository {
    /// Dates the files of a fresh pin back that its index is too young for.
    pub(super) fn date_back(&self, fresh: &Path, files: &Path) -> Result<(), Error> {
        let path = fresh.join("index");
        let written = index::second(&path)?;
        let mut listed = Listing::read(&path, self.user.hash_bytes)?;
        let young = listed.since(written);
        if young.is_empty() {
            return Ok(());
        }
        let twins = fresh.join(TWINS);
        fs::create_dir_all(&twins).map_err(Error::files("making", &twins))?;
        let time = Timespec { tv_sec: written.saturating_sub(1), tv_nsec: 0 };
        let times = Timestamps { last_access: time, last_modification: time };
        for number in young {
            let Some(name) = listed.meant(number) else { continue };
            let file = below(files, name);
            let failed = || Error::files("dating", &file);
            let is_file = fs::symlink_metadata(&file).map_err(failed())?.is_file();
            if is_file {
                fs::hard_link(&file, twins.join(number.to_string())).map_err(failed())?;
            }
            utimensat(CWD, &file, &times, AtFlags::SYMLINK_NOFOLLOW)
                .map_err(|error| failed()(error.into()))?;
            let found = fs::symlink_metadata(&file).map_err(failed())?;
            listed.restamp(number, &found);
        }
        record::write_bytes(&path, listed.bytes())?;
        // Git makes the sum at its end anew.
        let call = self.on_pin("update-index", fresh, files);
        call.arg("--force-write-index").run().map(drop)
    }
}
