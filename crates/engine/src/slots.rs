//! The slots of the whole engine, shared fairly between its trees.
//!
//! A tree takes a slot if one is free and nobody waits; else it waits in line, and
//! whoever goes on with an answer it has waited for stands before everybody who
//! starts something new. A slot that is free goes to the first in line. While the
//! engine comes back nobody gets one, until every tree has said what it still holds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    shut: bool,
    urgent: VecDeque<Arc<Bell>>,
    line: VecDeque<Arc<Bell>>,
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
        let (urgent, line) = (VecDeque::new(), VecDeque::new());
        let inner = Inner { total: total.max(1), taken: 0, shut: false, urgent, line };
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
        let free = first && !inner.shut && inner.taken < inner.total;
        inner.taken += u32::from(free);
        free
    }

    /// Counts slots as taken that a tree held before the engine started again.
    pub(crate) fn hold(&self, count: u32) {
        self.lock().taken += count;
    }

    /// Gives none away until `open` says so.
    pub(crate) fn shut(&self) {
        self.lock().shut = true;
    }

    /// Gives slots away again.
    pub(crate) fn open(&self) {
        let mut inner = self.lock();
        inner.shut = false;
        inner.serve();
    }

    /// Gives slots back.
    pub(crate) fn give(&self, count: u32) {
        let mut inner = self.lock();
        inner.taken = inner.taken.saturating_sub(count);
        inner.serve();
    }

    /// Gets in line, once.
    pub(crate) fn wait(&self, bell: &Arc<Bell>, urgent: bool) {
        let mut inner = self.lock();
        let line = if urgent { &mut inner.urgent } else { &mut inner.line };
        if !line.iter().any(|waiter| Arc::ptr_eq(waiter, bell)) {
            line.push_back(bell.clone());
        }
        inner.serve();
    }

    /// Leaves the line. Another desk of the same tree may stand there already, with a
    /// bell of its own.
    pub(crate) fn leave(&self, bell: &Arc<Bell>) {
        let mut inner = self.lock();
        inner.urgent.retain(|waiter| !Arc::ptr_eq(waiter, bell));
        inner.line.retain(|waiter| !Arc::ptr_eq(waiter, bell));
    }
}

impl Inner {
    /// Puts free slots aside for those who wait, one each in turn.
    fn serve(&mut self) {
        while !self.shut && self.taken < self.total {
            let Some(next) = self.urgent.pop_front().or_else(|| self.line.pop_front()) else {
                return;
            };
            self.taken += 1;
            next.ring();
        }
    }
}
