//! Our own small records on disk: whole or not there at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Error;

/// How what is not yet whole ends.
pub(super) const DRAFT: &str = "new";

/// Tells apart what two threads write at the same time.
static FRESH: AtomicU64 = AtomicU64::new(0);

/// When this process first needed a name: another may have had its number.
static SINCE: LazyLock<u128> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_micros())
});

/// A name that no other process or thread uses, at the same time or before.
pub(super) fn fresh() -> String {
    let number = FRESH.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:x}-{number}", std::process::id(), *SINCE)
}

/// Writes a record in one step; its folder is made if need be.
pub(super) fn write(path: &Path, record: &impl Serialize) -> Result<(), Error> {
    let bytes = serde_json::to_vec(record)
        .map_err(|error| Error::Record { path: path.to_owned(), message: error.to_string() })?;
    write_bytes(path, &bytes)
}

/// Writes a record so that it is there after a power cut, too.
pub(super) fn write_firmly(path: &Path, record: &impl Serialize) -> Result<(), Error> {
    write(path, record)?;
    let flush = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    let folder = path.parent().map_or(Ok(()), flush);
    flush(path).and(folder).map_err(Error::files("writing", path))
}

/// Writes a file in one step; its folder is made if need be.
pub(super) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::files("making", folder))?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{DRAFT}", fresh()));
    let fresh = path.with_file_name(name);
    let mut file = File::create(&fresh).map_err(Error::files("writing", &fresh))?;
    file.write_all(bytes).map_err(Error::files("writing", &fresh))?;
    fs::rename(&fresh, path).map_err(Error::files("writing", path))
}

/// Reads a record; `None` if there is none.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::files("reading", path)(error)),
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::Record { path: path.to_owned(), message: error.to_string() })
}
