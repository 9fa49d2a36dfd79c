//! Opening and changing what a child may have put there, and may put something else instead of.
//!
//! It could have put anything: a link that leads elsewhere, a pipe that nobody ever writes
//! to. Only files are opened, and nothing is waited for.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, mkdirat, open as open_folder, openat, openat2, unlinkat,
};
use rustix::io::Errno;

/// The mode of a folder that is made on the way.
const FOLDER: u32 = 0o755;

/// Opens a file to read it. The way to it may have links, its last step not.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    checked(options.read(true).custom_flags(flags.bits().cast_signed()).open(path)?)
}

/// The same of a file below a folder, on the way to which there are no links.
pub fn open_below(folder: &Path, path: &Path) -> io::Result<File> {
    checked(reach(folder, path, OFlags::NONBLOCK)?.into())
}

/// Whatever is below a folder, as a place: it can be looked at and changed, and stays the same
/// whatever is put there instead. There are no links on the way.
pub fn place_below(folder: &Path, path: &Path) -> io::Result<OwnedFd> {
    reach(folder, path, OFlags::PATH)
}

/// Removes a file below a folder. There are no links on the way.
pub fn remove_below(folder: &Path, path: &Path) -> io::Result<()> {
    unlink_below(folder, path, AtFlags::empty())
}

/// The same of an empty folder.
pub fn remove_folder_below(folder: &Path, path: &Path) -> io::Result<()> {
    unlink_below(folder, path, AtFlags::REMOVEDIR)
}

fn unlink_below(folder: &Path, path: &Path, flags: AtFlags) -> io::Result<()> {
    let above = path.parent().unwrap_or_else(|| Path::new(""));
    let above = reach(folder, above, OFlags::PATH | OFlags::DIRECTORY)?;
    Ok(unlinkat(&above, path.file_name().unwrap_or_default(), flags)?)
}

/// The folder in which something below another one is, made if need be. No link is followed on
/// the way.
pub fn way_below(folder: &Path, path: &Path) -> io::Result<OwnedFd> {
    let step = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = open_folder(folder, step, Mode::empty())?;
    for name in path.parent().into_iter().flatten() {
        match mkdirat(&at, name, Mode::from_raw_mode(FOLDER)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        at = openat(&at, name, step, Mode::empty())?;
    }
    Ok(at)
}

/// Where the kernel cannot tell (before Linux 5.6), there may be links on the way.
fn reach(folder: &Path, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if path.as_os_str().is_empty() {
        return Ok(open_folder(folder, flags, Mode::empty())?);
    }
    let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let below = open_folder(folder, way, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&below, path, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS) => Ok(open_folder(folder.join(path), flags, Mode::empty())?),
        other => Ok(other?),
    }
}

fn checked(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(ErrorKind::InvalidInput.into()),
    }
}
