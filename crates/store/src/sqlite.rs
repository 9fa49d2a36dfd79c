//! A journal in one SQLite file.
//!
//! One at a time writes, and commits together what was asked for while it was busy;
//! a few threads read, and never wait for it. Nothing is acknowledged before it is
//! on the disk. After the first failed write nothing more is accepted: a journal
//! with a hole would be worse than one that stands still.

mod connect;
mod fault;
mod file;
mod log;
mod packed;
mod plans;
mod purge;
mod queries;
mod readers;
mod schema;
mod write;
mod writer;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use readers::Readers;
use rusqlite::Connection;
use writer::{Job, Writer};

use crate::append::{Append, Appended};
use crate::error::Error;
use crate::journal::Journal;
use crate::record::{Delegation, Entry, Page, Past, PastPage};

/// Up to which size a file is looked through before it is opened. A larger one is
/// looked through while work goes on, if nobody closed it properly: that takes the
/// longer the more has happened, and damage is noticed by whoever reads it, too.
const CHECK_FIRST_BYTES: u64 = 32 * 1024 * 1024;

/// When an append counts as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When it survives a loss of power.
    #[default]
    Full,
    /// When it survives the end of the process; for measuring.
    Normal,
    /// When the system has it; for measuring.
    Off,
}

/// How to open the file.
#[derive(Clone, Debug)]
pub struct Options {
    /// When an append counts as written.
    pub durability: Durability,
    /// How long to wait for another program that holds the file.
    pub busy_timeout: Duration,
    /// How many pages of 4 KiB the file may have.
    pub max_pages: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        let busy_timeout = Duration::from_secs(5);
        Self { durability: Durability::Full, busy_timeout, max_pages: None }
    }
}

/// A journal in one SQLite file. Closing it, by dropping it, waits for what was
/// asked for.
#[derive(Debug)]
pub struct Sqlite {
    path: Arc<Path>,
    // Before the writer, so that it closes last: only then can it clear up.
    readers: Readers,
    writer: Option<Writer>,
    stopped: Stopped,
}

/// The first failure of a write, which ends all writing.
type Stopped = Arc<OnceLock<Error>>;

impl Sqlite {
    /// Opens the journal at `path`, or makes one there; its folder must exist.
    ///
    /// # Errors
    /// If the file cannot be written, is damaged, or belongs to somebody else.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        // Who only reads may leave an empty log.
        let log = std::fs::metadata(connect::log_of(path));
        let was_closed = log.map_or(true, |log| log.len() == 0);
        let connection = connect::writer(path, options)?;
        let path: Arc<Path> = Arc::from(path);
        let is_small = std::fs::metadata(&path).is_ok_and(|file| file.len() <= CHECK_FIRST_BYTES);
        if is_small {
            connect::check(&connection, &path)?;
        }
        let stopped = Stopped::default();
        let readers = Readers::start(Arc::clone(&path), options)?;
        if !is_small && !was_closed {
            readers.check_in_background(Arc::clone(&stopped));
        }
        let writing = (Arc::clone(&stopped), options.busy_timeout);
        let writer = Writer::start(connection, &path, writing)?;
        Ok(Self { path, readers, writer: Some(writer), stopped })
    }

    /// Opens the journal at `path` for reading, whether or not anybody is writing it.
    ///
    /// # Errors
    /// If there is none, or it cannot be read by this release.
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        let options = Options::default();
        connect::reader(path, &options)?;
        let path: Arc<Path> = Arc::from(path);
        let readers = Readers::start(Arc::clone(&path), &options)?;
        Ok(Self { path, readers, writer: None, stopped: Stopped::default() })
    }

    /// The failure that ended all writing, if there was one.
    pub fn stopped(&self) -> Option<&Error> {
        self.stopped.get()
    }

    /// Looks through the whole file for damage; the larger it is, the longer that takes.
    ///
    /// # Errors
    /// If there is damage.
    pub async fn check(&self) -> Result<(), Error> {
        let path = Arc::clone(&self.path);
        self.readers.ask(move |connection| Ok(connect::check(connection, &path))).await?
    }

    /// How each question is answered: which table it looks through or searches, and by
    /// which index.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn plans(&self) -> Result<String, Error> {
        self.ask(plans::of_all).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.readers.ask(question).await
    }

    fn writer(&self) -> Result<&Writer, Error> {
        self.writer.as_ref().ok_or_else(|| Error::ReadOnly { path: self.path.to_path_buf() })
    }

    /// Removes the events of forgotten trees, step by step.
    async fn sweep(&self) -> Result<(), Error> {
        while self.writer()?.ask(Job::Sweep).await? {}
        Ok(())
    }
}

impl Journal for Sqlite {
    async fn append(&self, append: Append) -> Result<Appended, Error> {
        append.check()?;
        self.writer()?.ask(|reply| Job::Append(append, reply)).await
    }

    async fn read(&self, tree: &str, after: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        let tree = tree.to_owned();
        self.ask(move |connection| queries::read(connection, &tree, after, limit)).await
    }

    async fn read_all(&self, after: u64, limit: usize) -> Result<Vec<(String, Entry)>, Error> {
        self.ask(move |connection| queries::read_all(connection, after, limit)).await
    }

    async fn open_trees(&self, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        let after = after.to_owned();
        self.ask(move |connection| queries::open_trees(connection, &after, limit)).await
    }

    async fn delegation(&self, id: &str) -> Result<Option<Delegation>, Error> {
        let id = id.to_owned();
        self.ask(move |connection| queries::delegation(connection, &id)).await
    }

    async fn active(&self, page: Page) -> Result<Vec<Delegation>, Error> {
        self.ask(move |connection| queries::active(connection, page)).await
    }

    async fn history(&self, past: Past) -> Result<PastPage, Error> {
        self.ask(move |connection| queries::history(connection, &past)).await
    }

    async fn delegation_of_key(&self, scope: &str, key: &str) -> Result<Option<String>, Error> {
        let (scope, key) = (scope.to_owned(), key.to_owned());
        self.ask(move |connection| queries::delegation_of_key(connection, &scope, &key)).await
    }

    async fn forget(&self, tree: &str) -> Result<bool, Error> {
        let tree = tree.to_owned();
        let found = self.writer()?.ask(|reply| Job::Forget(tree, reply)).await?;
        self.sweep().await?;
        Ok(found)
    }

    async fn forget_before(&self, time: i64) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let count = self.writer()?.ask(|reply| Job::ForgetBefore(time, reply)).await?;
            self.sweep().await?;
            total += count;
            if count == 0 {
                return Ok(total);
            }
        }
    }
}
