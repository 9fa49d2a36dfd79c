//! Writing one append: the events, then the rows that follow from them.
//!
//! Everything that may be refused is looked at before anything is written, so that
//! what is refused has changed nothing.

use rusqlite::{Connection, OptionalExtension, params};

use super::packed;
use super::writer::Failure;
use crate::append::{Append, Appended, Row};
use crate::error::Error;
use crate::record::Delegation;

const FIND: &str = "SELECT no, \
    (SELECT seq FROM events WHERE tree = no ORDER BY seq DESC LIMIT 1) \
    FROM trees WHERE id = ?1";
const OPEN: &str = "INSERT INTO trees (id) VALUES (?1)";
const EVENTS: &str =
    "INSERT INTO events (position, tree, seq, lengths, texts) VALUES (?1, ?2, ?3, ?4, ?5)";
const END: &str = "UPDATE trees SET ended_at = ?2 WHERE no = ?1";
const OWNER: &str = "SELECT tree FROM delegations WHERE id = ?1";
// A delegation never moves to another tree: that was looked at before.
const DELEGATION: &str = "INSERT INTO delegations (id, tree, parent, task_id, title, pattern, \
    status, accepted_at, started_at, ended_at, tokens_used, cost_nanos) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
    ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, task_id = excluded.task_id, \
    title = excluded.title, pattern = excluded.pattern, status = excluded.status, \
    accepted_at = excluded.accepted_at, started_at = excluded.started_at, \
    ended_at = excluded.ended_at, tokens_used = excluded.tokens_used, \
    cost_nanos = excluded.cost_nanos";
const KEY: &str = "INSERT INTO keys (scope, key, tree, delegation) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT DO NOTHING";
const KEY_HOLDER: &str = "SELECT delegation FROM keys WHERE scope = ?1 AND key = ?2";

/// Writes everything after the given position, or refuses.
pub(super) fn append(
    connection: &Connection,
    append: &Append,
    last_position: i64,
) -> Result<Appended, Failure> {
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found = connection.prepare_cached(FIND)?.query_row([&append.tree], row).optional()?;
    let (found, last): (Option<i64>, Option<i64>) = found.unwrap_or_default();
    let last = last.unwrap_or(0);
    if i64::try_from(append.expected_seq) != Ok(last) {
        return Err(Failure::Refused(Error::Conflict {
            tree: append.tree.clone(),
            expected: append.expected_seq,
            actual: last.unsigned_abs(),
        }));
    }
    check(connection, found, append)?;
    let no = match found {
        Some(no) => no,
        None => connection.prepare_cached(OPEN)?.insert([&append.tree])?,
    };
    let count = i64::try_from(append.events.len()).unwrap_or(i64::MAX);
    let (seq, position) = (last + count, last_position + count);
    let (lengths, texts) = packed::pack(&append.events);
    connection.prepare_cached(EVENTS)?.execute(params![position, no, seq, lengths, texts])?;
    for row in &append.rows {
        write(connection, no, row)?;
    }
    Ok(Appended { seq: seq.unsigned_abs(), position: position.unsigned_abs() })
}

/// Refuses rows that do not fit what is there, or one another.
fn check(connection: &Connection, tree: Option<i64>, append: &Append) -> Result<(), Failure> {
    let mut keys: Vec<(&str, &str, &str)> = Vec::new();
    for row in &append.rows {
        match row {
            Row::Delegation(new) => {
                let mut owner = connection.prepare_cached(OWNER)?;
                let owner: Option<i64> = owner.query_row([&new.id], |row| row.get(0)).optional()?;
                if owner.is_some() && owner != tree {
                    return Err(Failure::Refused(new.of_another_tree(&append.tree)));
                }
            }
            Row::Key { scope, key, delegation } => {
                let mut holder = connection.prepare_cached(KEY_HOLDER)?;
                let holder = holder.query_row([scope, key], |row| row.get(0)).optional()?;
                let holder: Option<String> = holder;
                let before = keys.iter().find(|before| (before.0, before.1) == (scope, key));
                let holder = holder.or_else(|| before.map(|before| before.2.to_owned()));
                if let Some(holder) = holder.filter(|holder| holder != delegation) {
                    return Err(Failure::Refused(Error::DuplicateKey { delegation: holder }));
                }
                keys.push((scope, key, delegation));
            }
            Row::Tree { .. } => {}
        }
    }
    Ok(())
}

fn write(connection: &Connection, tree: i64, row: &Row) -> Result<(), Failure> {
    match row {
        Row::Tree { ended_at } => {
            connection.prepare_cached(END)?.execute(params![tree, ended_at])?;
        }
        Row::Delegation(delegation) => write_delegation(connection, tree, delegation)?,
        Row::Key { scope, key, delegation } => {
            let row = params![scope, key, tree, delegation];
            connection.prepare_cached(KEY)?.execute(row)?;
        }
    }
    Ok(())
}

fn write_delegation(connection: &Connection, tree: i64, row: &Delegation) -> Result<(), Failure> {
    connection.prepare_cached(DELEGATION)?.execute(params![
        row.id,
        tree,
        row.parent,
        row.task_id,
        row.title,
        row.pattern,
        row.status,
        row.accepted_at,
        row.started_at,
        row.ended_at,
        row.tokens_used,
        row.cost_nanos,
    ])?;
    Ok(())
}
