//! What outlives an engine: clock, chance, the log as it was written, the processes,
//! and what was promised to whom.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use legation_core::ids::{AttemptId, DelegationId};
use legation_core::time::Now;
use legation_core::tree::event::Event;
use legation_core::tree::{AttemptNo, Effect, State, evolve, owed};
use tokio::sync::{Notify, oneshot};

use super::Flaw;
use super::letters::Letter;
use super::processes::Process;
use super::promises::Promises;
use crate::check::{self, Broken};

/// Shared by the driver, the journal and the world.
pub(super) struct Hub {
    inner: Mutex<Inner>,
    /// The clock was moved.
    pub(super) moved: Notify,
}

/// A tree as the journal has it.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) state: State,
    pub(super) events: Vec<Event>,
    pub(super) lines: Vec<String>,
}

/// What the hub knows.
pub(super) struct Inner {
    pub(super) rng: Rng,
    pub(super) now: Now,
    pub(super) flaw: Flaw,
    /// From 0, where all goes well, to 4.
    pub(super) wildness: u32,
    /// Attempts that may run at once.
    pub(super) width: u32,
    /// The first property that did not hold.
    pub(super) broken: Option<Broken>,
    /// Things the engine may still do before it dies; absent if it will not.
    pub(super) left: Option<u64>,
    /// The engine has died: nothing it does has any effect.
    pub(super) dead: bool,
    /// Nobody interferes any more.
    pub(super) calm: bool,
    /// Writing has failed, and will until somebody makes room.
    pub(super) full: bool,
    /// The last append was refused.
    pub(super) refused: bool,
    pub(super) trees: BTreeMap<DelegationId, Tree>,
    pub(super) processes: BTreeMap<AttemptId, Process>,
    pub(super) letters: VecDeque<Letter>,
    /// Appends that take their time.
    pub(super) slow: Vec<oneshot::Sender<()>>,
    pub(super) promises: Promises,
    /// Callers that have not been answered.
    pub(super) waiting: u32,
    /// Grows with everything that happens.
    pub(super) moves: u64,
    pub(super) ids: u64,
    /// What happened, line by line; events are those in braces.
    pub(super) log: Vec<String>,
}

impl Hub {
    pub(super) fn new(seed: u64, flaw: Flaw) -> Self {
        let mut rng = Rng::with_seed(seed);
        let wildness = rng.u32(0..5);
        let width = rng.u32(1..=5);
        let inner = Inner {
            rng,
            now: Now(1_700_000_000_000),
            flaw,
            wildness,
            width,
            broken: None,
            left: None,
            dead: false,
            calm: false,
            full: false,
            refused: false,
            trees: BTreeMap::new(),
            processes: BTreeMap::new(),
            letters: VecDeque::new(),
            slow: Vec::new(),
            promises: Promises::default(),
            waiting: 0,
            moves: 0,
            ids: 0,
            log: Vec::new(),
        };
        Self { inner: Mutex::new(inner), moved: Notify::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // One thread; a panic ends the run anyway.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock, and wakes whoever waits for it.
    pub(super) fn set_clock(&self, now: Now) {
        self.lock().now = now;
        self.moved.notify_waiters();
    }
}

impl Inner {
    /// The engine is about to do something that can be seen. False if it died before.
    pub(super) fn step(&mut self) -> bool {
        if self.dead {
            return false;
        }
        self.moves += 1;
        match &mut self.left {
            Some(0) => {
                self.dead = true;
                self.say("the engine dies");
                false
            }
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }

    /// Adds a line to what happened.
    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.log.push(line.into());
    }

    /// A property does not hold. The first is the one to tell.
    pub(super) fn fail(&mut self, property: &'static str, detail: impl Into<String>) {
        let broken = Broken::new(property, detail);
        self.say(format!("broken: {broken}"));
        self.broken.get_or_insert(broken);
    }

    pub(super) fn hold(&mut self, result: Result<(), Broken>) {
        if let Err(broken) = result {
            self.say(format!("broken: {broken}"));
            self.broken.get_or_insert(broken);
        }
    }

    /// A name that was never used.
    pub(super) fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// Events are in the journal: they are folded, and everything that must always
    /// hold is checked.
    pub(super) fn recorded(&mut self, id: &DelegationId, lines: Vec<String>) {
        self.moves += 1;
        let mut tree = self.trees.remove(id).unwrap_or_default();
        for line in lines {
            match serde_json::from_str::<Event>(&line) {
                Ok(event) => {
                    self.note(&tree.state, &event);
                    evolve(&mut tree.state, &event);
                    tree.events.push(event);
                }
                Err(problem) => self.fail("every event reads back", problem.to_string()),
            }
            self.log.push(line.clone());
            tree.lines.push(line);
        }
        if tree.state.seq != tree.lines.len() as u64 {
            self.fail("every appended event fits", format!("in {id}"));
        }
        self.hold(check::always(&tree.state));
        self.hold(check::log(&tree.state, &tree.events, false));
        self.trees.insert(id.clone(), tree);
        let held: u32 = self.trees.values().map(|tree| tree.state.slots).sum();
        if held > self.width {
            let detail = format!("{held} slots are taken by the log, of {}", self.width);
            self.fail("no more slots are taken than there are", detail);
        }
    }

    /// The tree of an attempt, and its number there.
    pub(super) fn attempt(&self, id: &AttemptId) -> Option<(&State, AttemptNo)> {
        let mut states = self.trees.values().map(|tree| &tree.state);
        states.find_map(|state| Some((state, state.find_attempt(id)?)))
    }

    /// Whether every tree has come to its end.
    pub(super) fn all_over(&self) -> bool {
        self.trees.values().all(|tree| tree.state.is_over())
    }

    /// When the first tree wants to be woken.
    pub(super) fn wake(&self) -> Option<Now> {
        let effects = self.trees.values().flat_map(|tree| owed(&tree.state));
        let due = effects.filter_map(|effect| {
            let Effect::Wake(at) = effect else { return None };
            Some(at)
        });
        due.min()
    }

    /// The engine is gone, with everything that was on its way to it.
    pub(super) fn crashed(&mut self) {
        self.dead = false;
        self.full = false;
        self.left = None;
        self.letters.clear();
        self.slow.clear();
        self.waiting = 0;
        self.abandon_processes();
    }
}
