//! The state of a tree, folded from its events.
//!
//! Beside the delegations, subtasks and attempts there are small indexes of
//! what is open, so that no question about the tree walks through what has
//! ended. Only `evolve` changes anything here.

mod attempt;
mod delegation;
mod subtask;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use attempt::{Attempt, Step};
pub use delegation::{Delegation, Pause};
pub use subtask::{Phase, Subtask};

use super::arena::{Arena, AttemptNo, DelegationNo, SubtaskNo};
use super::event::{AttemptEnded, Outcome, Role, Settings};
use super::ledger::{AccountNo, Ledger};
use super::pattern::merges_by_itself;
use super::rejection::Rejection;
use crate::ids::{AttemptId, DelegationId, SubtaskId};
use crate::time::Now;

/// Everything that is known of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// How many events were folded.
    pub seq: u64,
    /// The bounds and habits; absent before the first event.
    pub settings: Option<Settings>,
    /// When the tree came to be.
    pub opened_at: Now,
    /// When something was last recorded: the runtime was up then.
    pub seen_at: Now,
    /// Every delegation; the root is the first.
    pub delegations: Arena<DelegationNo, Delegation>,
    /// Every subtask.
    pub subtasks: Arena<SubtaskNo, Subtask>,
    /// Every attempt.
    pub attempts: Arena<AttemptNo, Attempt>,
    /// Who may spend what.
    pub ledger: Ledger,
    /// Subtasks and repeated attempts so far: what the tree's count bounds.
    pub count: u64,
    /// Slots its attempts hold, all delegations together.
    pub slots: u32,
    pub(super) by_delegation: FxHashMap<DelegationId, DelegationNo>,
    pub(super) by_attempt: FxHashMap<AttemptId, AttemptNo>,
    pub(super) by_call: FxHashMap<(Option<AttemptNo>, Arc<str>), DelegationNo>,
    pub(super) open: Open,
}

/// Indexes of what is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Open {
    /// Subtasks ready to start, by delegation.
    pub(super) queued: BTreeMap<DelegationNo, BTreeSet<SubtaskNo>>,
    /// Attempts whose process is not known to run.
    pub(super) unspawned: BTreeSet<AttemptNo>,
    /// Attempts that have to stop.
    pub(super) stopping: BTreeSet<AttemptNo>,
    /// Attempts that have to freeze or thaw.
    pub(super) thermal: BTreeSet<AttemptNo>,
    /// Attempts that have to be told what a human said.
    pub(super) answered: BTreeSet<AttemptNo>,
    /// Attempts that run in any way.
    pub(super) running: BTreeSet<AttemptNo>,
    /// Subtasks whose attempt has ended and which have to be judged.
    pub(super) to_judge: BTreeSet<SubtaskNo>,
    /// Delegations in which nothing can go on by itself.
    pub(super) idle: BTreeSet<DelegationNo>,
    /// Delegations in which a failure has to stop the rest.
    pub(super) failing: BTreeSet<DelegationNo>,
    /// Subtasks that wait to be merged, in order, by delegation.
    pub(super) merging: BTreeMap<DelegationNo, VecDeque<SubtaskNo>>,
    /// Delegations whose answer was not handed over.
    pub(super) undelivered: BTreeSet<DelegationNo>,
    /// Delegations that have to be taken back.
    pub(super) to_roll_back: BTreeSet<DelegationNo>,
    /// Attempts that ended and whose workspace is still there.
    pub(super) workspaces: BTreeSet<AttemptNo>,
    /// When something is due by itself.
    pub(super) timers: BTreeSet<(Now, Timer)>,
}

/// What is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// An attempt's time is up.
    Attempt(AttemptNo),
    /// A delegation's time is up.
    Delegation(DelegationNo),
    /// A subtask may be tried again.
    Subtask(SubtaskNo),
}

impl State {
    /// Whether everything has ended, been told and been cleared away.
    pub fn is_over(&self) -> bool {
        let ended = |delegation: &Delegation| delegation.ended.is_some();
        !self.delegations.is_empty()
            && ended(&self.delegations[DelegationNo(0)])
            && self.open.undelivered.is_empty()
            && self.open.workspaces.is_empty()
            && self.open.to_roll_back.is_empty()
            && self.open.running.is_empty()
    }

    /// Whether a decision follows from what is recorded: `Advance` will say which.
    pub fn must_advance(&self) -> bool {
        !(self.open.to_judge.is_empty()
            && self.open.idle.is_empty()
            && self.open.failing.is_empty())
    }

    /// Attempts that run, or that nobody has seen end: what a restart has to look for.
    pub fn running(&self) -> impl Iterator<Item = AttemptNo> {
        self.open.running.iter().copied()
    }

    /// Attempts from this number on whose process is not known to run.
    pub fn unspawned(&self, from: AttemptNo) -> impl Iterator<Item = AttemptNo> {
        self.open.unspawned.range(from..).copied()
    }

    /// The delegation with this id.
    pub fn find(&self, id: &DelegationId) -> Option<DelegationNo> {
        self.by_delegation.get(id).copied()
    }

    /// The attempt with this id.
    pub fn find_attempt(&self, id: &AttemptId) -> Option<AttemptNo> {
        self.by_attempt.get(id).copied()
    }

    pub(super) fn delegation(&self, id: &DelegationId) -> Result<DelegationNo, Rejection> {
        self.find(id).ok_or_else(|| Rejection::not_found("delegation", id.as_str()))
    }

    pub(super) fn attempt(&self, id: &AttemptId) -> Result<AttemptNo, Rejection> {
        self.find_attempt(id).ok_or_else(|| Rejection::not_found("attempt", id.as_str()))
    }

    /// An attempt that has not ended; a report about any other is stale.
    pub(super) fn open_attempt(&self, id: &AttemptId) -> Result<AttemptNo, Rejection> {
        let no = self.attempt(id)?;
        if self.attempts[no].ended() { Err(Rejection::Stale) } else { Ok(no) }
    }

    pub(super) fn subtask_in(
        &self,
        delegation: DelegationNo,
        id: &SubtaskId,
    ) -> Result<SubtaskNo, Rejection> {
        let delegation = &self.delegations[delegation];
        let found = delegation.by_id.get(id).copied();
        found.ok_or_else(|| Rejection::no_subtask(&delegation.id, id))
    }

    /// The delegation an attempt belongs to.
    pub fn delegation_of(&self, attempt: AttemptNo) -> DelegationNo {
        self.subtasks[self.attempts[attempt].subtask].delegation
    }

    /// The delegations from this one up to the root.
    pub(super) fn upward(&self, from: DelegationNo) -> impl Iterator<Item = DelegationNo> {
        let above = |no: &DelegationNo| self.delegations[*no].parent.map(|a| self.delegation_of(a));
        std::iter::successors(Some(from), above)
    }

    /// Whether an attempt asked for a delegation, or for one above it.
    pub fn is_from(&self, delegation: DelegationNo, attempt: AttemptNo) -> bool {
        self.upward(delegation).any(|no| self.delegations[no].parent == Some(attempt))
    }

    /// Whether it has to stop and has not yet.
    pub fn is_stopping(&self, delegation: DelegationNo) -> bool {
        self.delegations[delegation].ended.is_none() && self.is_cancelled(delegation)
    }

    /// Whether nothing new may start here: this delegation or one above is paused.
    pub fn is_paused(&self, delegation: DelegationNo) -> bool {
        self.upward(delegation).any(|no| self.delegations[no].paused.is_some())
    }

    /// Whether this delegation or one above has to stop.
    pub fn is_cancelled(&self, delegation: DelegationNo) -> bool {
        self.upward(delegation).any(|no| self.delegations[no].cancelled.is_some())
    }

    /// The delegation and everything open below it, the deepest first.
    pub(super) fn leaves_first(&self, from: DelegationNo) -> Vec<DelegationNo> {
        let mut order = vec![from];
        let mut next = 0;
        while let Some(&no) = order.get(next) {
            for &subtask in &self.delegations[no].subtasks {
                for &attempt in &self.subtasks[subtask].attempts {
                    let children = self.attempts[attempt].children.iter();
                    order.extend(children.filter(|c| self.delegations[**c].ended.is_none()));
                }
            }
            next += 1;
        }
        order.reverse();
        order
    }

    /// The account a delegation reserves from.
    pub(super) fn purse(&self, delegation: DelegationNo) -> AccountNo {
        self.purse_of(self.delegations[delegation].parent)
    }

    /// The account a caller reserves from.
    pub(super) fn purse_of(&self, parent: Option<AttemptNo>) -> AccountNo {
        match parent {
            Some(attempt) => self.subtasks[self.attempts[attempt].subtask].account,
            None => Ledger::TREE,
        }
    }

    /// Free slots of a delegation, by its own width and by its parent agent's.
    pub fn free_width(&self, delegation: DelegationNo) -> u32 {
        let below = self.delegations[delegation].parent.and_then(|no| self.child_width(no));
        self.own_width(delegation).min(below.unwrap_or(u32::MAX))
    }

    /// Free slots of a delegation by its own width.
    pub(super) fn own_width(&self, delegation: DelegationNo) -> u32 {
        let delegation = &self.delegations[delegation];
        delegation.width.saturating_sub(delegation.slots)
    }

    /// How many more children of an attempt may run at once; absent where its agent sets no limit.
    pub(super) fn child_width(&self, attempt: AttemptNo) -> Option<u32> {
        let attempt = &self.attempts[attempt];
        let most = self.subtasks[attempt.subtask].habits.max_concurrent?;
        Some(most.saturating_sub(attempt.child_slots))
    }

    /// How a subtask stands, in the word every surface uses.
    pub fn status(&self, no: SubtaskNo) -> &'static str {
        let subtask = &self.subtasks[no];
        match &subtask.phase {
            Phase::Waiting if subtask.dead_needs > 0 => Outcome::Blocked.as_str(),
            Phase::Waiting | Phase::Backoff(_) => "pending",
            Phase::AwaitingApproval => "awaiting_approval",
            Phase::Queued => "queued",
            Phase::Running | Phase::Judging if self.asks(subtask) => "awaiting_approval",
            Phase::Running | Phase::Judging => "running",
            Phase::Merging | Phase::Resolving => "merging",
            Phase::Ended(_) if self.awaits_choice(no) => "merging",
            Phase::Ended(outcome) => outcome.as_str(),
        }
    }

    /// Whether the work of a member is merged if it is chosen, and was not merged yet.
    pub fn is_candidate(&self, no: SubtaskNo) -> bool {
        let subtask = &self.subtasks[no];
        let last = subtask.attempts.last().and_then(|no| self.attempts[*no].end.as_deref());
        subtask.role == Role::Member
            && subtask.merge.is_none()
            && !merges_by_itself(&self.delegations[subtask.delegation], subtask)
            && last.is_some_and(AttemptEnded::has_work)
    }

    /// Whether a member has answered, and the choice is still to come by which its work is
    /// merged or left: to everybody outside it has not ended before.
    pub fn awaits_choice(&self, no: SubtaskNo) -> bool {
        let subtask = &self.subtasks[no];
        let delegation = &self.delegations[subtask.delegation];
        let is_undecided = delegation.ended.is_none() && delegation.winner.is_none();
        is_undecided && subtask.outcome() == Some(Outcome::Completed) && self.is_candidate(no)
    }

    fn asks(&self, subtask: &Subtask) -> bool {
        subtask.attempts.last().is_some_and(|no| self.attempts[*no].asks().is_some())
    }

    /// How a delegation stands, in the word every surface uses.
    pub fn delegation_status(&self, no: DelegationNo) -> &'static str {
        let delegation = &self.delegations[no];
        match delegation.ended {
            Some(outcome) => outcome.as_str(),
            None if self.is_paused(no) => "paused",
            None if delegation.started_at.is_some() => "running",
            None => "pending",
        }
    }
}
