//! A delegation as it stands.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::config::Pattern;
use crate::ids::{AgentId, DelegationId, SubtaskId, TaskId};
use crate::money::Usd;
use crate::time::Now;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::event::{Cast, DelegationResult, NotBrought, Outcome, Resolver};
use crate::tree::ledger::Amount;
use crate::tree::plan::Aggregate;

/// One decision to hand a task to sub-agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Delegation {
    /// Its number.
    pub no: DelegationNo,
    /// Its id.
    pub id: DelegationId,
    /// The attempt that asked; absent at the root.
    pub parent: Option<AttemptNo>,
    /// The task's id.
    pub task_id: TaskId,
    /// The task, in a line.
    pub title: String,
    /// The task, in full.
    pub task: Arc<str>,
    /// How the subtasks are run.
    pub pattern: Pattern,
    /// Rounds of a debate or review.
    pub rounds: u32,
    /// How an ensemble comes to one answer.
    pub aggregate: Aggregate,
    /// Agents of a debate, review or ensemble.
    pub cast: Vec<Cast>,
    /// Who judges an ensemble in the end, if anybody does.
    pub judge: Option<Cast>,
    /// Who is handed conflicts between its subtasks' work, if anybody is named.
    pub resolver: Option<Resolver>,
    /// The agents above: who asks is the last.
    pub path: Arc<[AgentId]>,
    /// The call keys above.
    pub keys: Arc<[Arc<str>]>,
    /// How deep its subtasks stand.
    pub depth: u32,
    /// How deep the tree may go below.
    pub max_depth: u32,
    /// How many attempts may run at once.
    pub width: u32,
    /// What its subtasks may spend together.
    pub cap: Option<Amount>,
    /// What they have spent, everything below included.
    pub used: Amount,
    /// The most that one of its subtasks has cost although less was reserved for it.
    pub dearest: Usd,
    /// Milliseconds it may take, from its first start.
    pub timeout_ms: u64,
    /// Whether the caller's uncommitted files come along.
    pub include_dirty: bool,
    /// Whether the caller waits for it.
    pub waits: bool,
    /// When it was accepted.
    pub accepted_at: Now,
    /// When its first attempt started.
    pub started_at: Option<Now>,
    /// When its time is up; absent before the first start.
    pub deadline: Option<Now>,
    /// Since when its time does not count, while it is paused.
    pub clock_stopped: Option<Now>,
    /// Milliseconds since its first start that did not count.
    pub paused_ms: u64,
    /// When it ended.
    pub ended_at: Option<Now>,
    /// How it ended.
    pub ended: Option<Outcome>,
    /// What came of it.
    pub result: Option<Arc<DelegationResult>>,
    /// Why its files are not where whoever asked works, if they are not.
    pub not_brought: Option<Arc<NotBrought>>,
    /// Whether whoever asked has the answer.
    pub told: bool,
    /// Nothing new starts.
    pub paused: Option<Pause>,
    /// It has to stop: who said so and why.
    pub cancelled: Option<(String, String)>,
    /// What it merged goes back when it has ended.
    pub rollback: bool,
    /// What it merged went back.
    pub rolled_back: bool,
    /// What could not be cleared away: what, why and where it is.
    pub left_behind: Vec<String>,
    /// Its subtasks, in the order they came to be.
    pub subtasks: Vec<SubtaskNo>,
    /// How many of them the caller asked for.
    pub asked: u32,
    /// Slots its attempts hold.
    pub slots: u32,
    /// Subtasks that can still get on by themselves.
    pub live: u32,
    /// Subtasks that ended well or were skipped.
    pub done: u32,
    /// The member an ensemble chose.
    pub winner: Option<SubtaskNo>,
    /// The rest was stopped because a subtask failed.
    pub failed_fast: bool,
    pub(in crate::tree) by_id: FxHashMap<SubtaskId, SubtaskNo>,
}

impl Delegation {
    /// Milliseconds since its first start, or up to its end. Paused time does not count.
    pub fn elapsed_ms(&self, now: Now) -> u64 {
        let end = self.clock_stopped.or(self.ended_at).unwrap_or(now);
        self.started_at.map_or(0, |start| end.since_ms(start).saturating_sub(self.paused_ms))
    }

    /// Lets a clock that stands still go on, and says how long it stood.
    pub(in crate::tree) fn unpause(&mut self, at: Now) -> Option<u64> {
        let stood_ms = at.since_ms(self.clock_stopped.take()?);
        if self.started_at.is_some() {
            self.paused_ms = self.paused_ms.saturating_add(stood_ms);
        }
        Some(stood_ms)
    }

    /// Whether nothing that starts now could still be in time. Paused time does not count.
    pub(in crate::tree) fn time_is_up(&self, now: Now) -> bool {
        self.clock_stopped.is_none() && self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

/// Why and since when nothing new starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub since: Now,
    /// What runs is frozen too.
    pub freeze: bool,
    /// Why.
    pub reason: String,
}
