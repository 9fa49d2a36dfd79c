//! The steps of an exchange: how they are written down, and how one is taken back.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What ends each part of a record: no path has it.
const END: u8 = 0;

/// One thing that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Moved { from: PathBuf, to: PathBuf },
    Made(PathBuf),
}

/// What is put on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// Where old and new files lie, which is made next.
    Begun(PathBuf),
    /// A step that is done next.
    Step(Step),
    /// All of it is done.
    Done(Vec<u8>),
    /// All of it was taken back.
    Undone,
}

impl Record {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let parts: &[&[u8]] = match self {
            Self::Begun(scratch) => &[b"begun", scratch.as_os_str().as_bytes()],
            Self::Step(Step::Moved { from, to }) => {
                &[b"moved", from.as_os_str().as_bytes(), to.as_os_str().as_bytes()]
            }
            Self::Step(Step::Made(folder)) => &[b"made", folder.as_os_str().as_bytes()],
            Self::Done(outcome) => &[b"done", outcome],
            Self::Undone => &[b"undone"],
        };
        parts.iter().flat_map(|part| part.iter().copied().chain([END])).collect()
    }
}

/// What was put on record; one whose writer was killed over it does not count.
pub(super) fn read(bytes: &[u8]) -> Vec<Record> {
    let mut parts = bytes.split_inclusive(|byte| *byte == END);
    let mut part = || parts.next()?.strip_suffix(&[END]);
    let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
    let next = || {
        Some(match part()? {
            b"begun" => Record::Begun(path(part()?)),
            b"moved" => Record::Step(Step::Moved { from: path(part()?), to: path(part()?) }),
            b"made" => Record::Step(Step::Made(path(part()?))),
            b"done" => Record::Done(part()?.to_vec()),
            b"undone" => Record::Undone,
            _ => return None,
        })
    };
    std::iter::from_fn(next).collect()
}

impl Step {
    /// Takes it back, if it was done at all; answers with what is in the way. What was changed
    /// after `last` in the user's folder is somebody's work by now.
    pub(super) fn take_back(&self, scratch: &Path, last: Option<SystemTime>) -> Option<PathBuf> {
        let (from, to) = match self {
            Self::Moved { from, to } => (from, to),
            Self::Made(folder) => {
                // It may hold something of somebody's, and then it stays.
                drop(fs::remove_dir(folder));
                return None;
            }
        };
        let to_found = fs::symlink_metadata(to).ok()?;
        let is_new = from.starts_with(scratch);
        if fs::symlink_metadata(from).is_ok() {
            // A new file that never left, or one that somebody has put in place of the old.
            return (!is_new).then(|| from.clone());
        }
        let is_later = |last| to_found.modified().is_ok_and(|changed| changed > last);
        if is_new && last.is_some_and(is_later) {
            return Some(to.clone());
        }
        fs::rename(to, from).err().map(|_| if is_new { to.clone() } else { from.clone() })
    }
}
