//! What happens in the life of an engine, one thing after another.

use std::sync::Arc;

use legation_core::tree::owed;
use legation_engine::Options;
use legation_store::Memory;

use super::hub::Hub;
use super::journal::Shaky;
use super::world::Fake;
use super::{Engine, Flaw, calls, people, promises};
use crate::plan::one_in;

/// Engines that die in one run.
const MAX_CRASHES: u64 = 4;
/// Steps of a life in which anything may happen.
const WILD_STEPS: u64 = 150;
/// Steps in which all must come to an end.
const CALM_STEPS: u64 = 4_000;
/// Steps an engine is watched after its journal has failed.
const STEPS_AFTER_FAILURE: u64 = 20;
/// Turns after which every task has done what it can.
const TURNS: u32 = 64;

/// How a life ends.
pub(super) enum Ending {
    /// The engine died.
    Crashed,
    /// Everything has come to its end, or a property does not hold.
    Over,
}

/// One engine, from its start to its end.
pub(super) struct Life {
    hub: Arc<Hub>,
    memory: Arc<Memory>,
    engine: Engine,
    /// Steps taken.
    pub(super) steps: u64,
}

impl Life {
    pub(super) fn new(hub: &Arc<Hub>, memory: &Arc<Memory>, crashes: u64) -> Self {
        let mut inner = hub.lock();
        if crashes < MAX_CRASHES && inner.wildness > 0 && !one_in(&mut inner.rng, 4) {
            inner.left = Some(inner.rng.u64(1..300));
        }
        let width = inner.width + u32::from(inner.flaw == Flaw::TooWide);
        drop(inner);
        let world = Arc::new(Fake::new(hub.clone()));
        let journal = Shaky::new(hub.clone(), memory.clone());
        let engine = Engine::new(journal, world, Options { width, logs: None });
        Self { hub: hub.clone(), memory: memory.clone(), engine, steps: 0 }
    }

    pub(super) async fn live(&mut self) -> Ending {
        let held = promises::held(&self.hub, &self.memory).await;
        let serving = {
            let mut inner = self.hub.lock();
            inner.say("an engine starts");
            inner.check_held(&held);
            inner.rng.bool()
        };
        if self.engine.recover(serving).await.is_err() {
            self.hub.lock().fail("what is written down can be read", "");
        }
        let wild = self.hub.lock().rng.u64(0..WILD_STEPS);
        for _ in 0..wild {
            if let Some(ending) = self.ending() {
                return ending;
            }
            if self.engine.failure().is_some() {
                return self.live_on_failed().await;
            }
            self.steps += 1;
            self.step().await;
            self.turns().await;
        }
        self.calm_down().await
    }

    fn ending(&self) -> Option<Ending> {
        let inner = self.hub.lock();
        match (&inner.broken, inner.dead) {
            (Some(_), _) => Some(Ending::Over),
            (None, true) => Some(Ending::Crashed),
            (None, false) => None,
        }
    }

    /// Others have their turns.
    async fn turns(&self) {
        let turns = {
            let mut inner = self.hub.lock();
            inner.rng.u32(0..6)
        };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    async fn all_turns(&self) {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    }

    /// Something happens.
    async fn step(&self) {
        let (what, empty) = {
            let mut inner = self.hub.lock();
            let most = 60 + 6 * inner.wildness;
            (inner.rng.u32(0..most), inner.trees.is_empty())
        };
        match what {
            _ if empty && what % 2 == 0 => people::delegate(&self.hub, &self.engine),
            0..20 => drop(self.hub.deliver().await),
            20..44 => self.process_acts(),
            44..49 => self.release(),
            49 => people::delegate(&self.hub, &self.engine),
            50..53 => people::look(&self.hub, &self.engine),
            53 => people::wait_for_one(&self.hub, &self.engine),
            54..60 => self.time_passes(),
            n if n % 3 < 2 => {
                let wish = self.hub.lock().interference();
                if let Some(wish) = wish {
                    people::command(&self.hub, &self.engine, wish);
                }
            }
            _ => self.time_passes(),
        }
    }

    fn process_acts(&self) {
        let caller = self.hub.lock().process_acts();
        if let Some(attempt) = caller {
            calls::begin(&self.hub, &self.engine, &attempt);
        }
    }

    /// A slow append goes on.
    fn release(&self) {
        let mut inner = self.hub.lock();
        let count = inner.slow.len();
        let at = inner.rng.usize(0..count.max(1));
        if at < count {
            // Whoever has gone does not wait for it.
            let _ = inner.slow.swap_remove(at).send(());
        }
    }

    /// A little, up to the next alarm, a long time, or backwards.
    fn time_passes(&self) {
        let now = {
            let mut inner = self.hub.lock();
            let (now, wake) = (inner.now, inner.wake());
            match (inner.rng.u32(0..24), wake) {
                (0, _) => legation_core::time::Now(now.0.saturating_sub(inner.rng.u64(0..100_000))),
                (1, _) => now.plus_ms(inner.rng.u64(0..900_000)),
                (2..4, Some(at)) => now.max(at),
                _ => now.plus_ms(inner.rng.u64(0..3_000)),
            }
        };
        self.hub.set_clock(now);
    }

    /// The journal takes nothing more: nothing is acknowledged, and nobody is left waiting.
    async fn live_on_failed(&mut self) -> Ending {
        for _ in 0..STEPS_AFTER_FAILURE {
            if let Some(ending) = self.ending() {
                return ending;
            }
            self.steps += 1;
            self.step().await;
            self.turns().await;
        }
        self.hub.lock().left = None;
        for _ in 0..4 {
            self.release_all();
            self.all_turns().await;
        }
        let mut inner = self.hub.lock();
        if inner.waiting > 0 && !inner.dead {
            let detail = format!("{} wait", inner.waiting);
            inner.fail("nobody waits for an engine that has failed", detail);
        }
        inner.say("somebody makes room");
        Ending::Crashed
    }

    fn release_all(&self) {
        for slow in std::mem::take(&mut self.hub.lock().slow) {
            let _ = slow.send(());
        }
    }

    /// Nobody interferes: everything comes to its end.
    async fn calm_down(&mut self) -> Ending {
        {
            let mut inner = self.hub.lock();
            inner.calm = true;
            inner.left = None;
            inner.say("calm");
        }
        for _ in 0..CALM_STEPS {
            self.steps += 1;
            if let Some(ending) = self.ending() {
                return ending;
            }
            if self.engine.failure().is_some() {
                self.hub.lock().calm = false;
                return self.live_on_failed().await;
            }
            let before = self.hub.lock().moves;
            self.calm_step().await;
            let (moved, over, wake) = {
                let inner = self.hub.lock();
                let wake = inner.wake().filter(|at| *at > inner.now);
                (inner.moves != before, inner.all_over(), wake)
            };
            if moved {
                continue;
            }
            if over {
                return self.end().await;
            }
            let Some(at) = wake else {
                self.stuck();
                return Ending::Over;
            };
            self.hub.set_clock(at);
        }
        self.hub.lock().fail("everything comes to an end", format!("{} steps", self.steps));
        Ending::Over
    }

    async fn calm_step(&self) {
        self.release_all();
        while self.hub.deliver().await {}
        self.all_turns().await;
        let callers = self.hub.lock().processes_finish();
        for attempt in callers {
            calls::begin(&self.hub, &self.engine, &attempt);
        }
        let chores = self.hub.lock().chores();
        for chore in chores {
            people::command(&self.hub, &self.engine, chore);
        }
        self.all_turns().await;
    }

    fn stuck(&self) {
        let mut inner = self.hub.lock();
        let open = inner.trees.iter().filter(|(_, tree)| !tree.state.is_over());
        let open: Vec<String> =
            open.map(|(id, tree)| format!("{id} owes {:?}", owed(&tree.state))).collect();
        inner.fail("nothing waits for ever", open.join("; "));
    }

    /// All is over: what must hold then.
    async fn end(&self) -> Ending {
        let trees: Vec<_> = self.hub.lock().trees.keys().cloned().collect();
        for tree in trees {
            people::look_at(&self.hub, &self.engine, tree);
            self.all_turns().await;
        }
        let held = promises::held(&self.hub, &self.memory).await;
        let (free, busy) = (self.engine.free_slots(), self.engine.is_busy());
        let mut inner = self.hub.lock();
        inner.check_held(&held);
        inner.check_all();
        if inner.waiting > 0 {
            let detail = format!("{} callers heard nothing", inner.waiting);
            inner.fail("every caller is answered", detail);
        }
        if free != inner.width + u32::from(inner.flaw == Flaw::TooWide) {
            let detail = format!("{free} of {} are free", inner.width);
            inner.fail("no slot is lost", detail);
        }
        if busy {
            inner.fail("an engine with nothing to do is not busy", "");
        }
        Ending::Over
    }
}
