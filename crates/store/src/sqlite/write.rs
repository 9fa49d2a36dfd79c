//! Writing one append: the events, then the rows that follow from them.
//!
//! Everything that may be refused is looked at before anything is written, so that
//! what is refused has changed nothing. Rows are written where what goes on is kept;
//! `file` moves what has ended to where it stays.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::packed;
use super::writer::Failure;
use crate::append::{Append, Appended, Row};
use crate::error::Error;
use crate::record::Delegation;

const FIND: &str = "SELECT no, TRUE, seq FROM fresh_trees WHERE id = ?1 \
    UNION ALL SELECT no, FALSE, seq FROM trees WHERE id = ?1 LIMIT 1";
const EVENTS: &str = "INSERT INTO events (position, tree, seq, id, lengths, texts) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const TREE: &str = "INSERT OR REPLACE INTO fresh (id, is_tree, tree, seq, ended_at) \
    VALUES (?1, 1, ?2, ?3, ?4)";
const SEQ: &str = "UPDATE fresh SET seq = ?2 WHERE id = ?1 AND is_tree = 1";
const FILED_SEQ: &str = "UPDATE trees SET seq = ?2 WHERE no = ?1";
const UNFILE_TREE: &str = "DELETE FROM trees WHERE no = ?1";
const OWNER: &str = "SELECT tree, TRUE FROM fresh_delegations WHERE id = ?1 \
    UNION ALL SELECT tree, FALSE FROM delegations WHERE id = ?1 LIMIT 1";
const DELEGATION: &str = "INSERT OR REPLACE INTO fresh (id, is_tree, tree, parent, task_id, \
    title, pattern, status, accepted_at, started_at, ended_at, tokens_used, cost_nanos) \
    VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const UNFILE_DELEGATION: &str = "DELETE FROM delegations WHERE id = ?1";
const KEY: &str = "INSERT INTO keys (scope, key, tree, delegation) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT DO NOTHING";
const KEY_HOLDER: &str = "SELECT delegation FROM keys WHERE scope = ?1 AND key = ?2";

/// What most appends need, prepared once for all that are committed together.
pub(super) struct Statements<'c> {
    connection: &'c Connection,
    find: CachedStatement<'c>,
    owner: CachedStatement<'c>,
    events: CachedStatement<'c>,
    tree: CachedStatement<'c>,
    delegation: CachedStatement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn of(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            find: connection.prepare_cached(FIND)?,
            owner: connection.prepare_cached(OWNER)?,
            events: connection.prepare_cached(EVENTS)?,
            tree: connection.prepare_cached(TREE)?,
            delegation: connection.prepare_cached(DELEGATION)?,
        })
    }
}

/// A tree as it was found.
struct Tree {
    no: i64,
    is_fresh: bool,
    last: i64,
}

/// Writes everything after the given position, or refuses.
pub(super) fn append(
    statements: &mut Statements<'_>,
    append: &Append,
    last_position: i64,
) -> Result<Appended, Failure> {
    let connection = statements.connection;
    let found = find(&mut statements.find, &append.tree)?;
    let last = found.as_ref().map_or(0, |tree| tree.last);
    if i64::try_from(append.expected_seq) != Ok(last) {
        return Err(Failure::Refused(Error::Conflict {
            tree: append.tree.clone(),
            expected: append.expected_seq,
            actual: last.unsigned_abs(),
        }));
    }
    let filed = check(statements, found.as_ref().map(|tree| tree.no), append)?;
    let count = i64::try_from(append.events.len()).unwrap_or(i64::MAX);
    let (seq, position) = (last + count, last_position + count);
    let (no, name) = match &found {
        Some(tree) => (tree.no, None),
        None => (position, Some(&append.tree)),
    };
    let (lengths, texts) = packed::pack(&append.events);
    statements.events.execute(params![position, no, seq, name, lengths, texts])?;
    write_tree(statements, append, found.as_ref(), (no, seq))?;
    for id in filed {
        connection.prepare_cached(UNFILE_DELEGATION)?.execute([id])?;
    }
    for row in &append.rows {
        write(statements, no, row)?;
    }
    Ok(Appended { seq: seq.unsigned_abs(), position: position.unsigned_abs() })
}

fn find(find: &mut CachedStatement<'_>, tree: &str) -> rusqlite::Result<Option<Tree>> {
    let tree_of = |row: &rusqlite::Row<'_>| {
        Ok(Tree { no: row.get(0)?, is_fresh: row.get(1)?, last: row.get(2)? })
    };
    find.query_row([tree], tree_of).optional()
}

/// Refuses rows that do not fit what is there, or one another. Says which delegations
/// were filed and go on.
fn check<'a>(
    statements: &mut Statements<'_>,
    tree: Option<i64>,
    append: &'a Append,
) -> Result<Vec<&'a str>, Failure> {
    let mut keys: Vec<(&str, &str, &str)> = Vec::new();
    let mut filed = Vec::new();
    for row in &append.rows {
        match row {
            Row::Delegation(new) => {
                let owner = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                let owner = statements.owner.query_row([&new.id], owner);
                let owner: Option<(i64, bool)> = owner.optional()?;
                match owner {
                    Some((owner, _)) if Some(owner) != tree => {
                        return Err(Failure::Refused(new.of_another_tree(&append.tree)));
                    }
                    Some((_, false)) => filed.push(new.id.as_str()),
                    Some((_, true)) | None => {}
                }
            }
            Row::Key { scope, key, delegation } => {
                let mut holder = statements.connection.prepare_cached(KEY_HOLDER)?;
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
    Ok(filed)
}

/// Writes where a tree stands, and whether it has ended if that is said.
fn write_tree(
    statements: &mut Statements<'_>,
    append: &Append,
    found: Option<&Tree>,
    (no, seq): (i64, i64),
) -> Result<(), Failure> {
    let connection = statements.connection;
    let said = append.rows.iter().rev().find_map(|row| match row {
        Row::Tree { ended_at } => Some(*ended_at),
        Row::Delegation(_) | Row::Key { .. } => None,
    });
    let ended_at = match (found, said) {
        (Some(tree), None) if tree.is_fresh => {
            connection.prepare_cached(SEQ)?.execute(params![append.tree, seq])?;
            return Ok(());
        }
        (Some(_), None) => {
            connection.prepare_cached(FILED_SEQ)?.execute([no, seq])?;
            return Ok(());
        }
        (found, Some(ended_at)) => {
            if found.is_some_and(|tree| !tree.is_fresh) {
                connection.prepare_cached(UNFILE_TREE)?.execute([no])?;
            }
            ended_at
        }
        (None, None) => None,
    };
    statements.tree.execute(params![append.tree, no, seq, ended_at])?;
    Ok(())
}

fn write(statements: &mut Statements<'_>, no: i64, row: &Row) -> Result<(), Failure> {
    match row {
        // It is written with the number of its last event.
        Row::Tree { .. } => {}
        Row::Delegation(row) => write_delegation(&mut statements.delegation, no, row)?,
        Row::Key { scope, key, delegation } => {
            let row = params![scope, key, no, delegation];
            statements.connection.prepare_cached(KEY)?.execute(row)?;
        }
    }
    Ok(())
}

fn write_delegation(
    statement: &mut CachedStatement<'_>,
    tree: i64,
    row: &Delegation,
) -> Result<(), Failure> {
    statement.execute(params![
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
