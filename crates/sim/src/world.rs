//! A world: a tree, its children, the people around it, and a clock.

mod acts;

use std::collections::BTreeMap;

use fastrand::Rng;
use legation_core::ids::{AttemptId, DelegationId};
use legation_core::time::Now;
use legation_core::tree::command::{Caller, Command};
use legation_core::tree::event::{Event, Settings};
use legation_core::tree::{Effect, Rejection, State, decide, evolve, owed};

use crate::check::{self, Broken};
use crate::child::Child;
use crate::plan;

/// Steps in which anything may happen, before things calm down.
const WILD_STEPS: u64 = 400;
/// Steps in which all must come to an end.
const CALM_STEPS: u64 = 5_000;
/// Consequences of one command.
const MAX_ADVANCES: u32 = 2_000;

/// How a seed went.
pub struct Outcome {
    /// Steps taken.
    pub steps: u64,
    /// Crashes survived.
    pub crashes: u64,
    /// The log, a line an event.
    pub log: Vec<String>,
    /// How often each kind of event occurred.
    pub kinds: BTreeMap<&'static str, u64>,
}

struct World {
    rng: Rng,
    now: Now,
    state: State,
    settings: Settings,
    events: Vec<Event>,
    written: Vec<String>,
    children: BTreeMap<AttemptId, Child>,
    inbox: Vec<Command>,
    ids: u64,
    crashes: u64,
    calm: bool,
    /// From 0, where all goes well, to 4.
    wildness: u32,
}

/// Runs one seed: the outcome, or the property it broke and the log so far.
pub fn run(seed: u64) -> Result<Outcome, (Broken, Vec<String>)> {
    let mut rng = Rng::with_seed(seed);
    let settings = plan::settings(&mut rng);
    let wildness = rng.u32(0..5);
    let mut world = World {
        rng,
        now: Now(1_700_000_000_000),
        state: State::default(),
        settings,
        events: Vec::new(),
        written: Vec::new(),
        children: BTreeMap::new(),
        inbox: Vec::new(),
        ids: 0,
        crashes: 0,
        calm: false,
        wildness,
    };
    match world.live() {
        Ok(steps) => {
            let mut kinds = BTreeMap::new();
            for event in &world.events {
                *kinds.entry(event.body.kind()).or_default() += 1;
            }
            Ok(Outcome { steps, crashes: world.crashes, log: world.written, kinds })
        }
        Err(broken) => Err((broken, world.written)),
    }
}

impl World {
    fn live(&mut self) -> Result<u64, Broken> {
        let root = Caller::Root { name: "user".into(), depth: self.rng.u32(0..2) };
        let delegate = plan::delegate(&mut self.rng, 0, root, &self.settings);
        self.apply(&Command::Delegate(Box::new(delegate)))?;
        if self.state.settings.is_none() {
            // Refused: nothing may have been recorded.
            return Ok(1);
        }
        let mut steps = 0;
        while steps < WILD_STEPS && !self.state.is_over() {
            self.step()?;
            steps += 1;
        }
        self.calm = true;
        while !self.state.is_over() {
            if !self.calm_step()? {
                let detail = format!("after {steps} steps; owed {:?}", owed(&self.state));
                return Err(Broken::new("nothing waits for ever", detail));
            }
            steps += 1;
            if steps > WILD_STEPS + CALM_STEPS {
                return Err(Broken::new("everything comes to an end", format!("{steps} steps")));
            }
        }
        check::log(&self.state, &self.events, true)?;
        check::replayed(&self.state, &self.written)?;
        Ok(steps)
    }

    /// Records what a command means, and all that follows from it.
    fn apply(&mut self, command: &Command) -> Result<(), Broken> {
        self.record(command)?;
        let mut advances = 0;
        while self.state.must_advance() {
            let before = self.events.len();
            self.record(&Command::Advance)?;
            advances += 1;
            if self.events.len() == before || advances > MAX_ADVANCES {
                return Err(Broken::new("what must advance advances", format!("{command:?}")));
            }
        }
        check::always(&self.state)
    }

    fn record(&mut self, command: &Command) -> Result<(), Broken> {
        let events = match decide(&self.state, command, self.now) {
            Ok(events) => events,
            Err(Rejection::Refused(_) | Rejection::Same(_) | Rejection::Stale) => return Ok(()),
        };
        for event in events {
            let line = serde_json::to_string(&event);
            let line =
                line.map_err(|e| Broken::new("every event can be written", e.to_string()))?;
            let seq = self.state.seq;
            evolve(&mut self.state, &event);
            if self.state.seq != seq + 1 {
                return Err(Broken::new("every decided event fits", line));
            }
            self.written.push(line);
            self.events.push(event);
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Broken> {
        // The wilder the world, the more often somebody or something interferes.
        match self.rng.u32(0..70 + 6 * self.wildness) {
            0..25 => self.act(),
            25..50 => self.hear(),
            50..70 => self.child_acts(),
            n if n % 6 < 3 => self.person_acts(),
            n if n % 6 < 5 => self.time_passes(),
            _ => self.crash(),
        }
    }

    /// When the tree wants to be woken.
    fn wake(&self) -> Option<Now> {
        owed(&self.state).into_iter().find_map(|effect| {
            let Effect::Wake(at) = effect else { return None };
            Some(at)
        })
    }

    /// The children that wait for nobody, so that answers reach those who asked.
    fn done_with_asking(&self) -> Vec<AttemptId> {
        let waits = |id: &&AttemptId| {
            let no = self.state.find_attempt(id);
            no.is_some_and(|no| self.state.attempts[no].open_children > 0)
        };
        self.children.keys().filter(|id| !waits(id)).cloned().collect()
    }

    /// Everything that can be done is done, and nobody interferes. Answers whether anything was.
    fn calm_step(&mut self) -> Result<bool, Broken> {
        let seq = self.state.seq;
        while !self.inbox.is_empty() {
            self.hear()?;
        }
        let paused = self.state.delegations.iter().find(|(_, d)| d.paused.is_some());
        if let Some(delegation) = paused.map(|(_, d)| d.id.clone()) {
            self.apply(&Command::Resume { delegation })?;
        }
        for effect in owed(&self.state) {
            self.perform(effect)?;
        }
        for id in self.done_with_asking() {
            self.finish(&id);
        }
        let asking: Vec<DelegationId> = self
            .state
            .delegations
            .iter()
            .filter(|(_, d)| d.ended.is_none())
            .map(|(_, d)| d.id.clone())
            .collect();
        for delegation in asking {
            self.approve(delegation)?;
        }
        if self.state.seq > seq || !self.inbox.is_empty() {
            return Ok(true);
        }
        let wake = self.wake();
        let Some(at) = wake else { return Ok(false) };
        self.now = self.now.max(at);
        self.apply(&Command::Tick)?;
        Ok(self.state.seq > seq)
    }
}
