//! Filing: what has ended moves to where it is looked up by time and by status.
//!
//! Those tables have many indices, and a page of each would be written at every end.
//! So ends are gathered and filed together, in the transaction of an append.

use rusqlite::Connection;

/// After how many rows that have ended they are filed.
pub(super) const FILED_AT_ONCE: usize = 256;

const UNFILED: &str = "SELECT count(*) FROM fresh WHERE ended_at IS NOT NULL";

const STEPS: [&str; 4] = [
    "INSERT INTO ended_counts SELECT ended_at >> 22, status, count(*) \
        FROM fresh_delegations WHERE ended_at IS NOT NULL GROUP BY ended_at >> 22, status \
        ON CONFLICT DO UPDATE SET total = total + excluded.total",
    "INSERT INTO delegations SELECT * FROM fresh_delegations WHERE ended_at IS NOT NULL",
    "INSERT INTO trees SELECT no, id, ended_at FROM fresh_trees \
        WHERE ended_at IS NOT NULL ORDER BY no",
    "DELETE FROM fresh WHERE ended_at IS NOT NULL",
];

/// How many rows have ended and are not filed.
pub(super) fn unfiled(connection: &Connection) -> rusqlite::Result<usize> {
    let count: i64 = connection.query_row(UNFILED, [], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Files everything that has ended.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<()> {
    for step in STEPS {
        connection.prepare_cached(step)?.execute([])?;
    }
    Ok(())
}
