//! Going through folders however deep they are: from one open folder to the next, since the
//! system takes paths only up to a length. No link is followed, and few folders are open at once.

use std::ffi::{CStr, CString};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, Stat, fstat, open, openat, statat, unlinkat,
};
use rustix::io::Errno;

/// Folders that are open at once; one further up is found again from below.
const MAX_OPEN: usize = 32;
/// Bytes of entries that are read in one go.
const LISTED_BYTES: usize = 32 * 1024;

/// Something in an open folder.
pub(crate) struct Met<'a> {
    /// The folder.
    folder: &'a OwnedFd,
    /// What it is called there.
    name: &'a CStr,
    kind: FileType,
}

impl Met<'_> {
    /// What is known of it; a link is not followed.
    pub(crate) fn look(&self) -> Result<Stat, Errno> {
        statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Whether it is something that work can consist of.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, FileType::RegularFile | FileType::Symlink)
    }
}

/// Whoever goes through folders, and what it wants there.
pub(crate) trait Visitor {
    /// Something was met. Whether to go into it, if it is a folder.
    fn meet(&mut self, met: &Met<'_>) -> bool;

    /// A folder was gone through.
    fn leave(&mut self, _met: &Met<'_>) {}

    /// Something could not be opened or read; it is passed over.
    fn fail(&mut self, _error: Errno) {}

    /// Opens a folder up that its owner has closed to itself; whether that was done.
    fn unlock(&mut self, _folder: &OwnedFd) -> bool {
        false
    }

    /// Whether it wants to know no more.
    fn is_done(&self) -> bool {
        false
    }
}

/// A folder on the way down.
struct Level {
    name: CString,
    /// Its handle, or what tells that it is found again.
    at: At,
    /// Folders in it that were not gone through yet.
    left: Vec<CString>,
}

enum At {
    Open(OwnedFd),
    Known { device: u64, inode: u64 },
}

/// Goes through all that is below a folder.
pub(crate) fn go_through(top: &Path, visitor: &mut impl Visitor) {
    // What is above is not asked, so it may have links as anywhere.
    let opened = unlocked(|flags| open(top, flags, Mode::empty()), visitor);
    match opened {
        Ok(folder) => go_down(folder, visitor),
        Err(error) => visitor.fail(error),
    }
}

/// The same from a folder that is open.
pub(crate) fn go_down(top: OwnedFd, visitor: &mut impl Visitor) {
    let mut buffer = Vec::with_capacity(LISTED_BYTES);
    let mut left = listed(&top, &mut buffer, visitor);
    let (mut here, mut name) = (top, CString::default());
    let mut above: Vec<Level> = Vec::new();
    while !visitor.is_done() {
        if let Some(next) = left.pop() {
            let opened = unlocked(|flags| openat(&here, &next, flags, Mode::empty()), visitor);
            let below = match opened {
                Ok(below) => below,
                Err(error) => {
                    visitor.fail(error);
                    continue;
                }
            };
            let inside = listed(&below, &mut buffer, visitor);
            let at = At::Open(std::mem::replace(&mut here, below));
            let level = Level { name: std::mem::replace(&mut name, next), at, left };
            left = inside;
            above.push(level);
            if let Err(error) = let_go(&mut above) {
                return visitor.fail(error);
            }
            continue;
        }
        let Some(level) = above.pop() else { return };
        let folder = match level.at {
            At::Open(folder) => folder,
            At::Known { device, inode } => match found_again((&here, device, inode), visitor) {
                Ok(folder) => folder,
                Err(error) => return visitor.fail(error),
            },
        };
        visitor.leave(&Met { folder: &folder, name: &name, kind: FileType::Directory });
        (here, name, left) = (folder, level.name, level.left);
    }
}

/// Closes the folder that is too far above, and keeps in mind which it is. As long as one below
/// it is open, its number is nobody else's.
fn let_go(above: &mut [Level]) -> Result<(), Errno> {
    let Some(far) = above.len().checked_sub(MAX_OPEN) else { return Ok(()) };
    let Some(level) = above.get_mut(far) else { return Ok(()) };
    if let At::Open(folder) = &level.at {
        let found = fstat(folder)?;
        level.at = At::Known { device: found.st_dev, inode: found.st_ino };
    }
    Ok(())
}

/// The folder above one, if it is the one that was left for it.
fn found_again(
    (here, device, inode): (&OwnedFd, u64, u64),
    visitor: &mut impl Visitor,
) -> Result<OwnedFd, Errno> {
    let up = || openat(here, c"..", READING, Mode::empty());
    let folder = match up() {
        Err(Errno::ACCESS) if visitor.unlock(here) => up()?,
        other => other?,
    };
    let found = fstat(&folder)?;
    // Somebody has moved it elsewhere, and what is above it now is not ours to go through.
    let is_same = found.st_dev == device && found.st_ino == inode;
    if is_same { Ok(folder) } else { Err(Errno::STALE) }
}

const READING: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a folder; one that is closed is opened up first, if that is wanted.
fn unlocked(
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
    visitor: &mut impl Visitor,
) -> Result<OwnedFd, Errno> {
    match open(READING) {
        Err(Errno::ACCESS) => {
            let as_place = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let is_open = visitor.unlock(&open(as_place)?);
            if is_open { open(READING) } else { Err(Errno::ACCESS) }
        }
        other => other,
    }
}

/// Tells of everything in a folder; the folders that are to be gone into.
fn listed(folder: &OwnedFd, buffer: &mut Vec<u8>, visitor: &mut impl Visitor) -> Vec<CString> {
    let mut left = Vec::new();
    let mut entries = RawDir::new(folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                visitor.fail(error);
                break;
            }
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let mut met = Met { folder, name, kind: entry.file_type() };
        if met.kind == FileType::Unknown {
            // Some file systems do not tell it here.
            let Ok(found) = met.look() else { continue };
            met.kind = FileType::from_raw_mode(found.st_mode);
        }
        if visitor.meet(&met) && met.is_folder() {
            left.push(name.to_owned());
        }
        if visitor.is_done() {
            break;
        }
    }
    left
}

/// Deletes a folder with all that is in it, or whatever else is there, however deep it goes and
/// whatever its owner has closed. What is gone already is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) => {
            let is_gone = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
            return if is_gone { Ok(()) } else { Err(error) };
        }
    };
    if !found.is_dir() {
        return fs::remove_file(path);
    }
    let mut removal = Removal { device: found.dev(), failed: None };
    go_through(path, &mut removal);
    match (fs::remove_dir(path), removal.failed) {
        (Ok(()), _) => Ok(()),
        (Err(error), None) if error.kind() == ErrorKind::NotFound => Ok(()),
        (Err(error), None) => Err(error),
        (Err(_), Some(error)) => Err(error.into()),
    }
}

/// Deletes what is met, and nothing of what is mounted there.
struct Removal {
    device: u64,
    /// The first thing that could not be done.
    failed: Option<Errno>,
}

impl Removal {
    fn unlink(&mut self, met: &Met<'_>, flags: AtFlags) {
        let unlink = || unlinkat(met.folder, met.name, flags);
        let done = match unlink() {
            Err(Errno::ACCESS) if self.unlock(met.folder) => unlink(),
            other => other,
        };
        match done {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => self.fail(error),
        }
    }
}

impl Visitor for Removal {
    fn meet(&mut self, met: &Met<'_>) -> bool {
        if !met.is_folder() {
            self.unlink(met, AtFlags::empty());
            return false;
        }
        let is_ours = met.look().is_ok_and(|found| found.st_dev == self.device);
        if !is_ours {
            self.fail(Errno::XDEV);
        }
        is_ours
    }

    fn leave(&mut self, met: &Met<'_>) {
        self.unlink(met, AtFlags::REMOVEDIR);
    }

    fn fail(&mut self, error: Errno) {
        if error != Errno::NOENT {
            self.failed.get_or_insert(error);
        }
    }

    fn unlock(&mut self, folder: &OwnedFd) -> bool {
        fs::set_permissions(path_of(folder), Permissions::from_mode(0o700)).is_ok()
    }
}

/// A path of an open folder, as short as can be.
pub(crate) fn path_of(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}
