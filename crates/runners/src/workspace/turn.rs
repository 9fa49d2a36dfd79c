//! Who may rearrange the state folder: many may work in it, one alone may clear up.
//!
//! The kernel holds these locks for us, so that none outlives its process.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::Error;

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _file: File,
}

fn file(state: &Path) -> Result<File, Error> {
    let path = state.join("lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    file.map_err(Error::files("opening", &path))
}

/// Works in the folder, together with others who do.
pub(super) fn together(state: &Path) -> Result<Turn, Error> {
    let file = file(state)?;
    file.lock_shared().map_err(Error::files("locking", state))?;
    Ok(Turn { _file: file })
}

/// Has the folder for itself, as soon as everybody else is done.
pub(super) fn alone(state: &Path) -> Result<Turn, Error> {
    let file = file(state)?;
    file.lock().map_err(Error::files("locking", state))?;
    Ok(Turn { _file: file })
}

/// Has the folder for itself; `None` if somebody works in it right now.
pub(super) fn alone_now(state: &Path) -> Result<Option<Turn>, Error> {
    let file = file(state)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Turn { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::files("locking", state)(error)),
    }
}
