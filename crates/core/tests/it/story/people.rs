//! What people do, what the clock does, and what a crash does.

use legation_core::ids::{AttemptId, DelegationId, SubtaskId};
use legation_core::tree::command::{Approve, Cancel, Candidate, Command, Habits, Retry};

use super::{ROOT, Story, candidate};

impl Story {
    /// Time passes, and nobody looks at the clock.
    pub(crate) fn after(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now.plus_ms(seconds * 1000);
        self
    }

    /// Time passes, and the engine is woken.
    pub(crate) fn tick(&mut self, seconds: u64) -> &mut Self {
        self.after(seconds).tell(Command::Tick)
    }

    pub(crate) fn pause(&mut self, delegation: &str) -> &mut Self {
        self.pauses(delegation, false)
    }

    /// What runs is frozen too.
    pub(crate) fn pause_now(&mut self, delegation: &str) -> &mut Self {
        self.pauses(delegation, true)
    }

    fn pauses(&mut self, delegation: &str, freeze: bool) -> &mut Self {
        let reason = "lunch".to_owned();
        self.tell(Command::Pause { delegation: delegation.into(), freeze, reason })
    }

    pub(crate) fn resume(&mut self, delegation: &str) -> &mut Self {
        self.tell(Command::Resume { delegation: delegation.into() })
    }

    pub(crate) fn cancel(&mut self, delegation: &str) -> &mut Self {
        self.cancels(delegation, None, false)
    }

    pub(crate) fn cancel_with_rollback(&mut self, delegation: &str) -> &mut Self {
        self.cancels(delegation, None, true)
    }

    pub(crate) fn cancel_one(&mut self, name: &str) -> &mut Self {
        let (delegation, subtask) = self.place(name);
        self.cancels(delegation.as_str(), Some(subtask), false)
    }

    fn cancels(
        &mut self,
        delegation: &str,
        subtask: Option<SubtaskId>,
        rollback: bool,
    ) -> &mut Self {
        let (by, reason) = ("ana".to_owned(), "enough".to_owned());
        let delegation = delegation.into();
        self.tell(Command::Cancel(Cancel { delegation, subtask, by, reason, rollback }))
    }

    fn place(&self, name: &str) -> (DelegationId, SubtaskId) {
        let subtask = &self.state.subtasks[self.subtask(name)];
        (self.state.delegations[subtask.delegation].id.clone(), subtask.id.clone())
    }

    pub(crate) fn retry(&mut self, name: &str) -> &mut Self {
        self.retries(name, None, None)
    }

    pub(crate) fn retry_with_note(&mut self, name: &str, note: &str) -> &mut Self {
        self.retries(name, None, Some(note))
    }

    pub(crate) fn retry_by(&mut self, name: &str, agent: &str, habits: Habits) -> &mut Self {
        self.retry_as(name, Candidate { habits, ..candidate(agent) })
    }

    /// By another agent, of which more is known than its habits.
    pub(crate) fn retry_as(&mut self, name: &str, agent: Candidate) -> &mut Self {
        self.retries(name, Some(agent), None)
    }

    fn retries(&mut self, name: &str, agent: Option<Candidate>, note: Option<&str>) -> &mut Self {
        let (delegation, subtask) = self.place(name);
        let note = note.map(str::to_owned);
        self.tell(Command::Retry(Retry { delegation, subtask, agent, note }))
    }

    pub(crate) fn skip(&mut self, name: &str) -> &mut Self {
        let (delegation, subtask) = self.place(name);
        self.tell(Command::Skip { delegation, subtask, reason: "not needed".to_owned() })
    }

    /// An attempt needs a human's word.
    pub(crate) fn asks(&mut self, name: &str, what: &str) -> &mut Self {
        let attempt = self.attempt(name);
        self.tell(Command::Ask { attempt, what: what.to_owned() })
    }

    pub(crate) fn approve(&mut self, name: &str) -> &mut Self {
        self.answers(name, true)
    }

    pub(crate) fn reject(&mut self, name: &str) -> &mut Self {
        self.answers(name, false)
    }

    fn answers(&mut self, name: &str, approved: bool) -> &mut Self {
        let (delegation, subtask) = self.place(name);
        let (by, reason) = ("ana".to_owned(), "too risky".to_owned());
        let subtask = Some(subtask);
        self.tell(Command::Approve(Approve { delegation, subtask, approved, by, reason }))
    }

    /// The runner was told what the human said.
    pub(crate) fn answered(&mut self, name: &str) -> &mut Self {
        let attempt = self.attempt(name);
        self.tell(Command::Answered { attempt })
    }

    /// The runtime dies, comes back, and finds none of its children again.
    pub(crate) fn crash(&mut self, serving: bool) -> &mut Self {
        self.tell(Command::Recover { serving });
        let running: Vec<AttemptId> =
            self.state.running().map(|no| self.state.attempts[no].id.clone()).collect();
        for attempt in running {
            self.tell(Command::Lose { attempt });
        }
        self
    }

    /// How the root delegation stands, in a word.
    pub(crate) fn status(&self) -> &'static str {
        self.state.delegation_status(self.delegation(ROOT))
    }
}
