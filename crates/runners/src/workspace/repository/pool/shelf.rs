//! The checkouts that wait, as this process knows them, and the thread that cleans them.
//!
//! That one is clean is known only to the process that cleaned it, and never on record:
//! whoever comes after a crash looks at each of them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::super::super::folders::Moment;
use super::super::super::sweeper::Sweeper;
use super::super::super::turn;
use super::clean::{Cleaner, Pooled};

/// How a checkout is called while it is being cleaned.
pub(super) const BUSY: &str = "busy";

/// How far a checkout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Nothing has changed in it since then.
    Clean(Moment),
    /// Somebody has used it, or may have.
    Used,
    /// It is somebody else's now.
    Gone,
}

/// A checkout that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) folder: PathBuf,
    pub(super) commit: String,
    view: String,
    /// Held by whoever cleans it.
    stage: Mutex<Stage>,
}

impl Waiting {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes it from whoever else might want it, once it is not being cleaned any more.
    pub(super) fn taken(&self) -> Stage {
        std::mem::replace(&mut self.stage(), Stage::Gone)
    }

    /// The sooner it can be used, the smaller.
    fn rank(&self, base: &str) -> (bool, u8) {
        let waits = match self.stage.try_lock() {
            Ok(stage) if matches!(*stage, Stage::Clean(_)) => 0,
            // Half of it is done already.
            Err(TryLockError::WouldBlock) => 1,
            Ok(_) | Err(TryLockError::Poisoned(_)) => 2,
        };
        // Those that need no other files come first.
        (self.commit != base, waits)
    }

    /// Cleans it, unless somebody has taken it or it is clean.
    fn tend(&self, cleaner: &Cleaner, state: &Path) {
        let mut stage = self.stage();
        if *stage != Stage::Used {
            return;
        }
        // Nobody clears up meanwhile, and under this name nobody else takes it.
        let Ok(_turn) = turn::together(state) else { return };
        let busy = self.folder.with_extension(BUSY);
        if fs::rename(&self.folder, &busy).is_err() {
            *stage = Stage::Gone;
            return;
        }
        let cleaned = cleaner.clean(&busy);
        *stage = match (fs::rename(&busy, &self.folder), cleaned) {
            (Ok(()), Ok(settled)) => Stage::Clean(settled),
            // Whoever wants it tries again, and finds out what is wrong with it.
            (Ok(()), Err(_)) => Stage::Used,
            (Err(_), _) => Stage::Gone,
        };
    }
}

/// All that wait.
#[derive(Debug, Default)]
pub(in super::super) struct Shelf {
    waiting: Mutex<BTreeMap<PathBuf, Arc<Waiting>>>,
    is_over: Arc<AtomicBool>,
    sweeper: Sweeper,
}

impl Shelf {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a checkout on the shelf, if it is not there, and has it cleaned.
    pub(super) fn put(&self, folder: &Path, (cleaner, state): (&Cleaner, &Path)) {
        let mut all = self.waiting();
        if all.contains_key(folder) {
            return;
        }
        let Some(Pooled { commit, view, settled: _ }) = Pooled::of(folder) else { return };
        let (folder, stage) = (folder.to_owned(), Mutex::new(Stage::Used));
        let waiting = Arc::new(Waiting { folder: folder.clone(), commit, view, stage });
        all.insert(folder, Arc::clone(&waiting));
        drop(all);
        let (cleaner, state) = (cleaner.clone(), state.to_owned());
        let is_over = Arc::clone(&self.is_over);
        self.sweeper.take(move || {
            // Who comes after us believes nobody, so that it would be for nothing.
            if !is_over.load(Ordering::Relaxed) {
                waiting.tend(&cleaner, &state);
            }
        });
    }

    /// Takes from the shelf what can be used soonest for a base.
    pub(super) fn pick(&self, base: &str, view: &str) -> Option<Arc<Waiting>> {
        let mut all = self.waiting();
        let fitting = all.values().filter(|waiting| waiting.view == view);
        let best = fitting.min_by_key(|waiting| waiting.rank(base))?.folder.clone();
        all.remove(&best)
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
