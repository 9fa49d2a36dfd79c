//! From what SQLite and the system say to what a person can act upon.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::Error;

/// What went wrong with the file at `path`.
pub(super) fn of(path: &Path, error: &rusqlite::Error) -> Error {
    let path = path.to_path_buf();
    let detail = error.to_string();
    if is_nonsense(error) {
        return Error::Corrupt { path, detail };
    }
    let Some(code) = error.sqlite_error_code() else { return Error::Io { path, detail } };
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest needs no words of its own")]
    match code {
        ErrorCode::DiskFull => Error::DiskFull { path },
        ErrorCode::ReadOnly => Error::ReadOnly { path },
        ErrorCode::PermissionDenied => Error::PermissionDenied { path },
        ErrorCode::DatabaseCorrupt => Error::Corrupt { path, detail },
        ErrorCode::NotADatabase => Error::NotAJournal { path },
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::Locked { path },
        ErrorCode::CannotOpen => of_opening(&path, detail),
        _ => Error::Io { path, detail },
    }
}

/// What the system said about the file at `path`.
pub(super) fn of_system(path: &Path, error: &io::Error) -> Error {
    let path = path.to_path_buf();
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list of the system has no end")]
    match error.kind() {
        io::ErrorKind::PermissionDenied => Error::PermissionDenied { path },
        io::ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { path },
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull { path },
        _ => Error::Io { path, detail: error.to_string() },
    }
}

/// SQLite does not say why a file could not be opened. Opening it once more to find
/// out is not possible: closing it again would drop the locks that other connections
/// of this process hold on it.
fn of_opening(path: &Path, detail: String) -> Error {
    let path = path.to_path_buf();
    match std::fs::metadata(&path) {
        Ok(found) if found.is_file() => Error::PermissionDenied { path },
        Ok(_) => Error::Io { path, detail },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Error::Missing { path },
        Err(error) => of_system(&path, &error),
    }
}

/// Whether a column holds what we never write.
fn is_nonsense(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType, Utf8Error};
    matches!(error, FromSqlConversionFailure(..) | InvalidColumnType(..) | Utf8Error(..))
}
