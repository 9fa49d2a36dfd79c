//! What every journal can do, wherever it keeps its events.
//!
//! An append is acknowledged once it is as durable as the journal can make it. One
//! whose caller went away, or that failed with the machinery, may still have
//! happened: whoever starts again reads what is there.

use std::future::Future;

use crate::append::{Append, Appended};
use crate::error::Error;
use crate::record::{Delegation, Entry, Page, Past, PastPage};

/// A journal with its read tables.
pub trait Journal: Send + Sync {
    /// Appends events and writes their rows, all or nothing, if the tree is where
    /// the caller believes it to be.
    fn append(&self, append: Append) -> impl Future<Output = Result<Appended, Error>> + Send;

    /// Events of a tree after the given number, in order. A tree that does not exist
    /// has none.
    fn read(
        &self,
        tree: &str,
        after: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Entry>, Error>> + Send;

    /// Events of all trees after the given position, in order, each with its tree.
    fn read_all(
        &self,
        after: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(String, Entry)>, Error>> + Send;

    /// Ids of trees that have not ended, in the order of their ids, after the given
    /// one.
    fn open_trees(
        &self,
        after: &str,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, Error>> + Send;

    /// One delegation.
    fn delegation(
        &self,
        id: &str,
    ) -> impl Future<Output = Result<Option<Delegation>, Error>> + Send;

    /// Delegations that have not ended, those accepted last first.
    fn active(&self, page: Page) -> impl Future<Output = Result<Vec<Delegation>, Error>> + Send;

    /// Delegations that have ended, those that ended last first.
    fn history(&self, past: Past) -> impl Future<Output = Result<PastPage, Error>> + Send;

    /// The delegation that a key stands for.
    fn delegation_of_key(
        &self,
        scope: &str,
        key: &str,
    ) -> impl Future<Output = Result<Option<String>, Error>> + Send;

    /// Removes a tree that has ended, with everything known of it. Says whether
    /// there was one.
    fn forget(&self, tree: &str) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Removes the trees that ended before the given time, and says how many. It
    /// works in small steps; one that was interrupted is carried on by the next.
    fn forget_before(&self, time: i64) -> impl Future<Output = Result<u64, Error>> + Send;
}
