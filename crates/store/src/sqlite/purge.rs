//! Forgetting trees. A forgotten tree is gone from every query at once, and leaves
//! the file in steps that are too small to keep anybody waiting.

use rusqlite::{Connection, OptionalExtension};

use super::file;
use super::writer::Failure;
use crate::error::Error;

/// How many trees are hidden in one step.
const TREES: i64 = 64;
/// How many appends are removed in one step.
const APPENDS: usize = 500;

/// Hides a tree that has ended.
pub(super) fn forget(connection: &Connection, tree: &str) -> Result<bool, Failure> {
    file::all(connection)?;
    let ask = |question: &str| {
        let no = connection.prepare_cached(question)?.query_row([tree], |row| row.get(0));
        no.optional()
    };
    let filed: Option<i64> = ask("SELECT no FROM trees WHERE id = ?1")?;
    if let Some(no) = filed {
        hide(connection, no)?;
        return Ok(true);
    }
    let open: Option<i64> = ask("SELECT no FROM fresh_trees WHERE id = ?1")?;
    match open {
        Some(_) => Err(Failure::Refused(Error::still_open(tree))),
        None => Ok(false),
    }
}

/// Hides some of the trees that ended before a time.
pub(super) fn forget_before(connection: &Connection, time: i64) -> Result<u64, Failure> {
    file::all(connection)?;
    let old = "SELECT no FROM trees WHERE ended_at < ?1 LIMIT ?2";
    let mut old = connection.prepare_cached(old)?;
    let trees: Vec<i64> =
        old.query_map([time, TREES], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut count = 0;
    for no in trees {
        hide(connection, no)?;
        count += 1;
    }
    Ok(count)
}

/// Removes some events of a hidden tree, and the tree with the last of them.
pub(super) fn sweep(connection: &Connection) -> Result<bool, Failure> {
    let hidden = "SELECT no FROM forgotten_trees LIMIT 1";
    let hidden = connection.prepare_cached(hidden)?.query_row([], |row| row.get(0)).optional()?;
    let hidden: Option<i64> = hidden;
    let Some(no) = hidden else { return Ok(false) };
    let place = "UPDATE last_place SET position = \
        max(position, (SELECT coalesce(max(position), 0) FROM events))";
    connection.prepare_cached(place)?.execute([])?;
    let limit = i64::try_from(APPENDS).unwrap_or(i64::MAX);
    // What is hidden was filed before, so all its rows are known there.
    let some = "DELETE FROM events WHERE position IN \
        (SELECT position FROM places WHERE tree = ?1 ORDER BY seq LIMIT ?2)";
    let removed = connection.prepare_cached(some)?.execute([no, limit])?;
    let some = "DELETE FROM places WHERE tree = ?1 AND seq IN \
        (SELECT seq FROM places WHERE tree = ?1 ORDER BY seq LIMIT ?2)";
    connection.prepare_cached(some)?.execute([no, limit])?;
    if removed < APPENDS {
        connection.prepare_cached("DELETE FROM forgotten_trees WHERE no = ?1")?.execute([no])?;
    }
    Ok(true)
}

fn hide(connection: &Connection, no: i64) -> Result<(), Failure> {
    let rows = [
        "DELETE FROM delegations WHERE tree = ?1",
        "DELETE FROM fresh WHERE tree = ?1",
        "DELETE FROM keys WHERE tree = ?1",
        "DELETE FROM trees WHERE no = ?1",
        "INSERT INTO forgotten_trees VALUES (?1)",
    ];
    for row in rows {
        connection.prepare_cached(row)?.execute([no])?;
    }
    Ok(())
}
