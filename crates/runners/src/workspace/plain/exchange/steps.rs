//! The moves of an exchange: how they are written down, and how one is taken back.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// What ends each part of a record: no path has it.
const END: u8 = 0;

/// What a file of ours is known by, wherever it lies, until somebody writes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(Vec<u8>);

/// One thing that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// What was there, out of the user's folder.
    Away { from: PathBuf, to: PathBuf },
    /// What is new, into it.
    Placed { from: PathBuf, to: PathBuf, mark: Mark },
    /// A folder of the user's.
    Made(PathBuf),
}

/// What is put on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// Where old and new files lie, which is made next.
    Begun(PathBuf),
    /// What is done next.
    Move(Move),
    /// All of it is done.
    Done(Vec<u8>),
    /// All of it was taken back, or it is known elsewhere that it was done.
    Settled,
}

impl Record {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let parts: &[&[u8]] = match self {
            Self::Begun(scratch) => &[b"begun", scratch.as_os_str().as_bytes()],
            Self::Move(Move::Away { from, to }) => {
                &[b"away", from.as_os_str().as_bytes(), to.as_os_str().as_bytes()]
            }
            Self::Move(Move::Placed { from, to, mark }) => {
                &[b"placed", from.as_os_str().as_bytes(), to.as_os_str().as_bytes(), &mark.0]
            }
            Self::Move(Move::Made(folder)) => &[b"made", folder.as_os_str().as_bytes()],
            Self::Done(outcome) => &[b"done", outcome],
            Self::Settled => &[b"settled"],
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
            b"away" => Record::Move(Move::Away { from: path(part()?), to: path(part()?) }),
            b"placed" => {
                let (from, to) = (path(part()?), path(part()?));
                Record::Move(Move::Placed { from, to, mark: Mark(part()?.to_vec()) })
            }
            b"made" => Record::Move(Move::Made(path(part()?))),
            b"done" => Record::Done(part()?.to_vec()),
            b"settled" => Record::Settled,
            _ => return None,
        })
    };
    std::iter::from_fn(next).collect()
}

impl Mark {
    /// The mark of a file; that it was moved does not change it.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        let (seconds, nanos) = (found.mtime(), found.mtime_nsec());
        let text = format!("{}:{}:{seconds}.{nanos:09}", found.ino(), found.len());
        Ok(Self(text.into_bytes()))
    }
}

/// Moves something to where nothing is.
pub(super) fn place(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system does not know how to look and move in one step.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            if fs::symlink_metadata(to).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(from, to)
        }
        done => Ok(done?),
    }
}

impl Move {
    /// Takes it back, if it was done at all; answers with what is in the way. `theirs` are
    /// files that somebody has put back already.
    pub(super) fn take_back(&self, theirs: &BTreeSet<PathBuf>) -> Option<PathBuf> {
        match self {
            Self::Made(folder) => {
                // It may hold something of somebody's, and then it stays.
                drop(fs::remove_dir(folder));
                None
            }
            Self::Away { from, to } => {
                fs::symlink_metadata(to).ok()?;
                place(to, from).err().map(|_| from.clone())
            }
            Self::Placed { from, to, mark } => {
                let is_placed = fs::symlink_metadata(from).is_err();
                if !is_placed || theirs.contains(to) {
                    return None;
                }
                match Mark::of(to) {
                    Ok(found) if found == *mark => place(to, from).err().map(|_| to.clone()),
                    // Somebody has written to it since, and that is work.
                    Ok(_) => Some(to.clone()),
                    Err(_) => None,
                }
            }
        }
    }
}
