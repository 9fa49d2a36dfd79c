//! What of somebody's stands where a file is to be. Looks, and changes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::walk::below;

/// Names that are given at most; whoever clears these away is told about the rest.
const MAX_NAMED: usize = 100;

/// What is in the way of a file at a path and stays there: neither in `leaving`, nor a folder
/// without anything in it.
pub(super) fn obstacles(top: &Path, path: &[u8], leaving: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    for way in slashes.filter_map(|(at, _)| path.get(..at)) {
        match fs::symlink_metadata(below(top, way)) {
            Ok(found) if found.is_dir() => {}
            // With it goes all that is seen through it.
            Ok(_) if leaving.contains(way) => return Vec::new(),
            Ok(_) => return vec![way.to_vec()],
            Err(_) => return Vec::new(),
        }
    }
    let target = below(top, path);
    match fs::symlink_metadata(&target) {
        Ok(found) if found.is_dir() => staying(&target, path, leaving),
        Ok(_) if !leaving.contains(path) => vec![path.to_vec()],
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// What of a folder stays; `path` is where it belongs.
pub(super) fn staying(folder: &Path, path: &[u8], leaving: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), path.to_vec())];
    while let Some((folder, path)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            // Nobody knows what is in it.
            found.push(path);
            continue;
        };
        for entry in entries.flatten() {
            let name = [&path, b"/".as_slice(), entry.file_name().as_bytes()].concat();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            // Without the rest of it a repository is of no use to anybody.
            if is_folder && entry.file_name() != ".git" {
                folders.push((entry.path(), name));
            } else if !leaving.contains(&name) {
                found.push(name);
            }
        }
        if found.len() >= MAX_NAMED {
            break;
        }
    }
    found.truncate(MAX_NAMED);
    found
}
