//! The conversations that go on over the socket at once, and how many of them are whose.
//!
//! Each is counted from when its connection is taken, before anything is heard. Attempts have a
//! small number each, and all of them together never so many that nobody else gets in: their
//! user has to be able to stop them. Nothing waits here: whoever is over the limit is told so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use legation_core::ids::AttemptId;
use rustc_hash::FxHashMap;

/// Conversations that go on at once, where there are descriptors for so many.
pub const MAX_TALKS: usize = 4096;
/// Conversations that one attempt may have at once.
pub const MAX_TALKS_OF_ATTEMPT: usize = 64;
/// Conversations at once of attempts that nobody has named yet: they have not spoken, and the
/// engine has just come back or they are another project's.
pub const MAX_UNNAMED_TALKS: usize = 512;
/// One in so many conversations is kept for callers from outside.
const KEPT_FOR_OUTSIDE: usize = 4;

/// Whose a conversation is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Somebody's outside.
    Outside,
    /// This attempt's.
    Attempt(AttemptId),
    /// Some attempt's that has not said which it is.
    Unnamed,
    /// Of somebody who had ended before anybody could look.
    Unknown,
}

/// Why there is no room for another conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The attempt has all that it may have.
    #[error("The attempt has {0} conversations with the engine, as many as it may have.")]
    Attempt(usize),
    /// All attempts together have all that they may have.
    #[error("Attempts have {0} conversations with the engine, as many as they may have.")]
    Attempts(usize),
    /// The engine has all that it can have.
    #[error("The engine has {0} conversations, as many as it can have.")]
    Engine(usize),
}

/// The conversations that go on.
#[derive(Debug)]
pub struct Talks {
    most: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    inside: usize,
    by_side: FxHashMap<Side, usize>,
}

/// A conversation that goes on until this is dropped.
#[derive(Debug)]
pub struct Talk {
    talks: Arc<Talks>,
    side: Side,
}

impl Talks {
    /// Room for so many at once.
    #[must_use]
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, counts: Mutex::default() })
    }

    /// One more, if there is room for it.
    pub fn begin(self: &Arc<Self>, side: Side) -> Result<Talk, Full> {
        self.counts().add(&side, self.most)?;
        Ok(Talk { talks: self.clone(), side })
    }

    /// Whether nobody talks.
    pub fn is_empty(&self) -> bool {
        self.counts().all == 0
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Talk {
    /// It has turned out to be this attempt's.
    pub fn is_of(&mut self, attempt: &AttemptId) -> Result<(), Full> {
        let side = Side::Attempt(attempt.clone());
        if side == self.side {
            return Ok(());
        }
        let mut counts = self.talks.counts();
        // It makes room for itself before it takes any.
        counts.take(&self.side);
        let moved = counts.add(&side, self.talks.most);
        if moved.is_err() {
            counts.put(&self.side);
        } else {
            self.side = side;
        }
        moved
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.talks.counts().take(&self.side);
    }
}

impl Counts {
    fn add(&mut self, side: &Side, most: usize) -> Result<(), Full> {
        let own = self.by_side.get(side).copied().unwrap_or_default();
        let inside = most - most / KEPT_FOR_OUTSIDE;
        match side {
            Side::Attempt(_) if own >= MAX_TALKS_OF_ATTEMPT => {
                return Err(Full::Attempt(MAX_TALKS_OF_ATTEMPT));
            }
            Side::Unnamed if own >= MAX_UNNAMED_TALKS => {
                return Err(Full::Attempts(MAX_UNNAMED_TALKS));
            }
            // An attempt can make as many of these as it likes, and shall be in nobody's way.
            Side::Unknown if own >= MAX_TALKS_OF_ATTEMPT => {
                return Err(Full::Attempts(MAX_TALKS_OF_ATTEMPT));
            }
            Side::Attempt(_) | Side::Unnamed | Side::Unknown if self.inside >= inside => {
                return Err(Full::Attempts(inside));
            }
            Side::Outside | Side::Attempt(_) | Side::Unnamed | Side::Unknown => {}
        }
        if self.all >= most {
            return Err(Full::Engine(most));
        }
        self.put(side);
        Ok(())
    }

    fn put(&mut self, side: &Side) {
        self.all += 1;
        self.inside += usize::from(*side != Side::Outside);
        *self.by_side.entry(side.clone()).or_default() += 1;
    }

    fn take(&mut self, side: &Side) {
        self.all -= 1;
        self.inside -= usize::from(*side != Side::Outside);
        let left = self.by_side.get_mut(side).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if left == 0 {
            self.by_side.remove(side);
        }
    }
}
