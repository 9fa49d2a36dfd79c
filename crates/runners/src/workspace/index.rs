//! The index that git wrote when it filled a workspace: every file of the base,
//! with the size and the times it had then.
//!
//! Read here so that looking at a workspace needs no process. Only an index of our
//! own is ever read, never the child's.

mod listing;
mod trees;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Error;
use super::folders::Moment;
pub(super) use listing::Listing;
pub(super) use trees::Part;

/// Bytes before the first entry: the mark, the version, the count.
const HEADER_BYTES: usize = 12;
/// Bytes of an entry before its object's name.
const STAT_BYTES: usize = 40;

/// The flag of an entry that a sparse checkout leaves out.
const LEFT_OUT: u16 = 0x4000;

/// How far the clock of files may lag behind.
const LAG: Duration = Duration::from_millis(20);

/// What a file was like when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) mode: u32,
    pub(super) object: String,
    ctime: (u32, u32),
    mtime: (u32, u32),
    inode: u32,
    size: u32,
    /// Whether it is left out of the files, as in a sparse checkout.
    #[serde(default)]
    pub(super) left_out: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    Different,
    /// Touched, but perhaps not changed: only its content can tell.
    Unsure,
}

/// The kinds of files that are told apart.
fn kind(metadata: &fs::Metadata) -> u32 {
    if metadata.is_symlink() {
        0o120_000
    } else if metadata.mode() & 0o100 == 0 {
        0o100_644
    } else {
        0o100_755
    }
}

impl Entry {
    /// What a file is like now; its content is remembered elsewhere.
    pub(super) fn of(now: &fs::Metadata) -> Self {
        Self {
            mode: kind(now),
            object: String::new(),
            ctime: (now.ctime() as u32, now.ctime_nsec() as u32),
            mtime: (now.mtime() as u32, now.mtime_nsec() as u32),
            inode: now.ino() as u32,
            size: now.size() as u32,
            left_out: false,
        }
    }

    /// Whether this is another repository's place, not a file.
    pub(super) fn is_link_to_repository(&self) -> bool {
        self.mode == 0o160_000
    }

    /// When the file was last changed in any way, content or not.
    pub(super) fn changed(&self) -> Moment {
        (i64::from(self.ctime.0), i64::from(self.ctime.1))
    }

    /// Compares with what is there now. Nothing can set a file's change time back,
    /// so a file that looks the same and is older than `settled` is the same.
    pub(super) fn verdict(&self, now: &fs::Metadata, settled: Moment) -> Verdict {
        let found = Self::of(now);
        if found.mode != self.mode || found.size != self.size {
            return Verdict::Different;
        }
        let times = found.mtime == self.mtime && found.ctime == self.ctime;
        let untouched = times && found.inode == self.inode;
        if untouched && (now.ctime(), now.ctime_nsec()) < settled {
            Verdict::Same
        } else {
            Verdict::Unsure
        }
    }
}

/// Copies an index with its time.
///
/// Git compares that time with those of the files to know which of them it cannot
/// trust; a copy that looks younger than it is would hide changes.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::copy(from, to).map_err(Error::files("writing", to))?;
    let time = fs::metadata(from).and_then(|metadata| metadata.modified());
    let time = time.map_err(Error::files("reading", from))?;
    let file = fs::File::options().write(true).open(to).map_err(Error::files("writing", to))?;
    file.set_modified(time).map_err(Error::files("writing", to))
}

/// The second in which an index was written.
pub(super) fn second(path: &Path) -> Result<i64, Error> {
    let found = fs::metadata(path).map_err(Error::files("reading", path))?;
    Ok(found.mtime())
}

/// How many files an index lists, from its first bytes.
pub(super) fn count(path: &Path) -> Option<usize> {
    let mut header = [0; HEADER_BYTES];
    let mut file = fs::File::open(path).ok()?;
    std::io::Read::read_exact(&mut file, &mut header).ok()?;
    usize::try_from(word(&header, 8)?).ok()
}

/// The times of what an index lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// The moment of the last change of any file.
    pub(super) newest: Moment,
    /// The second in which the last file was written or changed.
    pub(super) second: i64,
}

impl Times {
    fn add(&mut self, changed: Moment, written_second: i64) {
        self.newest = self.newest.max(changed);
        self.second = self.second.max(written_second).max(changed.0);
    }
}

/// The times of what an index lists, without remembering any of it.
pub(super) fn times(path: &Path, hash_bytes: usize) -> Result<Times, Error> {
    Ok(Listing::read(path, hash_bytes)?.times())
}

/// Whether a second has passed, by the clock of files, too: it lags behind ours.
pub(super) fn is_over(second: i64) -> bool {
    let now = SystemTime::now().checked_sub(LAG).unwrap_or(SystemTime::UNIX_EPOCH);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
    i64::try_from(now).unwrap_or_default() > second
}

/// Dates an index after all it lists, once that second is over; `false` before.
///
/// Git trusts a file's times only if they are older than the index by a second, and
/// reads the file otherwise. From the next second on nobody can change a file without
/// showing it, so that an index dated there is true for all who come later.
pub(super) fn ripen(path: &Path, second: i64) -> Result<bool, Error> {
    if !is_over(second) {
        return Ok(false);
    }
    let after = u64::try_from(second.saturating_add(1)).unwrap_or_default();
    let after = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(after));
    let file = fs::File::options().write(true).open(path).map_err(Error::files("writing", path))?;
    let dated = file.set_modified(after.unwrap_or(SystemTime::UNIX_EPOCH));
    dated.map(|()| true).map_err(Error::files("writing", path))
}

/// Every file of a base.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) entries: HashMap<Vec<u8>, Entry>,
}

impl Index {
    /// Reads an index file of ours.
    pub(super) fn read(path: &Path, hash_bytes: usize) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(Error::files("reading", path))?;
        let mut entries = HashMap::new();
        // What the first bytes promise is believed as far as there are bytes for it.
        let count = word(&bytes, 8).and_then(|count| usize::try_from(count).ok());
        entries.reserve(count.unwrap_or_default().min(bytes.len() / STAT_BYTES));
        let read = each(&bytes, hash_bytes, |listed| {
            entries.insert(listed.name.to_vec(), listed.entry(hash_bytes)?);
            Some(())
        });
        read.map(|_| Self { entries }).ok_or_else(|| unreadable(path))
    }

    /// The times of all of it.
    pub(super) fn times(&self) -> Times {
        let mut times = Times::default();
        for entry in self.entries.values() {
            times.add(entry.changed(), i64::from(entry.mtime.0));
        }
        times
    }
}

fn unreadable(path: &Path) -> Error {
    let message = "it is no git index of version 2 or 3".into();
    Error::Record { path: path.to_owned(), message }
}

/// A file as an index lists it.
#[derive(Clone, Copy, Debug)]
struct Listed<'a> {
    bytes: &'a [u8],
    name: &'a [u8],
    left_out: bool,
}

impl Listed<'_> {
    fn entry(&self, hash_bytes: usize) -> Option<Entry> {
        let object = hex(self.bytes.get(STAT_BYTES..)?.get(..hash_bytes)?);
        Some(Entry { object, ..self.stat()? })
    }

    /// The same without its content's name.
    fn stat(&self) -> Option<Entry> {
        let bytes = self.bytes;
        Some(Entry {
            ctime: (word(bytes, 0)?, word(bytes, 4)?),
            mtime: (word(bytes, 8)?, word(bytes, 12)?),
            inode: word(bytes, 20)?,
            mode: word(bytes, 24)?,
            size: word(bytes, 36)?,
            left_out: self.left_out,
            object: String::new(),
        })
    }
}

/// Hands over what an index lists, one by one, and says where that ends; `None` if it cannot
/// be understood.
fn each<'a>(
    bytes: &'a [u8],
    hash_bytes: usize,
    mut take: impl FnMut(Listed<'a>) -> Option<()>,
) -> Option<usize> {
    let version = word(bytes, 4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=3).contains(&version) {
        return None;
    }
    let mut at = HEADER_BYTES;
    for _ in 0..word(bytes, 8)? {
        let rest = bytes.get(at..)?;
        let flags_at = STAT_BYTES.checked_add(hash_bytes)?;
        let flags = u16::from_be_bytes(rest.get(flags_at..)?.first_chunk::<2>().copied()?);
        let extended = if flags & 0x4000 == 0 { 0 } else { 2 };
        let name_at = flags_at.checked_add(2)?.checked_add(extended)?;
        let name = rest.get(name_at..)?;
        let name = name.get(..memchr::memchr(0, name)?)?;
        let more = rest.get(flags_at.checked_add(2)?..)?.first_chunk::<2>().copied()?;
        let left_out = extended > 0 && u16::from_be_bytes(more) & LEFT_OUT != 0;
        take(Listed { bytes: rest, name, left_out })?;
        // Entries end with one to eight zeros, on a multiple of eight.
        at = at.checked_add(name_at.checked_add(name.len())?.checked_add(8)? & !7)?;
    }
    Some(at)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..)?.first_chunk::<4>().copied()?))
}

fn hex(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
}
