//! What comes out of the journal and its tables.
//!
//! Times are milliseconds since 1970, and nothing here knows what time it is.

use crate::error::Error;

/// How many events one read returns at most.
pub const MAX_READ: usize = 16_384;
/// After how many bytes of events a read stops. The first event always comes.
pub const MAX_READ_BYTES: usize = 16 * 1024 * 1024;
/// How many delegations or trees one query returns at most.
pub const MAX_PAGE: usize = 10_000;

/// An event as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place among the events of all trees. Places grow, and may have gaps.
    pub position: u64,
    /// Its number in its tree, from 1 without gaps.
    pub seq: u64,
    /// The text that was appended.
    pub event: String,
}

/// A delegation, as far as lists need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegation {
    /// Its id.
    pub id: String,
    /// The tree it belongs to.
    pub tree: String,
    /// The delegation it was made under; nothing for the topmost.
    pub parent: Option<String>,
    /// The task it is about.
    pub task_id: String,
    /// What people call it.
    pub title: String,
    /// The name of its pattern.
    pub pattern: String,
    /// The name of its status.
    pub status: String,
    /// When it was accepted.
    pub accepted_at: i64,
    /// When its first attempt started.
    pub started_at: Option<i64>,
    /// When it ended; nothing while it is active.
    pub ended_at: Option<i64>,
    /// Tokens it used, with everything below it.
    pub tokens_used: i64,
    /// What it cost in billionths of a dollar; nothing where that is unknown.
    pub cost_nanos: Option<i64>,
}

impl Delegation {
    pub(crate) fn of_another_tree(&self, tree: &str) -> Error {
        let Self { id, .. } = self;
        Error::Invalid { what: format!("a row of `{tree}` for `{id}`, which is not part of it") }
    }
}

/// Which part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many to leave out at the beginning.
    pub skip: usize,
    /// How many to return; never more than [`MAX_PAGE`].
    pub limit: usize,
}

impl Page {
    /// The first so many.
    pub fn first(limit: usize) -> Self {
        Self { skip: 0, limit }
    }
}

/// Which of the delegations that have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Only those that ended so.
    pub status: Option<String>,
    /// Only those that ended then or later.
    pub since: Option<i64>,
    /// Which part of the list.
    pub page: Page,
}

/// A part of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastPage {
    /// The delegations, those that ended last first.
    pub delegations: Vec<Delegation>,
    /// How many there are on all pages together.
    pub total: u64,
}
