//! A story: a tree told by what people, children and the clock do to it.
//!
//! Every step is a real command, decided and folded together with all that
//! follows from it. What happened since the last look, what is owed and how the
//! tree stands can be asked for at any time, in words. Each look also writes the
//! log down, reads it back and replays it: a story that cannot be told twice the
//! same way fails.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a story reads better when what it is told is simply handed over"
)]

mod answer;
mod deeds;
mod people;
mod plan;
mod words;

use expect_test::Expect;
use legation_core::ids::{AttemptId, DelegationId};
use legation_core::time::Now;
use legation_core::tree::command::{Caller, Command};
use legation_core::tree::event::{Event, Settings};
use legation_core::tree::rejection::Refusal;
use legation_core::tree::{AttemptNo, DelegationNo, Rejection, State, SubtaskNo};
use legation_core::tree::{Effect, bounds, decide, evolve, owed, owed_apart, owed_slots, replay};

pub(crate) use answer::{Answer, blocked, completed, failed, partial};
pub(crate) use plan::{
    Plan, candidate, dag, debate, default_settings, direct, ensemble, parallel, review, sequential,
    streaming,
};
pub(crate) use words::usd;

/// When every story begins: the first instant of 2026.
pub(crate) const DAWN: Now = Now(1_767_225_600_000);
/// The root delegation of every story.
pub(crate) const ROOT: &str = "del-1";

/// A tree and the words about it.
pub(crate) struct Story {
    pub(crate) state: State,
    pub(crate) now: Now,
    pub(crate) log: Vec<Event>,
    lines: Vec<String>,
    last_refusal: Option<Box<Refusal>>,
}

impl Story {
    /// A user delegates, under the default bounds.
    pub(crate) fn new(plan: Plan) -> Self {
        Self::bounded(plan, |_| {})
    }

    /// A user delegates, under bounds and habits of the story's own.
    pub(crate) fn bounded(plan: Plan, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = default_settings();
        change(&mut settings);
        let mut story = Self::blank();
        let delegate = plan.settings(settings).call(ROOT, None);
        story.tell(Command::Delegate(Box::new(delegate)));
        story
    }

    /// Nothing has happened yet.
    pub(crate) fn blank() -> Self {
        let (state, log, lines) = (State::default(), Vec::new(), Vec::new());
        Self { state, now: DAWN, log, lines, last_refusal: None }
    }

    /// A command, and all that follows from it. What it was answered is part of the story.
    pub(crate) fn tell(&mut self, command: Command) -> &mut Self {
        self.record(&command);
        while self.state.must_advance() {
            let before = self.log.len();
            self.record(&Command::Advance);
            assert!(self.log.len() > before, "what must advance did not, after {command:?}");
        }
        self
    }

    fn record(&mut self, command: &Command) {
        match decide(&self.state, command, self.now) {
            Ok(events) => events.into_iter().for_each(|event| self.fold(event)),
            Err(Rejection::Stale) => self.lines.push("! stale".to_owned()),
            Err(Rejection::Same(id)) => self.lines.push(format!("! the same as {id}")),
            Err(Rejection::Refused(refusal)) => {
                self.lines.push(format!("! {} {}", refusal.code, refusal.message));
                self.last_refusal = Some(refusal);
            }
        }
    }

    fn fold(&mut self, event: Event) {
        let seq = self.state.seq;
        evolve(&mut self.state, &event);
        assert_eq!(self.state.seq, seq + 1, "a decided event does not fit: {event:?}");
        self.lines.push(words::event(&self.state, &event));
        self.log.push(event);
    }

    /// What happened since the last look.
    pub(crate) fn events(&mut self, expected: Expect) -> &mut Self {
        self.check_replay();
        expected.assert_eq(&words::block(&std::mem::take(&mut self.lines)));
        self
    }

    /// What happened so far is of no interest.
    pub(crate) fn so_far(&mut self) -> &mut Self {
        self.lines.clear();
        self
    }

    /// What the world still has to be made to do.
    pub(crate) fn owed(&mut self, expected: Expect) -> &mut Self {
        let all = owed(&self.state);
        expected.assert_eq(&words::owed(&self.state, &all));
        // Whoever asks for a part of it hears the same.
        let apart = |effect: &&Effect| !matches!(effect, Effect::Start(_) | Effect::Spawn(_));
        assert!(owed_apart(&self.state).iter().eq(all.iter().filter(apart)));
        let starts = |effects: Vec<Effect>| {
            effects.into_iter().filter(|effect| matches!(effect, Effect::Start(_)))
        };
        for most in [0, 1, usize::MAX] {
            let first = starts(owed_slots(&self.state, most));
            assert!(first.eq(starts(all.clone()).take(most)), "{most} of {all:?}");
        }
        self
    }

    /// The whole tree with its statuses.
    pub(crate) fn tree(&mut self, expected: Expect) -> &mut Self {
        self.check_replay();
        expected.assert_eq(&words::tree(&self.state));
        self
    }

    /// The last refusal as people read it.
    pub(crate) fn refusal(&mut self, expected: Expect) -> &mut Self {
        let text = self.last_refusal.take().map(|refusal| refusal.to_text());
        expected.assert_eq(&format!("{}\n", text.as_deref().unwrap_or("not refused")));
        self
    }

    /// The last refusal as programs read it.
    pub(crate) fn refusal_details(&mut self) -> serde_json::Value {
        *self.last_refusal.take().expect("something was refused").details
    }

    /// What the root may still ask for, or the attempt of a subtask.
    pub(crate) fn remaining(&mut self, who: &str, expected: Expect) -> &mut Self {
        let caller = match who {
            "root" => Caller::Root { name: "user".into(), depth: 0 },
            name => Caller::Attempt(self.attempt(name)),
        };
        let remaining = bounds::remaining(&self.state, &caller, self.now, 20);
        let text = serde_json::to_string(&remaining).expect("figures can be written");
        expected.assert_eq(&text);
        self
    }

    /// How the delegation ended and what came of it.
    pub(crate) fn result(&mut self, delegation: &str, expected: Expect) -> &mut Self {
        let no = self.delegation(delegation);
        expected.assert_eq(&words::result(&self.state.delegations[no]));
        self
    }

    /// What the budget of the tree and of each subtask looks like.
    pub(crate) fn accounts(&mut self, expected: Expect) -> &mut Self {
        expected.assert_eq(&words::accounts(&self.state));
        self
    }

    /// The subtask of that name that came to be last.
    pub(crate) fn subtask(&self, name: &str) -> SubtaskNo {
        let found = self.state.subtasks.iter().rev().find(|(_, s)| s.id.as_str() == name);
        found.unwrap_or_else(|| panic!("there is no subtask {name}")).0
    }

    /// The delegation with that id.
    pub(crate) fn delegation(&self, id: &str) -> DelegationNo {
        let found = self.state.find(&DelegationId::from(id));
        found.unwrap_or_else(|| panic!("there is no delegation {id}"))
    }

    /// `a` is the last attempt of the subtask, `a#1` its first.
    pub(crate) fn attempt_no(&self, name: &str) -> AttemptNo {
        let (subtask, nth) = name.split_once('#').unwrap_or((name, ""));
        let attempts = &self.state.subtasks[self.subtask(subtask)].attempts;
        let nth = nth.parse().unwrap_or(attempts.len());
        let found = nth.checked_sub(1).and_then(|at| attempts.get(at));
        *found.unwrap_or_else(|| panic!("there is no attempt {name}"))
    }

    pub(crate) fn attempt(&self, name: &str) -> AttemptId {
        self.state.attempts[self.attempt_no(name)].id.clone()
    }

    /// The log, written down and read back, gives the same state.
    fn check_replay(&self) {
        let lines = self.log.iter().map(|e| serde_json::to_string(e).expect("events are JSON"));
        let events: Vec<Event> =
            lines.map(|line| serde_json::from_str(&line).expect("events read back")).collect();
        assert_eq!(replay(&events).as_ref(), Ok(&self.state), "the log does not replay");
    }
}
