//! How delegations pause, end, go on again and hand over their answer.

use std::sync::Arc;

use super::{accept, attempt, graph};
use crate::time::Now;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::event::{DelegationResult, MergeOutcome, NotBrought, Outcome};
use crate::tree::ledger::Amount;
use crate::tree::state::{Pause, State, Step, Timer};

pub(super) fn pause(state: &mut State, no: DelegationNo, pause: Pause, at: Now) {
    let since = pause.since;
    state.delegations[no].paused = Some(pause);
    for below in state.leaves_first(no) {
        let delegation = &mut state.delegations[below];
        if delegation.clock_stopped.is_some() {
            continue;
        }
        delegation.clock_stopped = Some(since);
        if let Some(deadline) = delegation.deadline {
            state.open.timers.remove(&(deadline, Timer::Delegation(below)));
        }
    }
    follow(state, no, at);
}

pub(super) fn resume(state: &mut State, no: DelegationNo, at: Now) {
    state.delegations[no].paused = None;
    for below in state.leaves_first(no) {
        if state.is_paused(below) {
            continue;
        }
        let delegation = &mut state.delegations[below];
        let stood_ms = delegation.unpause(at);
        if let (Some(deadline), Some(stood_ms)) = (delegation.deadline, stood_ms) {
            let deadline = deadline.plus_ms(stood_ms);
            delegation.deadline = Some(deadline);
            state.open.timers.insert((deadline, Timer::Delegation(below)));
        }
    }
    follow(state, no, at);
}

/// Parents come before their children: they were started first.
fn follow(state: &mut State, above: DelegationNo, at: Now) {
    let below = |no: &AttemptNo| state.upward(state.delegation_of(*no)).any(|d| d == above);
    let touched: Vec<AttemptNo> = state.running().filter(below).collect();
    for no in touched {
        attempt::follow_pauses(state, no, at);
    }
}

pub(super) fn end(
    state: &mut State,
    no: DelegationNo,
    outcome: Outcome,
    result: &Arc<DelegationResult>,
    at: Now,
) {
    let delegation = &mut state.delegations[no];
    delegation.ended = Some(outcome);
    delegation.ended_at = Some(at);
    delegation.result = Some(result.clone());
    delegation.paused = None;
    delegation.unpause(at);
    if let Some(deadline) = delegation.deadline {
        state.open.timers.remove(&(deadline, Timer::Delegation(no)));
    }
    state.open.failing.remove(&no);
    release_blocked(state, no);
    graph::refresh(state, no);
    if wants_rollback(state, no, outcome) {
        state.open.to_roll_back.insert(no);
    }
    match state.delegations[no].parent {
        Some(parent) => {
            let asker = &mut state.attempts[parent];
            asker.open_children = asker.open_children.saturating_sub(1);
            if asker.ended() {
                state.delegations[no].told = true;
                graph::judge_when_drained(state, parent);
            } else {
                state.open.undelivered.insert(no);
            }
        }
        None => {
            state.open.undelivered.insert(no);
        }
    }
}

/// What waits for something that will not come holds no money meanwhile.
fn release_blocked(state: &mut State, no: DelegationNo) {
    for at in 0..state.delegations[no].subtasks.len() {
        let Some(&subtask) = state.delegations[no].subtasks.get(at) else {
            continue;
        };
        if state.subtasks[subtask].outcome().is_none() {
            let account = state.subtasks[subtask].account;
            state.ledger.release(account);
        }
    }
}

fn wants_rollback(state: &State, no: DelegationNo, outcome: Outcome) -> bool {
    let delegation = &state.delegations[no];
    let on_failure = state.settings.as_ref().is_some_and(|s| s.recovery.rollback_on_failure);
    let merged =
        |s: &SubtaskNo| matches!(state.subtasks[*s].merge, Some(MergeOutcome::Clean { .. }));
    let failed = |s: &SubtaskNo| {
        state.subtasks[*s].required && state.subtasks[*s].outcome() == Some(Outcome::Failed)
    };
    // Where something was merged, something succeeded: the whole is no worse than partial.
    let fails = outcome == Outcome::Failed
        || (outcome == Outcome::Partial && delegation.subtasks.iter().any(failed));
    let wanted = delegation.rollback || (on_failure && fails);
    wanted && !delegation.rolled_back && delegation.subtasks.iter().any(merged)
}

pub(super) fn reopen(
    state: &mut State,
    no: DelegationNo,
    reserved: &[(SubtaskNo, Amount)],
    at: Now,
) {
    let purse = state.purse(no);
    let paused = state.is_paused(no);
    for (subtask, amount) in reserved {
        state.subtasks[*subtask].account = state.ledger.reserve(purse, *amount);
    }
    let delegation = &mut state.delegations[no];
    // The time in which it was over is none that it took.
    let over_ms = delegation.ended_at.take().map_or(0, |ended| at.since_ms(ended));
    delegation.paused_ms = delegation.paused_ms.saturating_add(over_ms);
    delegation.ended = None;
    delegation.result = None;
    delegation.not_brought = None;
    delegation.told = false;
    delegation.deadline = None;
    delegation.clock_stopped = paused.then_some(at);
    delegation.failed_fast = false;
    state.open.undelivered.remove(&no);
    if let Some(parent) = delegation.parent {
        state.attempts[parent].open_children += 1;
    }
    // As at the beginning: the clock must run while somebody is asked.
    let asks = |no: &SubtaskNo| state.subtasks[*no].needs_approval;
    if state.delegations[no].subtasks.iter().any(asks) {
        accept::start_clock(state, no, at);
    }
    graph::refresh(state, no);
}

pub(super) fn time_ran_out(state: &mut State, no: DelegationNo) {
    if let Some(deadline) = state.delegations[no].deadline {
        state.open.timers.remove(&(deadline, Timer::Delegation(no)));
    }
}

pub(super) fn deliver(state: &mut State, no: DelegationNo, not_brought: Option<&NotBrought>) {
    let delegation = &mut state.delegations[no];
    delegation.told = true;
    if let Some(not_brought) = not_brought {
        // All of it is done, and whoever asked has none of it: only they can move it on.
        delegation.ended = Some(Outcome::Blocked);
        delegation.not_brought = Some(Arc::new(not_brought.clone()));
    }
    state.open.undelivered.remove(&no);
    let Some(parent) = state.delegations[no].parent else {
        return;
    };
    let asker = &mut state.attempts[parent];
    asker.awaited.retain(|awaited| *awaited != no);
    if asker.step == Step::Awaiting && asker.awaited.is_empty() {
        attempt::take_up(state, parent);
    }
}
