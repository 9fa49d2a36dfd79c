//! Deleting and cleaning what nobody waits for, on a thread of its own.
//!
//! Whatever is deleted here was moved out of the way before. What a crash leaves
//! undone is found in the same place at the next start.

use std::fmt::{self, Debug, Formatter};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::process::setpriority_process;

/// Things that wait to be done; whoever brings one more does it.
const MAX_WAITING: usize = 1024;

/// How far behind everybody else whoever is in no hurry comes, as the kernel counts it.
const NO_HURRY: i32 = 10;

/// Something that may be done later, or never.
type Chore = Box<dyn FnOnce() + Send>;

/// Where chores go.
#[derive(Default)]
pub(super) struct Sweeper {
    is_in_no_hurry: bool,
    at_work: Mutex<Option<(SyncSender<Chore>, JoinHandle<()>)>>,
}

impl Sweeper {
    /// One whose chores nobody ever waits for.
    pub(super) fn in_no_hurry() -> Self {
        Self { is_in_no_hurry: true, at_work: Mutex::default() }
    }

    /// Does a chore sometime soon.
    pub(super) fn take(&self, chore: impl FnOnce() + Send + 'static) {
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        if at_work.is_none() {
            let (sender, chores) = sync_channel(MAX_WAITING);
            let thread = thread::Builder::new().name("sweeper".into());
            let is_in_no_hurry = self.is_in_no_hurry;
            let thread = thread.spawn(move || sweep(&chores, is_in_no_hurry));
            *at_work = thread.ok().map(|thread| (sender, thread));
        }
        let chore: Chore = Box::new(chore);
        let rejected = match at_work.as_ref() {
            Some((sender, _)) => match sender.try_send(chore) {
                Ok(()) => return,
                Err(TrySendError::Full(chore) | TrySendError::Disconnected(chore)) => chore,
            },
            None => chore,
        };
        drop(at_work);
        rejected();
    }
}

fn sweep(chores: &Receiver<Chore>, is_in_no_hurry: bool) {
    if is_in_no_hurry {
        // Of this thread alone. Where it cannot be, it only takes from others.
        setpriority_process(None, NO_HURRY).ok();
    }
    for chore in chores {
        chore();
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        let at_work = self.at_work.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = at_work {
            drop(sender);
            drop(thread.join());
        }
    }
}

impl Debug for Sweeper {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Sweeper")
    }
}
