//! Who may rearrange the state folder: many may work in it, one alone may clear up.
//!
//! There are four locks. One is held for as long as somebody has the workspaces open, and who
//! finds that nobody else has may take up what earlier processes left. The other is held
//! while a workspace is made of something that goes when nobody uses it. The third is for whoever
//! changes the user's own files, the fourth for who moves names; all projects in a repository
//! share these two. The kernel holds them for us, so that none outlives its process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::Error;

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _file: File,
}

/// Somebody has the workspaces open, until this is dropped.
#[derive(Debug)]
pub(super) struct Presence {
    file: File,
    /// Whether nobody else had them open, nor can have until [`Presence::share`].
    pub(super) is_alone: bool,
}

/// How long it takes until one looks again whether others have gone.
const PAUSE: Duration = Duration::from_millis(5);

impl Presence {
    /// Enters. To be alone is waited for so long; others who clear up are waited for anyway.
    pub(super) fn enter(state: &Path, patience: Duration) -> Result<Self, Error> {
        let file = file(state, "present")?;
        let since = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, is_alone: true }),
                Err(TryLockError::WouldBlock) if since.elapsed() < patience => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => {
                    return Err(Error::files("locking", state)(error));
                }
            }
        }
        file.lock_shared().map_err(Error::files("locking", state))?;
        Ok(Self { file, is_alone: false })
    }

    /// Lets others in.
    pub(super) fn share(&mut self, state: &Path) -> Result<(), Error> {
        self.is_alone = false;
        self.file.lock_shared().map_err(Error::files("locking", state))
    }
}

fn file(state: &Path, name: &str) -> Result<File, Error> {
    let path = state.join(name);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    file.map_err(Error::files("opening", &path))
}

/// Changes the user's own files, one after the other.
pub(super) fn applying(folder: &Path) -> Result<Turn, Error> {
    one_by_one(folder, "apply")
}

/// Moves names of a repository, one after the other.
pub(super) fn naming(folder: &Path) -> Result<Turn, Error> {
    one_by_one(folder, "names")
}

fn one_by_one(folder: &Path, name: &str) -> Result<Turn, Error> {
    fs::create_dir_all(folder).map_err(Error::files("making", folder))?;
    let file = file(folder, name)?;
    file.lock().map_err(Error::files("locking", folder))?;
    Ok(Turn { _file: file })
}

/// Works in the folder, together with others who do.
pub(super) fn together(state: &Path) -> Result<Turn, Error> {
    let file = file(state, "lock")?;
    file.lock_shared().map_err(Error::files("locking", state))?;
    Ok(Turn { _file: file })
}

/// Has the folder for itself, as soon as everybody else is done.
pub(super) fn alone(state: &Path) -> Result<Turn, Error> {
    let file = file(state, "lock")?;
    file.lock().map_err(Error::files("locking", state))?;
    Ok(Turn { _file: file })
}

/// Has the folder for itself; `None` if somebody works in it right now.
pub(super) fn alone_now(state: &Path) -> Result<Option<Turn>, Error> {
    let file = file(state, "lock")?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Turn { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::files("locking", state)(error)),
    }
}
