//! Writing one append: the events, then the rows that follow from them.

use rusqlite::{Connection, OptionalExtension, params};

use super::writer::Failure;
use crate::append::{Append, Appended, Row};
use crate::error::Error;
use crate::record::Delegation;

const FIND: &str = "SELECT no, last_seq FROM trees WHERE id = ?1";
const OPEN: &str = "INSERT INTO trees (id, last_seq) VALUES (?1, 0)";
const EVENT: &str = "INSERT INTO events (position, tree, seq, event) VALUES (?1, ?2, ?3, ?4)";
const ADVANCE: &str = "UPDATE trees SET last_seq = ?2 WHERE no = ?1";
const END: &str = "UPDATE trees SET ended_at = ?2 WHERE no = ?1";
// A delegation never moves to another tree: then nothing changes, which is noticed.
const DELEGATION: &str = "INSERT INTO delegations (id, tree, parent, task_id, title, pattern, \
    status, accepted_at, started_at, ended_at, tokens_used, cost_nanos) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
    ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, task_id = excluded.task_id, \
    title = excluded.title, pattern = excluded.pattern, status = excluded.status, \
    accepted_at = excluded.accepted_at, started_at = excluded.started_at, \
    ended_at = excluded.ended_at, tokens_used = excluded.tokens_used, \
    cost_nanos = excluded.cost_nanos WHERE tree = excluded.tree";
const KEY: &str = "INSERT INTO keys (scope, key, tree, delegation) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT DO NOTHING";
const KEY_HOLDER: &str = "SELECT delegation FROM keys WHERE scope = ?1 AND key = ?2";

/// Whether an append may be refused after a part of it was written.
pub(super) fn may_stop_halfway(append: &Append) -> bool {
    append.rows.iter().any(|row| match row {
        Row::Delegation(_) | Row::Key { .. } => true,
        Row::Tree { .. } => false,
    })
}

/// Writes everything after the given position, or refuses.
pub(super) fn append(
    connection: &Connection,
    append: &Append,
    last_position: i64,
) -> Result<Appended, Failure> {
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found = connection.prepare_cached(FIND)?.query_row([&append.tree], row).optional()?;
    let (found, last): (Option<i64>, i64) = found.map_or((None, 0), |(no, last)| (Some(no), last));
    if i64::try_from(append.expected_seq) != Ok(last) {
        return Err(Failure::Refused(Error::Conflict {
            tree: append.tree.clone(),
            expected: append.expected_seq,
            actual: last.unsigned_abs(),
        }));
    }
    let no = match found {
        Some(no) => no,
        None => connection.prepare_cached(OPEN)?.insert([&append.tree])?,
    };
    let (mut seq, mut position) = (last, last_position);
    let mut insert = connection.prepare_cached(EVENT)?;
    for event in &append.events {
        seq += 1;
        position += 1;
        insert.execute(params![position, no, seq, event])?;
    }
    connection.prepare_cached(ADVANCE)?.execute([no, seq])?;
    for row in &append.rows {
        write(connection, no, row)?;
    }
    Ok(Appended { seq: seq.unsigned_abs(), position: position.unsigned_abs() })
}

fn write(connection: &Connection, tree: i64, row: &Row) -> Result<(), Failure> {
    match row {
        Row::Tree { ended_at } => {
            connection.prepare_cached(END)?.execute(params![tree, ended_at])?;
        }
        Row::Delegation(delegation) => write_delegation(connection, tree, delegation)?,
        Row::Key { scope, key, delegation } => {
            let row = params![scope, key, tree, delegation];
            if connection.prepare_cached(KEY)?.execute(row)? == 0 {
                let mut holder = connection.prepare_cached(KEY_HOLDER)?;
                let holder: String = holder.query_row([scope, key], |row| row.get(0))?;
                if holder != *delegation {
                    return Err(Failure::Refused(Error::DuplicateKey { delegation: holder }));
                }
            }
        }
    }
    Ok(())
}

fn write_delegation(connection: &Connection, tree: i64, row: &Delegation) -> Result<(), Failure> {
    let changed = connection.prepare_cached(DELEGATION)?.execute(params![
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
    match changed {
        0 => Err(Failure::Refused(row.of_another_tree(&row.tree))),
        _ => Ok(()),
    }
}
