//! The real engine in a world that is not real.
//!
//! Engine, actors, slots and recovery are those that ship; clock, chance, journal
//! and processes are made up here, and follow from the seed. A life lasts from the
//! start of an engine to its crash, which may fall between any two things it does.
//! What it had in mind is gone then; what is written down, and the processes that
//! survive, are found by the next one. Nothing here waits for real time.

mod calls;
mod driver;
mod hub;
mod journal;
mod letters;
mod people;
mod processes;
mod promises;
mod world;

use std::sync::Arc;

use legation_store::Memory;

use crate::check::Broken;
use crate::world::Outcome;
use driver::{Ending, Life};
use hub::Hub;
use legation_core::tree::Event;
use std::collections::BTreeMap;

/// The engine as it is driven here.
type Engine = legation_engine::Engine<journal::Shaky, world::Fake>;

/// What is wrong with a world on purpose, so that the properties can be seen to fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// The first end of an attempt is never reported.
    LosesAnEnd,
    /// One append is acknowledged and never written.
    LosesAnAppend,
    /// Everything that is to be started is started twice.
    StartsTwice,
    /// The engine believes it may run one attempt more than it may.
    TooWide,
    /// Processes tell of their end and go on.
    OutlivesItsEnd,
}

/// Runs one seed: the outcome, or the property it broke and what happened so far.
pub fn run(seed: u64) -> Result<Outcome, (Broken, Vec<String>)> {
    run_flawed(seed, Flaw::None)
}

/// Runs one seed in a world that has something wrong with it.
pub fn run_flawed(seed: u64, flaw: Flaw) -> Result<Outcome, (Broken, Vec<String>)> {
    let hub = Arc::new(Hub::new(seed, flaw));
    let memory = Arc::new(Memory::new());
    let mut crashes = 0;
    let mut steps = 0;
    loop {
        let built = tokio::runtime::Builder::new_current_thread().build();
        let runtime = match built {
            Ok(runtime) => runtime,
            Err(problem) => {
                let broken = Broken::new("a runtime can be built", problem.to_string());
                return Err((broken, Vec::new()));
            }
        };
        let mut life = Life::new(&hub, &memory, crashes);
        let ending = runtime.block_on(life.live());
        steps += life.steps;
        // All tasks go with it, wherever they are.
        drop(runtime);
        let mut inner = hub.lock();
        if let Some(broken) = inner.broken.take() {
            return Err((broken, std::mem::take(&mut inner.log)));
        }
        match ending {
            Ending::Over => {
                let log = std::mem::take(&mut inner.log);
                let events = log.iter().filter_map(|line| serde_json::from_str::<Event>(line).ok());
                let mut kinds = BTreeMap::new();
                for event in events {
                    *kinds.entry(event.body.kind()).or_default() += 1;
                }
                return Ok(Outcome { steps, crashes, log, kinds });
            }
            Ending::Crashed => {
                crashes += 1;
                inner.crashed();
            }
        }
    }
}
