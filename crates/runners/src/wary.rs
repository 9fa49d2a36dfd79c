//! Opening files that a child may have put there.
//!
//! It could have put anything: a link that leads elsewhere, a pipe that nobody ever writes
//! to. Only files are opened, and nothing is waited for.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file to read it. The way to it may have links, its last step not.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(ErrorKind::InvalidInput.into()),
    }
}
