//! Opening the file: one connection that writes, others that read.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::{Durability, Options, fault, schema};
use crate::error::Error;

/// How many prepared statements a connection keeps; there are about thirty.
const STATEMENTS: usize = 64;
/// To what size that log is cut back.
const LOG_BYTES: i64 = 64 * 1024 * 1024;
/// How many KiB of pages the writer keeps in memory; negative means KiB to SQLite.
const WRITER_CACHE: i64 = -16 * 1024;

/// How soon what another program holds is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(2);

/// Opens the file to write, makes it if need be, and brings it up to date.
pub(super) fn writer(path: &Path, options: &Options) -> Result<Connection, Error> {
    make(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut connection = open(path, flags, options)?;
    let fault = |error: rusqlite::Error| fault::of(path, &error);
    // SQLite is content with reading where it may not write.
    if connection.is_readonly("main").map_err(fault)? {
        return Err(Error::ReadOnly { path: path.into() });
    }
    schema::version(&connection, path)?;
    let mode = write_ahead(&connection, path, options.busy_timeout)?;
    if mode != "wal" {
        let detail = format!("its folder cannot hold a write-ahead log (`{mode}` instead)");
        return Err(Error::Io { path: path.into(), detail });
    }
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
        Durability::Off => "OFF",
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(fault)?;
    connection.pragma_update(None, "temp_store", "memory").map_err(fault)?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE).map_err(fault)?;
    set(&connection, "journal_size_limit", LOG_BYTES).map_err(fault)?;
    schema::migrate(&mut connection, path)?;
    if let Some(pages) = options.max_pages {
        set(&connection, "max_page_count", i64::from(pages)).map_err(fault)?;
    }
    Ok(connection)
}

/// Changes to the write-ahead log. SQLite does not wait for others here, so we do.
fn write_ahead(connection: &Connection, path: &Path, patience: Duration) -> Result<String, Error> {
    let began = Instant::now();
    loop {
        let mode =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
        match mode.map_err(|error| fault::of(path, &error)) {
            Err(Error::Locked { .. }) if began.elapsed() < patience => {
                std::thread::sleep(TRY_AGAIN);
            }
            mode => return mode,
        }
    }
}

/// Opens the file to read. It must exist, in the version of this release.
pub(super) fn reader(path: &Path, options: &Options) -> Result<Connection, Error> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, options);
    match connection.and_then(|connection| current(connection, path)) {
        Err(error @ (Error::ReadOnly { .. } | Error::PermissionDenied { .. })) => {
            at_rest(path, options).unwrap_or(Err(error))
        }
        connection => connection,
    }
}

/// Readers and writers meet in a file beside the journal. Where we may not make one,
/// an archive for instance, the journal can be read as long as nobody writes: then
/// there is no log.
fn at_rest(path: &Path, options: &Options) -> Option<Result<Connection, Error>> {
    match std::fs::metadata(log_of(path)) {
        Ok(log) if log.len() > 0 => return None,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return None,
        Ok(_) | Err(_) => {}
    }
    let address = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let address = format!("file:{address}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = open(Path::new(&address), flags, options).ok()?;
    Some(current(connection, path))
}

/// Where SQLite keeps the log of a file.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Refuses a file that this release would first have to bring up to date.
fn current(connection: Connection, path: &Path) -> Result<Connection, Error> {
    let (found, known) = (schema::version(&connection, path)?, schema::known());
    if found < known {
        return Err(Error::OlderSchema { path: path.into(), found, known });
    }
    Ok(connection)
}

/// Looks through the whole file for damage.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), Error> {
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let detail = found.map_err(|error| fault::of(path, &error))?;
    match detail.as_str() {
        "ok" => Ok(()),
        _ => Err(Error::Corrupt { path: path.into(), detail }),
    }
}

fn open(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection, Error> {
    let fault = |error: rusqlite::Error| fault::of(path, &error);
    // Each connection is used by one thread at a time, so SQLite need not lock its own.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection.busy_timeout(options.busy_timeout).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Some settings answer with their new value, and some do not.
fn set(connection: &Connection, name: &str, value: i64) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, name, value, |_| Ok(()))
}

/// Makes an empty file that only this user can read: it will hold prompts and
/// answers. SQLite gives the files beside it the same mode.
fn make(path: &Path) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(fault::of_system(path, &error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}
