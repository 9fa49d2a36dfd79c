//! An attempt as it stands.

use std::sync::Arc;

use crate::ids::{AgentId, AttemptId, SessionId};
use crate::money::Usd;
use crate::returns::{StopReason, Tokens};
use crate::time::Now;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::event::{AttemptEnded, Process};

/// One run of one agent on one subtask.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Its number.
    pub no: AttemptNo,
    /// Its id.
    pub id: AttemptId,
    /// What it is called in its return.
    pub session: SessionId,
    /// What it works on.
    pub subtask: SubtaskNo,
    /// Who runs: a retry may go to another agent than the first.
    pub agent: AgentId,
    /// The agents from the root to this one.
    pub path: Arc<[AgentId]>,
    /// The call keys from the root to this one.
    pub keys: Arc<[Arc<str>]>,
    /// How deep it stands.
    pub depth: u32,
    /// When it started.
    pub started_at: Now,
    /// When its time is up.
    pub deadline: Now,
    /// Milliseconds it was given, paused time aside.
    pub allowed_ms: u64,
    /// What it does now.
    pub step: Step,
    /// Whether its process is known to have run; it may ask or wait before anybody says so.
    pub spawned: bool,
    /// The delegations it waits for.
    pub awaited: Vec<DelegationNo>,
    /// It has to stop, and why.
    pub stop: Option<StopReason>,
    /// Its processes are frozen.
    pub frozen: bool,
    /// Since when its time does not count.
    pub clock_stopped: Option<Now>,
    /// Milliseconds that did not count.
    pub paused_ms: u64,
    /// Whether it holds a slot.
    pub slot: bool,
    /// How to find its process again.
    pub process: Option<Process>,
    /// Where it works.
    pub workspace: Option<String>,
    /// The commit it started from.
    pub base: Option<String>,
    /// Where its work is kept.
    pub kept: Option<String>,
    /// Tokens by kind; absent where the runner told none.
    pub tokens: Option<Tokens>,
    /// Dollars; absent where unknown.
    pub cost: Option<Usd>,
    /// Tokens in its context now; absent where unknown.
    pub context: Option<u64>,
    /// How far it says it is.
    pub progress: Option<(u64, u64)>,
    /// What it did last.
    pub last_action: Option<String>,
    /// Delegations it asked for.
    pub children: Vec<DelegationNo>,
    /// How many of them have not ended.
    pub open_children: u32,
    /// Slots that attempts of its children hold.
    pub child_slots: u32,
    /// Subtasks it has asked for.
    pub asked: u64,
    /// How it ended.
    pub end: Option<Arc<AttemptEnded>>,
    /// When it ended.
    pub ended_at: Option<Now>,
}

/// What an attempt does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its process is being made.
    Starting,
    /// It works.
    Working,
    /// It waits for delegations of its own, without a slot.
    Awaiting,
    /// It waits for a human, without a slot.
    Asking(String),
    /// A human has answered; the runner has to be told.
    Answering(bool),
    /// It ended.
    Ended,
}

impl Attempt {
    /// Whether it has ended.
    pub fn ended(&self) -> bool {
        self.step == Step::Ended
    }

    /// What it asks a person for.
    pub fn asks(&self) -> Option<&str> {
        match &self.step {
            Step::Asking(what) => Some(what),
            Step::Starting | Step::Working | Step::Awaiting | Step::Answering(_) | Step::Ended => {
                None
            }
        }
    }

    /// Milliseconds it has taken so far, or took. Paused time does not count.
    pub fn elapsed_ms(&self, now: Now) -> u64 {
        let end = self.clock_stopped.or(self.ended_at).unwrap_or(now);
        end.since_ms(self.started_at).saturating_sub(self.paused_ms)
    }

    /// Whether this delegation's answer is the last thing it waits for: it then needs a slot.
    pub fn goes_on_after(&self, delegation: DelegationNo) -> bool {
        self.step == Step::Awaiting && self.awaited == [delegation]
    }
}
