//! A subtask as it stands.

use std::sync::Arc;

use crate::ids::{AgentId, SubtaskId};
use crate::returns::ReturnError;
use crate::time::Now;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::command::Habits;
use crate::tree::event::{MergeOutcome, Outcome, Role};
use crate::tree::ledger::AccountNo;

/// A node of a delegation's graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Subtask {
    /// Its id within its delegation.
    pub id: SubtaskId,
    /// Where it belongs.
    pub delegation: DelegationNo,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, in full.
    pub task: Arc<str>,
    /// Who does it.
    pub agent: AgentId,
    /// The part it plays.
    pub role: Role,
    /// The round of its pattern.
    pub round: u32,
    /// Whether the delegation needs it to succeed.
    pub required: bool,
    /// Whether a human must say yes before it starts; settled once it has started.
    pub needs_approval: bool,
    /// Files it means to change.
    pub files: Vec<String>,
    /// What its agent's definition says.
    pub habits: Habits,
    /// Milliseconds each attempt may take.
    pub timeout_ms: u64,
    /// The time the call asked for, where it did.
    pub asked_ms: Option<u64>,
    /// What must not repeat on a path.
    pub call_key: Arc<str>,
    /// What it may spend and has spent.
    pub account: AccountNo,
    /// Tokens the call allows it, however often it reserves.
    pub tokens: Option<u64>,
    /// What comes before it.
    pub needs: Vec<SubtaskNo>,
    /// What comes after it.
    pub needed_by: Vec<SubtaskNo>,
    /// How many of its needs have not ended well.
    pub unmet: u32,
    /// How many of its needs will not end well by themselves.
    pub dead_needs: u32,
    /// Where it stands.
    pub phase: Phase,
    /// Its attempts, the last one last.
    pub attempts: Vec<AttemptNo>,
    /// Retries that count against the limit.
    pub retries: u32,
    /// Whether it was tried again for its quality.
    pub polished: bool,
    /// What the next attempt should know.
    pub note: Option<String>,
    /// The subtask whose conflict it resolves.
    pub resolves: Option<SubtaskNo>,
    /// The subtask that was to resolve the conflict its last merge met.
    pub resolver: Option<SubtaskNo>,
    /// How its merge went.
    pub merge: Option<MergeOutcome>,
    /// What is in the way, where it did not come from an attempt.
    pub error: Option<ReturnError>,
    /// When it ended.
    pub ended_at: Option<Now>,
}

/// Where a subtask stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Something else comes first.
    Waiting,
    /// A human has to say yes.
    AwaitingApproval,
    /// It may not start before this time.
    Backoff(Now),
    /// It may start as soon as there is a slot.
    Queued,
    /// An attempt runs, or what it delegated still does.
    Running,
    /// The attempt ended; what follows has to be decided.
    Judging,
    /// Its work waits to be merged.
    Merging,
    /// Its merge met a conflict, and another subtask resolves it.
    Resolving,
    /// It ended.
    Ended(Outcome),
}

impl Subtask {
    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.phase {
            Phase::Ended(outcome) => Some(outcome),
            Phase::Waiting
            | Phase::AwaitingApproval
            | Phase::Backoff(_)
            | Phase::Queued
            | Phase::Running
            | Phase::Judging
            | Phase::Merging
            | Phase::Resolving => None,
        }
    }

    /// Whether it can still get on by itself.
    pub fn is_live(&self) -> bool {
        let hopeless = self.phase == Phase::Waiting && self.dead_needs > 0;
        self.outcome().is_none() && !hopeless
    }

    /// Whether it stands before an attempt, so that it can end without stopping anything.
    pub fn is_idle(&self) -> bool {
        match self.phase {
            Phase::Waiting | Phase::AwaitingApproval | Phase::Backoff(_) | Phase::Queued => true,
            Phase::Running
            | Phase::Judging
            | Phase::Merging
            | Phase::Resolving
            | Phase::Ended(_) => false,
        }
    }
}
