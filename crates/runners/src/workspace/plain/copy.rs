//! Copying folders: links as links, executable bits, within a limit.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{FileType, fstat, readlinkat};

use super::super::walk::{Locked, below, walk};
use super::super::{Error, consent};
use super::ignored::Ignored;
use super::{Plain, skipped};
use crate::depths::path_of;
use crate::wary;

impl Plain {
    /// Copies a folder, if it is not too large; `theirs` is a workspace, not the user's.
    pub(super) fn copy(
        &self,
        from: &Path,
        to: &Path,
        ignored: &Ignored,
        theirs: bool,
    ) -> Result<(), Error> {
        let locked = if theirs { Locked::Open } else { Locked::Leave };
        let mut skip = skipped(&self.folders.homes, from);
        skip.extend(ignored.folders.iter().cloned());
        let walked = walk(from, &skip, locked).map_err(Error::files("reading", from))?;
        let mut walked = walked.without_long_paths();
        walked.files.retain(|file| !ignored.files.contains(&file.path));
        let limit_bytes = consent::limit_bytes(&self.folders.state, self.copy_limit_bytes)?;
        if walked.bytes() > limit_bytes {
            return Err(Error::TooLarge { path: from.to_owned(), limit_bytes });
        }
        fs::create_dir_all(to).map_err(Error::files("making", to))?;
        for folder in &walked.folders {
            let folder = below(to, folder);
            fs::create_dir_all(&folder).map_err(Error::files("making", &folder))?;
        }
        for file in &walked.files {
            let to = below(to, &file.path);
            match theirs {
                true => put_below((from, &file.path), &to).map_err(Error::files("copying", &to))?,
                false => put(&below(from, &file.path), &to)?,
            }
        }
        Ok(())
    }
}

/// What a mode may say of a copy, of all that it can.
const ALLOWED: u32 = 0o777;
const ANY: u32 = 0o7777;

/// Copies one file or link over whatever is there; its folder is made if need be.
pub(in super::super) fn put(from: &Path, to: &Path) -> Result<(), Error> {
    put_here(from, to).map_err(Error::files("copying", from))
}

/// The same of a file in a folder in which somebody is at work, and may lay a link in the way.
fn put_below((top, path): (&Path, &[u8]), to: &Path) -> io::Result<()> {
    let path = below(Path::new(""), path);
    let place = wary::place_below(top, &path)?;
    clear(to)?;
    if FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Symlink {
        let leads_to = readlinkat(&place, c"", Vec::new())?;
        return symlink(OsStr::from_bytes(leads_to.to_bytes()), to);
    }
    let file = OwnedFd::from(wary::open_below(top, &path)?);
    copy_file(&path_of(&file), to)
}

/// Makes the folder above a place, and removes an empty one from it.
pub(super) fn make_way(to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::symlink_metadata(to) {
        Ok(there) if there.is_dir() => remove_empty(to),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn put_here(from: &Path, to: &Path) -> io::Result<()> {
    clear(to)?;
    if fs::symlink_metadata(from)?.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    copy_file(from, to)
}

/// Makes room for a file or link.
fn clear(to: &Path) -> io::Result<()> {
    make_way(to)?;
    match fs::symlink_metadata(to) {
        Ok(there) if there.is_symlink() || there.is_file() => fs::remove_file(to),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    // The system copies within itself here, and shares blocks where it can.
    fs::copy(from, to)?;
    let mode = fs::symlink_metadata(to)?.mode();
    if mode & ALLOWED == mode & ANY {
        return Ok(());
    }
    // Nobody gets the rights of whoever owns a copy.
    fs::set_permissions(to, Permissions::from_mode(mode & ALLOWED))
}

/// Removes a folder that has nothing in it but such folders.
fn remove_empty(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        next = next.saturating_add(1);
        for entry in fs::read_dir(&folder)? {
            folders.push(entry?.path());
        }
    }
    // Whatever is no empty folder refuses here.
    folders.iter().rev().try_for_each(fs::remove_dir)
}
