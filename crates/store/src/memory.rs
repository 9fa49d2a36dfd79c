//! A journal that is gone when the process is: for tests, for the simulator and for
//! work that nobody wants to keep.

mod tables;

use std::sync::{Mutex, MutexGuard, PoisonError};

use tables::Tables;

use crate::append::{Append, Appended};
use crate::error::Error;
use crate::journal::Journal;
use crate::record::{Delegation, Entry, Page, Past, PastPage};

/// A journal in memory.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

impl Memory {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The lock is held for one operation, and never across an `await`. No operation
    /// leaves the tables half changed, so a poisoned lock is as good as any.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Memory {
    async fn append(&self, append: Append) -> Result<Appended, Error> {
        append.check()?;
        self.tables().append(append)
    }

    async fn read(&self, tree: &str, after: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(self.tables().read(tree, after, limit))
    }

    async fn read_all(&self, after: u64, limit: usize) -> Result<Vec<(String, Entry)>, Error> {
        Ok(self.tables().read_all(after, limit))
    }

    async fn open_trees(&self, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        Ok(self.tables().open_trees(after, limit))
    }

    async fn delegation(&self, id: &str) -> Result<Option<Delegation>, Error> {
        Ok(self.tables().delegation(id))
    }

    async fn active(&self, page: Page) -> Result<Vec<Delegation>, Error> {
        Ok(self.tables().active(page))
    }

    async fn history(&self, past: Past) -> Result<PastPage, Error> {
        Ok(self.tables().history(&past))
    }

    async fn delegation_of_key(&self, scope: &str, key: &str) -> Result<Option<String>, Error> {
        Ok(self.tables().delegation_of_key(scope, key))
    }

    async fn forget(&self, tree: &str) -> Result<bool, Error> {
        self.tables().forget(tree)
    }

    async fn forget_before(&self, time: i64) -> Result<u64, Error> {
        Ok(self.tables().forget_before(time))
    }
}
