//! The questions that are answered from the tables. Each uses an index, so that
//! what has ended costs those that go on nothing. What goes on or ended lately is few,
//! and looked through.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::packed;
use crate::record::{Delegation, Entry, MAX_PAGE, MAX_READ, MAX_READ_BYTES, Page, Past, PastPage};

/// By how many bits a time is shifted to get its span in the table of counts.
const SPAN_BITS: u32 = 22;

const TREE: &str = "SELECT no FROM fresh_trees WHERE id = ?1 \
    UNION ALL SELECT no FROM trees WHERE id = ?1 LIMIT 1";
const READ: &str = "SELECT e.position, e.seq, e.lengths, e.texts \
    FROM places p CROSS JOIN events e ON e.position = p.position \
    WHERE p.tree = ?1 AND p.seq > ?2 ORDER BY p.seq LIMIT ?3";
// The rows of a tree come after the first, after which it is called.
const READ_NEW: &str = "SELECT position, seq, lengths, texts FROM events \
    WHERE position > max(?1 - 1, (SELECT placed FROM last_place)) \
    AND tree = ?1 AND seq > ?2 ORDER BY position LIMIT ?3";
const READ_ALL: &str = "SELECT e.position, e.seq, e.lengths, e.texts, t.id \
    FROM events e CROSS JOIN events t ON t.position = e.tree \
    WHERE e.position > ?1 AND NOT EXISTS (SELECT * FROM forgotten_trees WHERE no = e.tree) \
    ORDER BY e.position LIMIT ?2";
const OPEN: &str = "SELECT id FROM fresh_trees \
    WHERE ended_at IS NULL AND id > ?1 ORDER BY id LIMIT ?2";
const KEY: &str = "SELECT delegation FROM keys WHERE scope = ?1 AND key = ?2";

/// The columns of a delegation, from a table, with what is asked of it. A tree is called
/// by the place of its first row of events, which has its id.
macro_rules! delegations {
    ($table:literal, $wanted:literal) => {
        concat!(
            "SELECT d.id AS id, t.id, d.parent, d.task_id, d.title, d.pattern, d.status, ",
            "d.accepted_at AS accepted_at, d.started_at, d.ended_at AS ended_at, ",
            "d.tokens_used, d.cost_nanos FROM ",
            $table,
            " d CROSS JOIN events t ON t.position = d.tree WHERE ",
            $wanted
        )
    };
}

/// The same of those that go on or ended lately, and of those that are filed.
macro_rules! all_delegations {
    ($wanted:literal, $rest:literal) => {
        concat!(
            delegations!("fresh_delegations", $wanted),
            " UNION ALL ",
            delegations!("delegations", $wanted),
            $rest
        )
    };
}

const DELEGATION: &str = all_delegations!("d.id = ?1", " LIMIT 1");
const ACTIVE: &str = concat!(
    delegations!("fresh_delegations", "d.ended_at IS NULL"),
    " ORDER BY d.accepted_at DESC, d.id DESC LIMIT ?1 OFFSET ?2"
);
const PAST: &str =
    all_delegations!("d.ended_at >= ?3", " ORDER BY ended_at DESC, id DESC LIMIT ?1 OFFSET ?2");
const PAST_OF_STATUS: &str = all_delegations!(
    "d.ended_at >= ?3 AND d.status = ?4",
    " ORDER BY ended_at DESC, id DESC LIMIT ?1 OFFSET ?2"
);
// Whole spans are summed up, and only the first, which is cut, is counted.
const TOTAL: &str = "SELECT \
    (SELECT coalesce(sum(total), 0) FROM ended_counts WHERE span > ?2) + \
    (SELECT count(*) FROM delegations WHERE ended_at BETWEEN ?1 AND ?3) + \
    (SELECT count(*) FROM fresh_delegations WHERE ended_at >= ?1)";
const TOTAL_OF_STATUS: &str = "SELECT \
    (SELECT coalesce(sum(total), 0) FROM ended_counts WHERE span > ?2 AND status = ?4) + \
    (SELECT count(*) FROM delegations \
     WHERE ended_at BETWEEN ?1 AND ?3 AND status = ?4) + \
    (SELECT count(*) FROM fresh_delegations WHERE ended_at >= ?1 AND status = ?4)";

/// Every question, with a name for people.
pub(super) const QUESTIONS: &[(&str, &str)] = &[
    ("a tree", TREE),
    ("events of a tree", READ),
    ("its latest events", READ_NEW),
    ("events of all trees", READ_ALL),
    ("open trees", OPEN),
    ("one delegation", DELEGATION),
    ("active delegations", ACTIVE),
    ("history", PAST),
    ("history of a status", PAST_OF_STATUS),
    ("total", TOTAL),
    ("total of a status", TOTAL_OF_STATUS),
    ("delegation of a key", KEY),
];

/// Events of a tree.
pub(super) fn read(
    connection: &Connection,
    tree: &str,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<Entry>> {
    let moment = connection.unchecked_transaction()?;
    let no = moment.prepare_cached(TREE)?.query_row([tree], |row| row.get(0)).optional()?;
    let no: Option<i64> = no;
    let Some(no) = no else { return Ok(Vec::new()) };
    let from = i64::try_from(after).unwrap_or(i64::MAX);
    let mut read = Read::new(limit);
    for question in [READ, READ_NEW] {
        let mut statement = moment.prepare_cached(question)?;
        let mut rows = statement.query([no, from, at_most(limit, MAX_READ)])?;
        while let Some(row) = rows.next()? {
            let wanted = |entry: &Entry| entry.seq > after;
            if !read.take(row, wanted, Ok)? {
                return Ok(read.found);
            }
        }
    }
    Ok(read.found)
}

/// Events of all trees.
pub(super) fn read_all(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<(String, Entry)>> {
    let mut statement = connection.prepare_cached(READ_ALL)?;
    let from = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = statement.query([from, at_most(limit, MAX_READ)])?;
    let mut read = Read::new(limit);
    while let Some(row) = rows.next()? {
        let wanted = |entry: &Entry| entry.position > after;
        if !read.take(row, wanted, |entry| Ok((row.get(4)?, entry)))? {
            break;
        }
    }
    Ok(read.found)
}

/// Events that were read so far.
struct Read<T> {
    found: Vec<T>,
    bytes: usize,
    limit: usize,
}

impl<T> Read<T> {
    fn new(limit: usize) -> Self {
        Self { found: Vec::new(), bytes: 0, limit: limit.min(MAX_READ) }
    }

    /// Takes the wanted events of a row; false once there is no room for more.
    fn take(
        &mut self,
        row: &Row<'_>,
        wanted: impl Fn(&Entry) -> bool,
        form: impl Fn(Entry) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<bool> {
        for entry in entries(row)?.into_iter().filter(wanted) {
            self.bytes += entry.event.len();
            let is_too_long = self.bytes > MAX_READ_BYTES && !self.found.is_empty();
            if is_too_long || self.found.len() >= self.limit {
                return Ok(false);
            }
            self.found.push(form(entry)?);
        }
        Ok(true)
    }
}

/// Ids of trees that have not ended.
pub(super) fn open_trees(
    connection: &Connection,
    after: &str,
    limit: usize,
) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached(OPEN)?;
    statement.query_map(params![after, at_most(limit, MAX_PAGE)], |row| row.get(0))?.collect()
}

/// One delegation.
pub(super) fn delegation(
    connection: &Connection,
    id: &str,
) -> rusqlite::Result<Option<Delegation>> {
    connection.prepare_cached(DELEGATION)?.query_row([id], delegation_of).optional()
}

/// Delegations that have not ended.
pub(super) fn active(connection: &Connection, page: Page) -> rusqlite::Result<Vec<Delegation>> {
    let mut statement = connection.prepare_cached(ACTIVE)?;
    let page = [at_most(page.limit, MAX_PAGE), at_most(page.skip, usize::MAX)];
    statement.query_map(page, delegation_of)?.collect()
}

/// Delegations that have ended, and how many there are in all, at one moment.
pub(super) fn history(connection: &Connection, past: &Past) -> rusqlite::Result<PastPage> {
    let moment = connection.unchecked_transaction()?;
    let since = past.since.unwrap_or(i64::MIN);
    let span = since >> SPAN_BITS;
    let span_end = since | ((1 << SPAN_BITS) - 1);
    let limit = at_most(past.page.limit, MAX_PAGE);
    let skip = at_most(past.page.skip, usize::MAX);
    let (delegations, total): (rusqlite::Result<Vec<Delegation>>, i64) = match &past.status {
        None => (
            moment.prepare_cached(PAST)?.query_map([limit, skip, since], delegation_of)?.collect(),
            moment.prepare_cached(TOTAL)?.query_row([since, span, span_end], |row| row.get(0))?,
        ),
        Some(status) => (
            moment
                .prepare_cached(PAST_OF_STATUS)?
                .query_map(params![limit, skip, since, status], delegation_of)?
                .collect(),
            moment
                .prepare_cached(TOTAL_OF_STATUS)?
                .query_row(params![since, span, span_end, status], |row| row.get(0))?,
        ),
    };
    Ok(PastPage { delegations: delegations?, total: total.unsigned_abs() })
}

/// The delegation that a key stands for.
pub(super) fn delegation_of_key(
    connection: &Connection,
    scope: &str,
    key: &str,
) -> rusqlite::Result<Option<String>> {
    connection.prepare_cached(KEY)?.query_row([scope, key], |row| row.get(0)).optional()
}

fn at_most(wanted: usize, limit: usize) -> i64 {
    i64::try_from(wanted.min(limit)).unwrap_or(i64::MAX)
}

/// The events of a row.
fn entries(row: &Row<'_>) -> rusqlite::Result<Vec<Entry>> {
    let (position, seq): (i64, i64) = (row.get(0)?, row.get(1)?);
    let (lengths, texts) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
    let events = packed::unpack(lengths, texts).ok_or_else(|| {
        let problem = "the lengths are not those of the events";
        rusqlite::Error::FromSqlConversionFailure(2, Type::Text, problem.into())
    })?;
    let (position, seq) = (position.unsigned_abs(), seq.unsigned_abs());
    let numbered = events.iter().rev().zip(0..).map(|(event, before)| Entry {
        position: position.saturating_sub(before),
        seq: seq.saturating_sub(before),
        event: (*event).to_owned(),
    });
    let mut entries: Vec<Entry> = numbered.collect();
    entries.reverse();
    Ok(entries)
}

fn delegation_of(row: &Row<'_>) -> rusqlite::Result<Delegation> {
    Ok(Delegation {
        id: row.get(0)?,
        tree: row.get(1)?,
        parent: row.get(2)?,
        task_id: row.get(3)?,
        title: row.get(4)?,
        pattern: row.get(5)?,
        status: row.get(6)?,
        accepted_at: row.get(7)?,
        started_at: row.get(8)?,
        ended_at: row.get(9)?,
        tokens_used: row.get(10)?,
        cost_nanos: row.get(11)?,
    })
}
