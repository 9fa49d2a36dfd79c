//! Who holds the lock of a project: its engine, if there is one.
//!
//! Whoever only looks never takes the lock from somebody who needs it: it is tried
//! only where the process that wrote its name into the file is still there.

use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::paths::Paths;

/// Bytes of a lock file that are read.
const MAX_BYTES: u64 = 4096;

/// The engine that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Where it listens, if it said so. The environment of the engine may name other
    /// folders than ours.
    pub socket: Option<PathBuf>,
}

/// What an engine writes into its lock file: its process, and where it listens.
pub fn lock_text(pid: u32, socket: &Path) -> String {
    format!("{pid}\n{}\n", socket.display())
}

/// The engine that holds the lock of a project.
pub fn holder(paths: &Paths) -> Option<Holder> {
    let file = File::open(&paths.lock).ok()?;
    let mut text = String::new();
    (&file).take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let mut lines = text.lines();
    let pid: u32 = lines.next()?.trim().parse().ok()?;
    let socket = lines.next().map(PathBuf::from).filter(|path| path.is_absolute());
    if !Path::new("/proc").join(pid.to_string()).exists() {
        return None;
    }
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(Holder { pid, socket }),
        // Nobody holds it; closing the file gives it back.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// The process of a project's engine, if it has one.
pub fn engine_pid(paths: &Paths) -> Option<u32> {
    holder(paths).map(|holder| holder.pid)
}
