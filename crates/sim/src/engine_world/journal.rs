//! A journal that is slow, runs full, or loses sight of whoever wrote.

use std::path::PathBuf;
use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_store::{
    Append, Appended, Delegation, Entry, Error, Journal, Memory, Page, Past, PastPage,
};
use tokio::sync::oneshot;

use super::Flaw;
use super::hub::Hub;
use crate::plan::one_in;

/// A journal in memory with everything that can befall one on a disk.
pub(super) struct Shaky {
    hub: Arc<Hub>,
    memory: Arc<Memory>,
}

/// What becomes of an append.
enum Fate {
    Written,
    /// Later than what others do meanwhile.
    WrittenLate(oneshot::Receiver<()>),
    /// At once, but the caller hears of it later, or never.
    ToldLate(oneshot::Receiver<()>),
    /// No room, now and from now on.
    Full,
    /// Refused: the journal is well, and does not take this.
    Refused,
    /// Acknowledged, and forgotten.
    Forgotten,
    /// The engine died before.
    Never,
}

fn full() -> Error {
    Error::DiskFull { path: PathBuf::from("journal.db") }
}

impl Shaky {
    pub(super) fn new(hub: Arc<Hub>, memory: Arc<Memory>) -> Self {
        Self { hub, memory }
    }

    fn fate(&self) -> Fate {
        let mut inner = self.hub.lock();
        if !inner.step() {
            return Fate::Never;
        }
        if inner.full {
            return Fate::Full;
        }
        if inner.calm {
            return Fate::Written;
        }
        if inner.flaw == Flaw::LosesAnAppend && one_in(&mut inner.rng, 8) {
            inner.flaw = Flaw::None;
            return Fate::Forgotten;
        }
        let wild = inner.wildness > 0;
        // What was refused is taken in smaller pieces.
        let was_refused = std::mem::take(&mut inner.refused);
        match inner.rng.u32(0..400) {
            0..2 if wild => {
                inner.full = true;
                inner.say("the disk is full");
                Fate::Full
            }
            2..6 if wild && !was_refused => {
                inner.refused = true;
                inner.say("an append is refused");
                Fate::Refused
            }
            n @ 6..120 => {
                let (sender, receiver) = oneshot::channel();
                inner.slow.push(sender);
                if n % 2 == 0 { Fate::WrittenLate(receiver) } else { Fate::ToldLate(receiver) }
            }
            _ => Fate::Written,
        }
    }

    /// Writes, and has the hub look at what was written.
    async fn write(&self, append: Append) -> Result<Appended, Error> {
        {
            let inner = self.hub.lock();
            if inner.full {
                return Err(Error::Stopped { reason: Box::new(full()) });
            }
        }
        let (tree, lines) = (DelegationId::from(append.tree.as_str()), append.events.clone());
        let written = self.memory.append(append).await;
        if written.is_ok() {
            self.hub.lock().recorded(&tree, lines);
        }
        written
    }

    /// The caller hears of it, unless it died meanwhile.
    async fn tell(&self, told: Result<Appended, Error>) -> Result<Appended, Error> {
        if self.hub.lock().step() { told } else { std::future::pending().await }
    }

    /// Others may come first.
    async fn dawdle(&self) {
        let turns = {
            let mut inner = self.hub.lock();
            if inner.calm { 0 } else { inner.rng.u32(0..4) }
        };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

impl Journal for Shaky {
    async fn append(&self, append: Append) -> Result<Appended, Error> {
        match self.fate() {
            Fate::Never => std::future::pending().await,
            Fate::Full => Err(full()),
            Fate::Refused => Err(Error::Invalid { what: "this".to_owned() }),
            Fate::Forgotten => {
                let seq = append.expected_seq + append.events.len() as u64;
                Ok(Appended { seq, position: seq })
            }
            Fate::Written => {
                let told = self.write(append).await;
                self.tell(told).await
            }
            Fate::WrittenLate(later) => {
                // Nobody lets it go when the engine dies.
                if later.await.is_err() || self.hub.lock().dead {
                    return std::future::pending().await;
                }
                let told = self.write(append).await;
                self.tell(told).await
            }
            Fate::ToldLate(later) => {
                let told = self.write(append).await;
                if later.await.is_err() {
                    return std::future::pending().await;
                }
                self.tell(told).await
            }
        }
    }

    async fn read(&self, tree: &str, after: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        self.dawdle().await;
        self.memory.read(tree, after, limit).await
    }

    async fn read_all(&self, after: u64, limit: usize) -> Result<Vec<(String, Entry)>, Error> {
        self.memory.read_all(after, limit).await
    }

    async fn open_trees(&self, after: &str, limit: usize) -> Result<Vec<String>, Error> {
        // Small pages, so that they are turned.
        self.memory.open_trees(after, limit.min(2)).await
    }

    async fn delegation(&self, id: &str) -> Result<Option<Delegation>, Error> {
        self.dawdle().await;
        self.memory.delegation(id).await
    }

    async fn active(&self, page: Page) -> Result<Vec<Delegation>, Error> {
        self.memory.active(page).await
    }

    async fn history(&self, past: Past) -> Result<PastPage, Error> {
        self.memory.history(past).await
    }

    async fn delegation_of_key(&self, scope: &str, key: &str) -> Result<Option<String>, Error> {
        let known = self.memory.delegation_of_key(scope, key).await;
        self.dawdle().await;
        known
    }

    async fn forget(&self, tree: &str) -> Result<bool, Error> {
        self.memory.forget(tree).await
    }

    async fn forget_before(&self, time: i64) -> Result<u64, Error> {
        self.memory.forget_before(time).await
    }
}
