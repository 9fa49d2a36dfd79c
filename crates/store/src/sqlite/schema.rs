//! The form of the file, and how an older form becomes the newest.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::fault;
use crate::error::Error;

/// "Lgtn": tells our files from those of other programs that use SQLite.
pub(super) const APPLICATION_ID: i64 = 0x4c67_746e;

/// What brings a file from the version of its place to the next one.
const STEPS: &[&str] = &[include_str!("v1.sql")];

/// The version that this release writes.
pub(super) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Refuses the files of other programs and of newer releases, and says which version
/// this one has. A file without any table is version 0, whoever made it.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<i64, Error> {
    let ask = |question: &str| {
        let answer = connection.query_row(question, [], |row| row.get::<_, i64>(0));
        answer.map_err(|error| fault::of(path, &error))
    };
    // In this order: whoever has made the tables meanwhile has also signed the file.
    let is_empty = ask("SELECT count(*) FROM sqlite_schema")? == 0;
    let owner = ask("PRAGMA application_id")?;
    let found = ask("PRAGMA user_version")?;
    if owner != APPLICATION_ID && !is_empty {
        return Err(Error::NotAJournal { path: path.into() });
    }
    let known = known();
    if found > known {
        return Err(Error::NewerSchema { path: path.into(), found, known });
    }
    // A negative number is none of ours, and would be taken for a very old file.
    if found < 0 {
        return Err(Error::NotAJournal { path: path.into() });
    }
    Ok(if is_empty { 0 } else { found })
}

/// Brings the file to the newest version, one step and one transaction at a time.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    while let Some(step) = next_step(connection, path)? {
        apply(connection, path, step)?;
    }
    Ok(())
}

fn next_step(connection: &Connection, path: &Path) -> Result<Option<&'static str>, Error> {
    let version = usize::try_from(version(connection, path)?).unwrap_or(usize::MAX);
    Ok(STEPS.get(version).copied())
}

fn apply(connection: &mut Connection, path: &Path, step: &str) -> Result<(), Error> {
    let fault = |error: rusqlite::Error| fault::of(path, &error);
    let behaviour = TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(behaviour).map_err(fault)?;
    // Another process may have taken the same step while we waited for the lock.
    if next_step(&transaction, path)? != Some(step) {
        return Ok(());
    }
    let next = version(&transaction, path)? + 1;
    transaction.execute_batch(step).map_err(fault)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fault)?;
    transaction.pragma_update(None, "user_version", next).map_err(fault)?;
    transaction.commit().map_err(fault)
}
