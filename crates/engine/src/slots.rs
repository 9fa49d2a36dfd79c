//! The slots of the whole engine, shared fairly between its trees.
//!
//! A tree takes a slot if one is free and nobody waits; else it waits in line, and
//! whoever goes on with an answer it has waited for stands before everybody who
//! starts something new. A slot that is free goes to the first in line.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use legation_core::ids::DelegationId;
use tokio::sync::Notify;

/// Slots and who waits for them.
#[derive(Debug)]
pub(crate) struct Slots {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    total: u32,
    taken: u32,
    urgent: VecDeque<Waiter>,
    line: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    tree: DelegationId,
    bell: Arc<Bell>,
}

/// How a tree is told that a slot was put aside for it.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    granted: std::sync::atomic::AtomicU32,
    notify: Notify,
}

impl Bell {
    /// Waits until a slot was put aside.
    pub(crate) async fn rung(&self) {
        self.notify.notified().await;
    }

    /// Takes the slots that were put aside.
    pub(crate) fn granted(&self) -> u32 {
        self.granted.swap(0, std::sync::atomic::Ordering::AcqRel)
    }

    fn ring(&self) {
        self.granted.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        self.notify.notify_one();
    }
}

impl Slots {
    pub(crate) fn new(total: u32) -> Self {
        let inner =
            Inner { total: total.max(1), taken: 0, urgent: VecDeque::new(), line: VecDeque::new() };
        Self { inner: Mutex::new(inner) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing is left half done by what is done under this lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Slots that are free now.
    pub(crate) fn free(&self) -> u32 {
        let inner = self.lock();
        inner.total.saturating_sub(inner.taken)
    }

    /// Another total; what is taken beyond it comes back by itself.
    pub(crate) fn resize(&self, total: u32) {
        let mut inner = self.lock();
        inner.total = total.max(1);
        inner.serve();
    }

    /// Takes a slot if one is free and nobody stands in line before.
    pub(crate) fn take(&self, urgent: bool) -> bool {
        let mut inner = self.lock();
        let first = inner.urgent.is_empty() && (urgent || inner.line.is_empty());
        let free = first && inner.taken < inner.total;
        inner.taken += u32::from(free);
        free
    }

    /// Counts slots as taken that a tree held before the engine started again.
    pub(crate) fn hold(&self, count: u32) {
        self.lock().taken += count;
    }

    /// Gives slots back.
    pub(crate) fn give(&self, count: u32) {
        let mut inner = self.lock();
        inner.taken = inner.taken.saturating_sub(count);
        inner.serve();
    }

    /// Gets in line, once.
    pub(crate) fn wait(&self, tree: &DelegationId, bell: &Arc<Bell>, urgent: bool) {
        let mut inner = self.lock();
        let line = if urgent { &mut inner.urgent } else { &mut inner.line };
        if !line.iter().any(|waiter| waiter.tree == *tree) {
            line.push_back(Waiter { tree: tree.clone(), bell: bell.clone() });
        }
        inner.serve();
    }

    /// Leaves the line.
    pub(crate) fn leave(&self, tree: &DelegationId) {
        let mut inner = self.lock();
        inner.urgent.retain(|waiter| waiter.tree != *tree);
        inner.line.retain(|waiter| waiter.tree != *tree);
    }
}

impl Inner {
    /// Puts free slots aside for those who wait, one each in turn.
    fn serve(&mut self) {
        while self.taken < self.total {
            let Some(next) = self.urgent.pop_front().or_else(|| self.line.pop_front()) else {
                return;
            };
            self.taken += 1;
            next.bell.ring();
        }
    }
}
