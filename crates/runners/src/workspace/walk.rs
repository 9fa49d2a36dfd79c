//! Every file below a folder, as it is now.
//!
//! Links are entries, never ways. Repositories inside are walked like any folder,
//! except for what is called `.git`: that is theirs, and git could not hold it.

use std::fs::{self, Metadata, Permissions, ReadDir};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
    /// Whether something could not be read, or there was too much.
    pub(super) incomplete: bool,
}

impl Walked {
    /// What the files hold together.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.metadata.len()))
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
    let mut folders = vec![Vec::new()];
    let mut entries: usize = 0;
    while let Some(folder) = folders.pop() {
        let listed = match list(&below(top, &folder), locked) {
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
            if name == ".git" || skip.contains(&entry.path()) {
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
            if metadata.is_dir() {
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
fn list(folder: &Path, locked: Locked) -> io::Result<ReadDir> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && locked == Locked::Open => {
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
            fs::read_dir(folder)
        }
        other => other,
    }
}

/// A relative path of ours below a folder.
pub(super) fn below(top: &Path, path: &[u8]) -> PathBuf {
    top.join(Path::new(&std::ffi::OsString::from_vec(path.to_vec())))
}
