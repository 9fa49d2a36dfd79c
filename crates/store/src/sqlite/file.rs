//! Filing: what has ended moves to where it is looked up by time and by status, and the
//! rows of events are entered where they are looked up by their tree.
//!
//! Those tables have many indices, and a page of each would be written at every end. So
//! both are gathered and filed together, in the transaction of an append.

use rusqlite::Connection;

/// After how many rows that have ended they are filed.
const FILED_AT_ONCE: usize = 256;

/// After how many rows of events they are entered even if nothing has ended. Whoever
/// reads a tree looks through as many.
const PLACED_AT_ONCE: usize = 512;

const UNFILED: &str = "SELECT count(*) FROM fresh WHERE ended_at IS NOT NULL";
const UNPLACED: &str =
    "SELECT count(*) FROM events WHERE position > (SELECT placed FROM last_place)";

const STEPS: [&str; 6] = [
    "INSERT INTO places SELECT tree, seq, position FROM events \
        WHERE position > (SELECT placed FROM last_place) ORDER BY tree, seq",
    "UPDATE last_place SET placed = \
        max(placed, (SELECT coalesce(max(position), 0) FROM events))",
    "INSERT INTO ended_counts SELECT ended_at >> 22, status, count(*) \
        FROM fresh_delegations WHERE ended_at IS NOT NULL GROUP BY ended_at >> 22, status \
        ON CONFLICT DO UPDATE SET total = total + excluded.total",
    "INSERT INTO delegations SELECT * FROM fresh_delegations WHERE ended_at IS NOT NULL",
    "INSERT INTO trees SELECT no, id, seq, ended_at FROM fresh_trees \
        WHERE ended_at IS NOT NULL ORDER BY no",
    "DELETE FROM fresh WHERE ended_at IS NOT NULL",
];

/// What has to be filed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// How many rows have ended and are not filed.
    pub(super) ended: usize,
    /// How many rows of events are not entered.
    pub(super) events: usize,
}

impl Due {
    /// What a file leaves to do.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let count = |question| -> rusqlite::Result<usize> {
            let count: i64 = connection.query_row(question, [], |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or(0))
        };
        Ok(Self { ended: count(UNFILED)?, events: count(UNPLACED)? })
    }

    /// Whether it is enough to be done.
    pub(super) fn is_enough(self) -> bool {
        self.ended >= FILED_AT_ONCE || self.events >= PLACED_AT_ONCE
    }
}

/// Files everything that has ended, and enters all rows of events.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<()> {
    for step in STEPS {
        connection.prepare_cached(step)?.execute([])?;
    }
    Ok(())
}
