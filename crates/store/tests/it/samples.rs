//! Things to append, and places to append them to.

use legation_store::{Append, Delegation, Error, Journal, Options, Row, Sqlite};
use tempfile::TempDir;

/// A journal on disk, in a folder of its own that goes with it.
pub(crate) struct OnDisk {
    pub(crate) folder: TempDir,
}

impl OnDisk {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("legation.db")
    }

    pub(crate) fn open(&self) -> Sqlite {
        self.try_open(&Options::default()).unwrap()
    }

    pub(crate) fn try_open(&self, options: &Options) -> Result<Sqlite, Error> {
        Sqlite::open(&self.path(), options)
    }
}

/// Runs an async test to its end.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// Events for a tree that is at `expected_seq`.
pub(crate) fn events(tree: &str, expected_seq: u64, events: &[&str]) -> Append {
    let events = events.iter().map(ToString::to_string).collect();
    Append { tree: tree.into(), expected_seq, events, rows: Vec::new() }
}

/// One event for a tree that is at `expected_seq`, with rows.
pub(crate) fn rows(tree: &str, expected_seq: u64, rows: Vec<Row>) -> Append {
    Append { rows, ..events(tree, expected_seq, &["{}"]) }
}

/// A delegation that runs.
pub(crate) fn running(id: &str, tree: &str, accepted_at: i64) -> Delegation {
    Delegation {
        id: id.into(),
        tree: tree.into(),
        task_id: "task-1".into(),
        title: "Tidy up".into(),
        pattern: "parallel".into(),
        status: "running".into(),
        accepted_at,
        ..Delegation::default()
    }
}

/// A delegation that has ended.
pub(crate) fn ended(id: &str, tree: &str, status: &str, ended_at: i64) -> Delegation {
    let status = status.into();
    Delegation { status, ended_at: Some(ended_at), ..running(id, tree, ended_at - 5) }
}

/// A key of the scope `api`.
pub(crate) fn key(key: &str, delegation: &str) -> Row {
    Row::Key { scope: "api".into(), key: key.into(), delegation: delegation.into() }
}

/// The texts of a tree's events.
pub(crate) async fn texts(journal: &impl Journal, tree: &str) -> Vec<String> {
    let entries = journal.read(tree, 0, usize::MAX).await.unwrap();
    entries.into_iter().map(|entry| entry.event).collect()
}
