//! Making a used checkout clean: whatever is not exactly as git wrote it goes.
//!
//! A file stays only if nothing about it has changed since, down to its inode and
//! the time of its last change, which nobody can set back, and if it has no second
//! name through which somebody could still reach it. Ignored files, repositories
//! inside, pipes and empty folders go with the rest. No link is followed.

use std::collections::HashSet;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{listxattr, removexattr};

use super::folders::{Moment, gone};
use super::index::{Index, Verdict};
use super::walk::below;

/// What the names of a folder's attributes may take.
const ATTRIBUTE_BYTES: usize = 16 * 1024;
/// The permissions of a folder that we made.
const FOLDER_MODE: u32 = 0o755;

/// Deletes everything in a folder that is not as the index says; answers with what is
/// missing now.
pub(super) fn scrub(top: &Path, index: &Index, settled: Moment) -> io::Result<Vec<Vec<u8>>> {
    let wanted = folders(index);
    let mut kept: HashSet<Vec<u8>> = HashSet::new();
    let mut todo = vec![Vec::new()];
    while let Some(folder) = todo.pop() {
        reset(&below(top, &folder), settled)?;
        for entry in fs::read_dir(below(top, &folder))? {
            let entry = entry?;
            let mut path = folder.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(entry.file_name().as_bytes());
            let found = fs::symlink_metadata(entry.path())?;
            if found.is_dir() && wanted.contains(&path) {
                todo.push(path);
            } else if stays(index, &path, &found, settled) {
                kept.insert(path);
            } else {
                gone(&entry.path())?;
            }
        }
    }
    let there = |path: &Vec<u8>| kept.contains(path);
    let files = index.entries.iter().filter(|(_, entry)| !entry.left_out);
    let files = files.filter(|(_, entry)| !entry.is_link_to_repository());
    let mut missing: Vec<Vec<u8>> =
        files.map(|(path, _)| path.clone()).filter(|path| !there(path)).collect();
    missing.sort();
    Ok(missing)
}

/// The folders that a checkout has: those with files in them, and submodules' places.
fn folders(index: &Index) -> HashSet<Vec<u8>> {
    let mut folders = HashSet::new();
    for (path, entry) in index.entries.iter().filter(|(_, entry)| !entry.left_out) {
        if entry.is_link_to_repository() {
            folders.insert(path.clone());
        }
        let slashes = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
        for (at, _) in slashes {
            // Whatever lies above a folder that is known is known, too.
            if !path.get(..at).is_some_and(|folder| folders.insert(folder.to_vec())) {
                break;
            }
        }
    }
    folders
}

fn stays(index: &Index, path: &[u8], found: &Metadata, settled: Moment) -> bool {
    let plain = found.is_file() || found.is_symlink();
    let entry = index.entries.get(path).filter(|entry| !entry.left_out);
    plain
        && found.nlink() == 1
        && entry.is_some_and(|entry| entry.verdict(found, settled) == Verdict::Same)
}

/// Gives a folder back the permissions it had, and no attributes.
fn reset(folder: &Path, settled: Moment) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    if (found.ctime(), found.ctime_nsec()) < settled {
        return Ok(());
    }
    if found.mode() & 0o7777 != FOLDER_MODE {
        fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))?;
    }
    let mut names = vec![0_u8; ATTRIBUTE_BYTES];
    // A file system without attributes has none to remove.
    let Ok(length) = listxattr(folder, &mut names) else { return Ok(()) };
    let names = names.get(..length).unwrap_or_default().split(|byte| *byte == 0);
    for name in names.filter(|name| !name.is_empty() && !name.starts_with(b"security.")) {
        removexattr(folder, name)?;
    }
    Ok(())
}
