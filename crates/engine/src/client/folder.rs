//! Folders that only their owner may change.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

/// Bits of a mode by which others may write.
const OTHERS_WRITE: u32 = 0o022;

/// Whether this is a folder of the user's own that nobody else may write to.
pub(super) fn is_private(path: &Path, uid: u32) -> bool {
    check(path, uid).is_ok()
}

/// Makes the folder, for its owner alone; one that is there must be such a one.
pub(super) fn make_private(path: &Path, uid: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => check(path, uid),
        Err(error) => Err(error),
    }
}

/// A link is not followed: somebody else may have put it there.
fn check(path: &Path, uid: u32) -> io::Result<()> {
    let facts = fs::symlink_metadata(path)?;
    let denied = |reason: &str| Err(io::Error::new(ErrorKind::PermissionDenied, reason));
    if !facts.is_dir() {
        return denied("is not a folder");
    }
    if facts.uid() != uid {
        return denied("belongs to another user");
    }
    if facts.mode() & OTHERS_WRITE != 0 {
        return denied("can be written by others; take that right away with `chmod go-w`");
    }
    Ok(())
}
