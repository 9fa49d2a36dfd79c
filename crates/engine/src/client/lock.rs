//! Who holds the lock of a project: its engine, if there is one. And who has said that the
//! engine is wanted all the time.
//!
//! Whoever only looks never takes the lock from somebody who needs it: it is tried
//! only where the process that wrote its name into the file is still there.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _};
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

/// Where the engine of a project listens that may listen elsewhere than where we look.
pub(super) fn elsewhere(paths: &Paths) -> Option<PathBuf> {
    let is_closed = |problem: &io::Error| problem.kind() == ErrorKind::PermissionDenied;
    if !File::open(&paths.lock).as_ref().is_err_and(is_closed) {
        return holder(paths)?.socket;
    }
    // An attempt has no business with the lock. Whether somebody listens it learns by calling.
    let mut text = String::new();
    File::open(paths.listens()).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    text.lines().nth(1).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The engine that holds the lock of a project.
pub fn holder(paths: &Paths) -> Option<Holder> {
    let file = File::open(&paths.lock).ok()?;
    let mut text = String::new();
    (&file).take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let mut lines = text.lines();
    let pid: u32 = lines.next()?.trim().parse().ok()?;
    let socket = lines.next().map(PathBuf::from).filter(|path| path.is_absolute());
    if !is_running(pid) {
        return None;
    }
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(Holder { pid, socket }),
        // Nobody holds it; closing the file gives it back.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// Whether a process is there and has not ended. One that has ended and that nobody has
/// asked about yet has no command line: the lock may be another's by now, who has not
/// written its name.
fn is_running(pid: u32) -> bool {
    let line = Path::new("/proc").join(pid.to_string()).join("cmdline");
    std::fs::read(line).is_ok_and(|line| !line.is_empty())
}

/// The process of a project's engine, if it has one.
pub fn engine_pid(paths: &Paths) -> Option<u32> {
    holder(paths).map(|holder| holder.pid)
}

/// Says that the engine of a project is kept running on purpose, until what is returned
/// is dropped or this process ends in any other way. Several may say so.
pub fn attend(paths: &Paths) -> io::Result<File> {
    let path = paths.attended();
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock_shared()?;
    Ok(file)
}

/// Whether somebody keeps the engine of a project running on purpose.
pub fn is_attended(paths: &Paths) -> bool {
    let file = File::open(paths.attended());
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
