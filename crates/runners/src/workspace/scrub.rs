//! Making a used checkout clean: whatever is not exactly as git wrote it goes.
//!
//! A file stays only if nothing about it has changed since, down to its inode and
//! the time of its last change, which nobody can set back, and if it has no second
//! name through which somebody could still reach it. Ignored files, repositories
//! inside, pipes and empty folders go with the rest. No link is followed.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{listxattr, removexattr};

use super::folders::{Moment, gone};
use super::index::{Listing, Verdict};
use super::walk::below;

/// What the names of a folder's attributes may take.
const ATTRIBUTE_BYTES: usize = 16 * 1024;
/// Folders that are many enough to be cleaned by more than one.
const MANY: usize = 64;
/// How many clean at once; more would take from those who work meanwhile.
const LANES: usize = 2;
/// The permissions of a folder that we made.
const FOLDER_MODE: u32 = 0o755;

/// Deletes everything in a folder that is not as the index says; answers with what is
/// missing now.
pub(super) fn scrub(top: &Path, index: &Listing, settled: Moment) -> io::Result<Vec<Vec<u8>>> {
    let kept = (0..index.len()).map(|_| AtomicBool::new(false)).collect();
    let broom = Broom { top, index, settled, kept };
    // One level of folders after the other, each by a few at once if there are many.
    let mut level = vec![Vec::new()];
    while !level.is_empty() {
        let size = if level.len() < MANY { level.len() } else { level.len().div_ceil(LANES) };
        let mut next = Vec::new();
        thread::scope(|scope| {
            let (own, others) = level.split_at(size);
            let others: Vec<_> =
                others.chunks(size).map(|part| scope.spawn(|| broom.sweep(part))).collect();
            next.extend(broom.sweep(own)?);
            for other in others {
                next.extend(other.join().map_err(|_| io::Error::other("a thread ended"))??);
            }
            Ok::<(), io::Error>(())
        })?;
        level = next;
    }
    let missing = (0..).zip(&broom.kept).filter(|(_, kept)| !kept.load(Ordering::Relaxed));
    let missing = missing.filter_map(|(number, _)| index.meant(number));
    Ok(missing.map(<[u8]>::to_vec).collect())
}

/// Whether these files are as an index says, with nothing else looked at.
pub(super) fn are_there(
    top: &Path,
    paths: &[Vec<u8>],
    (index, settled): (&Listing, Moment),
) -> bool {
    paths.iter().all(|path| {
        let number = index.find(path, 0..index.len());
        let found = fs::symlink_metadata(below(top, path)).ok();
        number.zip(found).is_some_and(|(number, found)| stays(index, number, &found, settled))
    })
}

/// What is cleaned by what.
#[derive(Debug)]
struct Broom<'a> {
    top: &'a Path,
    index: &'a Listing,
    settled: Moment,
    /// Which files are as they should be.
    kept: Vec<AtomicBool>,
}

impl Broom<'_> {
    /// Cleans folders; answers with the folders in them.
    fn sweep(&self, folders: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        let mut next = Vec::new();
        for folder in folders {
            self.folder(folder, &mut next)?;
        }
        Ok(next)
    }

    fn folder(&self, folder: &[u8], next: &mut Vec<Vec<u8>>) -> io::Result<()> {
        let at = below(self.top, folder);
        reset(&at, self.settled)?;
        let mut path = folder.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        let above = path.len();
        let files = self.index.beginning(&path, 0..self.index.len());
        for entry in fs::read_dir(at)? {
            let entry = entry?;
            path.truncate(above);
            path.extend_from_slice(entry.file_name().as_bytes());
            // Asked of the open folder, which is a good deal faster than by the whole path.
            let found = entry.metadata()?;
            let number = self.index.find(&path, files.clone());
            if found.is_dir() && self.is_meant(&mut path, (number, files.clone())) {
                next.push(path.clone());
                continue;
            }
            match number.filter(|number| stays(self.index, *number, &found, self.settled)) {
                Some(number) => {
                    if let Some(kept) = self.kept.get(number) {
                        kept.store(true, Ordering::Relaxed);
                    }
                }
                None => gone(&entry.path())?,
            }
        }
        Ok(())
    }

    /// Whether a checkout has this folder: with files in it, or as a submodule's place.
    fn is_meant(&self, path: &mut Vec<u8>, (number, files): (Option<usize>, Range<usize>)) -> bool {
        let is_link = |number: usize| {
            let alone = number..number.saturating_add(1);
            self.index.are_meant(alone) && self.index.is_link_to_repository(number)
        };
        if number.is_some_and(is_link) {
            return true;
        }
        path.push(b'/');
        let below = self.index.beginning(path, files);
        path.pop();
        self.index.are_meant(below)
    }
}

/// Whether a file is as it was, and nobody has a second name for it.
fn stays(index: &Listing, number: usize, found: &Metadata, settled: Moment) -> bool {
    let plain = (found.is_file() || found.is_symlink()) && found.nlink() == 1;
    plain && index.verdict(number, found, settled) == Verdict::Same
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
