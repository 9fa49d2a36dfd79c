//! A mark that every process of an attempt is born with.
//!
//! It is an open descriptor of the attempt's folder. A program that clears its
//! environment, leaves its session and changes its folder still has it, unless it goes
//! and closes what it did not open. It lets nobody do what they could not do before: it is
//! opened where the program is, among the mounts that are read-only there, since a descriptor
//! leads to the mount that it was opened on and from there upwards; and only to stand for the
//! folder, not to list it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

/// The first number a mark may have: beyond what scripts use for themselves.
pub(crate) const FIRST: i32 = 64;

/// Sets the mark, as this thread sees the folder. Whatever is started from now on inherits it,
/// until it is dropped.
pub(super) fn set(dir: &Path) -> io::Result<OwnedFd> {
    let folder = openat(CWD, dir, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let mark = fcntl_dupfd_cloexec(folder, FIRST)?;
    fcntl_setfd(&mark, FdFlags::empty())?;
    Ok(mark)
}
