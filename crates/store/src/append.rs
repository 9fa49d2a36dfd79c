//! What goes into the journal: events of one tree, with the rows that follow from
//! them.
//!
//! The limits here are checked before anything is written.

use crate::error::Error;
use crate::record::Delegation;

/// How many events one append may hold.
pub const MAX_EVENTS: usize = 16_384;
/// How many rows one append may hold.
pub const MAX_ROWS: usize = 16_384;
/// How many bytes of events one append may hold.
pub const MAX_APPEND_BYTES: usize = 64 * 1024 * 1024;

/// Events to be appended to one tree, and what they change in the read tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Append {
    /// Whose journal.
    pub tree: String,
    /// The number of the last event the caller knows of; 0 for a new tree.
    pub expected_seq: u64,
    /// The events, as text.
    pub events: Vec<String>,
    /// The rows that follow from them, written in this order.
    pub rows: Vec<Row>,
}

/// Where an append ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the tree's last event.
    pub seq: u64,
    /// The place of that event among the events of all trees. The events of one
    /// append stand next to each other.
    pub position: u64,
}

/// A change to the read tables. Written twice, it changes nothing the second time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// The tree has ended, or goes on. A tree is open until it is said to have ended.
    Tree {
        /// When it ended, in milliseconds; nothing while it is open.
        ended_at: Option<i64>,
    },
    /// How a delegation stands now; replaces what was known of it.
    Delegation(Delegation),
    /// A caller's own name for a delegation, taken once and for all.
    Key {
        /// Among whose names it is unique.
        scope: String,
        /// The name.
        key: String,
        /// What it stands for.
        delegation: String,
    },
}

impl Row {
    /// Whether it says that something has ended.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Tree { ended_at } => ended_at.is_some(),
            Self::Delegation(delegation) => delegation.ended_at.is_some(),
            Self::Key { .. } => false,
        }
    }
}

impl Append {
    /// How many bytes its events have.
    pub(crate) fn bytes(&self) -> usize {
        self.events.iter().map(String::len).sum()
    }

    /// Refuses what no journal would take, whatever is in it already.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let limits = [
            ("events", self.events.len(), MAX_EVENTS),
            ("rows", self.rows.len(), MAX_ROWS),
            ("bytes", self.bytes(), MAX_APPEND_BYTES),
        ];
        for (what, found, limit) in limits {
            if found > limit {
                let what = format!("{found} {what} at once, and at most {limit} are taken");
                return Err(Error::Invalid { what });
            }
        }
        if self.tree.is_empty() {
            return Err(Error::Invalid { what: "a tree without an id".into() });
        }
        if self.events.is_empty() {
            return Err(Error::Invalid { what: "an append without events".into() });
        }
        let strays = self.rows.iter().filter_map(|row| match row {
            Row::Delegation(delegation) => Some(delegation),
            Row::Tree { .. } | Row::Key { .. } => None,
        });
        match strays.into_iter().find(|delegation| delegation.tree != self.tree) {
            Some(stray) => Err(stray.of_another_tree(&self.tree)),
            None => Ok(()),
        }
    }
}
