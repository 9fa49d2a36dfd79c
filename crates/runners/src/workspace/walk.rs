//! Every file below a folder, as it is now.
//!
//! Links are entries, never ways. Repositories inside are walked like any folder,
//! except for what is called `.git`: that is theirs, and git could not hold it. What is called by
//! a longer name than anything can be given is only told by the folder that it begins in.

use std::collections::HashSet;
use std::fs::{self, Metadata, Permissions, ReadDir};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;

use crate::depths::{Met, Visitor, go_down, path_of};
use crate::wary;

/// Bytes of a path from the top with which the system, and git, can name something.
const MAX_NAMED_BYTES: usize = 4095;
/// Bytes of a path that whatever is to be kept or copied may have: the folders that we put it
/// into have names, too.
pub(super) const MAX_PATH_BYTES: usize = 3 * 1024;
/// Entries that are looked at before a folder counts as endless.
const MAX_ENTRIES: usize = 2_000_000;

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    /// Relative to the top, with slashes.
    pub(super) path: Vec<u8>,
    pub(super) metadata: Metadata,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: Vec<Found>,
    /// Folders, the top not included.
    pub(super) folders: Vec<Vec<u8>>,
    /// What is neither: pipes, sockets, devices.
    pub(super) others: Vec<Found>,
    /// Files, and folders with files in them, that are too far below for any path.
    pub(super) beyond: Vec<Vec<u8>>,
    /// Whether something could not be read, or there was too much.
    pub(super) incomplete: bool,
}

impl Walked {
    /// What the files hold together.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.metadata.len()))
    }

    /// Leaves out what is called by too long a path to be put somewhere else.
    pub(super) fn without_long_paths(mut self) -> Self {
        self.files.retain(|file| file.path.len() <= MAX_PATH_BYTES);
        self.folders.retain(|folder| folder.len() <= MAX_PATH_BYTES);
        self
    }
}

/// What to do with folders that their owner closed to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locked {
    /// Open them: they are in a workspace, and it is about to be kept.
    Open,
    /// Leave them: they are the user's.
    Leave,
}

/// Walks a folder; `skip` are paths that are left out with all below them.
pub(super) fn walk(top: &Path, skip: &[PathBuf], locked: Locked) -> io::Result<Walked> {
    let mut walked = Walked::default();
    let skip: HashSet<&Path> = skip.iter().map(PathBuf::as_path).collect();
    let mut folders = vec![Vec::new()];
    let mut entries: usize = 0;
    while let Some(folder) = folders.pop() {
        let listed = match list((top, &folder), locked) {
            Ok(listed) => listed,
            Err(error) if folder.is_empty() => return Err(error),
            Err(_) => {
                walked.incomplete = true;
                continue;
            }
        };
        for entry in listed {
            entries = entries.saturating_add(1);
            if entries > MAX_ENTRIES {
                walked.incomplete = true;
                return Ok(walked);
            }
            let Ok(entry) = entry else {
                walked.incomplete = true;
                continue;
            };
            let name = entry.file_name();
            if name == ".git" || (!skip.is_empty() && skip.contains(&*entry.path())) {
                continue;
            }
            let Ok(metadata) = entry.metadata() else {
                walked.incomplete = true;
                continue;
            };
            let mut path = folder.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            if path.len() > MAX_NAMED_BYTES {
                if !metadata.is_dir() || has_files(top, &path, entries) {
                    walked.beyond.push(path);
                }
            } else if metadata.is_dir() {
                walked.folders.push(path.clone());
                folders.push(path);
            } else if metadata.is_file() || metadata.is_symlink() {
                walked.files.push(Found { path, metadata });
            } else {
                walked.others.push(Found { path, metadata });
            }
        }
    }
    Ok(walked)
}

/// Lists a folder, if need be one that its owner closed to itself.
fn list((top, folder): (&Path, &[u8]), locked: Locked) -> io::Result<ReadDir> {
    let at = below(top, folder);
    match fs::read_dir(&at) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && locked == Locked::Open => {
            let place = wary::place_below(top, &below(Path::new(""), folder))?;
            fs::set_permissions(path_of(&place), Permissions::from_mode(0o700))?;
            fs::read_dir(&at)
        }
        // From the top it can be named.
        Err(error) if error.kind() == ErrorKind::InvalidFilename => {
            let place = reach(top, folder)?;
            list((&path_of(&place), b""), locked)
        }
        other => other,
    }
}

/// A folder as a place, from the top on.
fn reach(top: &Path, folder: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(open(top, flags, Mode::empty())?, folder, flags, Mode::empty())
}

/// Whether there are files in a folder that has no path any more; what cannot be looked at, or
/// is too much, counts as such.
fn has_files(top: &Path, path: &[u8], entries: usize) -> bool {
    let mut search = Search { entries, found: false };
    let slash = path.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
    let (above, name) = path.split_at(slash);
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match reach(top, above).and_then(|above| openat(above, name, flags, Mode::empty())) {
        Ok(folder) => go_down(folder, &mut search),
        Err(_) => search.found = true,
    }
    search.found
}

/// Looks for files.
struct Search {
    entries: usize,
    found: bool,
}

impl Visitor for Search {
    fn meet(&mut self, met: &Met<'_>) -> bool {
        self.entries = self.entries.saturating_add(1);
        self.found |= met.is_file() || self.entries > MAX_ENTRIES;
        true
    }

    fn fail(&mut self, _: Errno) {
        self.found = true;
    }

    fn is_done(&self) -> bool {
        self.found
    }
}

/// A relative path of ours below a folder.
pub(super) fn below(top: &Path, path: &[u8]) -> PathBuf {
    top.join(Path::new(&std::ffi::OsString::from_vec(path.to_vec())))
}
