//! The engine's own files: the lock, the secret, the socket.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use legation_runners::depths::remove;
use legation_runners::supervise::become_subreaper;

use super::ServeError;
use crate::client::{Paths, lock_text};
use crate::token::Secret;

/// For `map_err`: what was being done with which file.
pub(super) fn files(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> ServeError + use<> {
    let path = path.to_owned();
    move |source| ServeError::Files { doing, path, source }
}

/// Takes the project. The lock goes with the process, however that ends.
pub(super) fn lock(paths: &Paths) -> Result<File, ServeError> {
    let path = &paths.lock;
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let mut file = open.map_err(files("open", path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(ServeError::Owned(path.clone())),
        Err(TryLockError::Error(source)) => return Err(files("lock", path)(source)),
    }
    let text = lock_text(std::process::id(), &paths.socket);
    let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
    written.map_err(files("write", path))?;
    // In its place, since attempts that run can read that very file and no other. It is never
    // removed: who reads it when nobody listens learns that by calling.
    let listens = paths.listens();
    fs::write(&listens, text).map_err(files("write", &listens))?;
    Ok(file)
}

/// Whether the lock file in its place is still the one we hold.
pub(super) fn is_ours(paths: &Paths, lock: &File) -> bool {
    let there = fs::metadata(&paths.lock).map(|facts| (facts.dev(), facts.ino()));
    let held = lock.metadata().map(|facts| (facts.dev(), facts.ino()));
    matches!((there, held), (Ok(there), Ok(held)) if there == held)
}

/// Becomes a process of its own, to which what keepers leave comes back.
pub(super) fn settle_in(paths: &Paths) -> Result<(), ServeError> {
    // It fails for whoever leads a session already, which is what was wanted.
    let _ = rustix::process::setsid();
    become_subreaper().map_err(files("look after the processes of", &paths.state))
}

/// The secret that seals tokens; made once for a project.
pub(super) fn secret(paths: &Paths) -> Result<Secret, ServeError> {
    let path = paths.state.join("secret");
    if let Ok(text) = fs::read_to_string(&path)
        && text.len() >= 64
    {
        return Ok(Secret::new(text));
    }
    let mut bytes = [0_u8; 32];
    let random = Path::new("/dev/urandom");
    let read = File::open(random).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(files("read", random))?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(files("write", &path))?;
    Ok(Secret::new(text))
}

/// Listens. Whoever holds the lock may clear away what another has left.
pub(super) fn listen(paths: &Paths) -> Result<UnixListener, ServeError> {
    let path = &paths.socket;
    match fs::remove_file(path) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => {
            return Err(files("remove", path)(problem));
        }
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(files("listen on", path))?;
    let private = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    private.map_err(files("protect", path))?;
    Ok(listener)
}

/// Clears away what nobody needs when the engine is gone.
pub(super) fn leave(paths: &Paths, lock: File) {
    // The socket goes before the lock, so that it is never another engine's.
    let _ = fs::remove_file(&paths.socket);
    drop(lock);
}

/// Removes from a folder what was written so long ago that its history is forgotten, too.
pub(super) fn clear_old(folder: &Path, age: Duration) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let written = entry.metadata().and_then(|facts| facts.modified());
        let old = written.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > age));
        if old {
            // What cannot be removed now is tried again by the next start.
            let _ = remove(&entry.path());
        }
    }
}
