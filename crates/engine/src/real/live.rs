//! An attempt that is being started, runs, or is being looked at.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use legation_core::tree::event::Process;
use legation_runners::keep::Pace;
use legation_runners::supervise::Remote;
use tokio::sync::{Notify, oneshot};

/// What is wanted of an attempt, and how to reach its processes once there are any.
#[derive(Debug, Default)]
pub(super) struct Live {
    remote: Mutex<Option<(Process, Remote)>>,
    /// How its time goes by.
    pace: Mutex<Pace>,
    /// It has to stop.
    stopping: AtomicBool,
    /// Who waits for a human's word.
    asks: Mutex<Option<oneshot::Sender<bool>>>,
    /// It has handed in a return.
    pub(super) handed_in: Notify,
}

impl Live {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace: Mutex::new(pace), ..Self::default() }
    }

    /// The keeper that is reached, if there is one.
    pub(super) fn process(&self) -> Option<Process> {
        self.remote().as_ref().map(|(process, _)| *process)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// How its time goes by, as far as is known now.
    pub(super) fn pace(&self) -> Pace {
        *self.held_pace()
    }

    /// Stops it now, or as soon as there is something to stop.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        if let Some((_, remote)) = &*self.remote() {
            remote.stop();
        }
    }

    /// Lets its time go by in another way, now or as soon as there is something to reach.
    pub(super) fn set_pace(&self, change: impl FnOnce(&mut Pace)) {
        // Held until it is said, so that what is said last is what was wanted last.
        let mut pace = self.held_pace();
        change(&mut pace);
        self.say(*pace);
    }

    /// There is something to reach. It may have to stop at once, or go by another pace
    /// than it was told; nobody knows what one that was found has been told.
    pub(super) fn reach(&self, (process, remote): (Process, Remote), told: Option<Pace>) {
        let pace = self.held_pace();
        *self.remote() = Some((process, remote));
        if told != Some(*pace) {
            self.say(*pace);
        }
        drop(pace);
        if self.is_stopping() {
            self.stop();
        }
    }

    /// Waits for a human's word; nothing means that somebody does already.
    pub(super) fn ask(&self) -> Option<oneshot::Receiver<bool>> {
        let mut asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
        if asks.as_ref().is_some_and(|waiting| !waiting.is_closed()) {
            return None;
        }
        let (tell, told) = oneshot::channel();
        *asks = Some(tell);
        Some(told)
    }

    /// A human has spoken.
    pub(super) fn answer(&self, approved: bool) {
        let waiting = self.asks.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Whoever asked may have ended since.
        waiting.map(|waiting| waiting.send(approved));
    }

    fn say(&self, pace: Pace) {
        if let Some((_, remote)) = &*self.remote() {
            // A keeper whose folder is gone goes by its order, and the engine by its own
            // clock.
            let _ = remote.set_pace(pace);
        }
    }

    fn held_pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remote(&self) -> MutexGuard<'_, Option<(Process, Remote)>> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
