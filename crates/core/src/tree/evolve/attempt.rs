//! How attempts start, work, wait and end.

use std::sync::Arc;

use super::{accept, graph};
use crate::money::Usd;
use crate::returns::{StopReason, Tokens};
use crate::time::Now;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::event::{AttemptEnded, AttemptStarted};
use crate::tree::ledger::Amount;
use crate::tree::state::{Attempt, Phase, State, Step, Timer};

pub(super) fn start(state: &mut State, started: &AttemptStarted, at: Now) {
    let no = state.attempts.next();
    let subtask = &mut state.subtasks[started.subtask];
    let delegation = &state.delegations[subtask.delegation];
    let path = delegation.path.iter().cloned().chain([subtask.agent.clone()]).collect();
    let keys = delegation.keys.iter().cloned().chain([subtask.call_key.clone()]).collect();
    let attempt = Attempt {
        no,
        id: started.id.clone(),
        session: started.session.clone(),
        subtask: started.subtask,
        agent: subtask.agent.clone(),
        path,
        keys,
        depth: delegation.depth,
        started_at: at,
        deadline: started.deadline,
        allowed_ms: started.deadline.since_ms(at),
        step: Step::Starting,
        spawned: false,
        awaited: Vec::new(),
        stop: None,
        frozen: false,
        clock_stopped: None,
        paused_ms: 0,
        slot: false,
        process: None,
        workspace: None,
        base: None,
        kept: None,
        tokens: None,
        cost: None,
        context: None,
        progress: None,
        last_action: None,
        children: Vec::new(),
        open_children: 0,
        child_slots: 0,
        asked: 0,
        end: None,
        ended_at: None,
    };
    subtask.attempts.push(no);
    subtask.needs_approval = false;
    let owner = subtask.delegation;
    graph::set_phase(state, started.subtask, Phase::Running);
    state.by_attempt.insert(started.id.clone(), no);
    state.attempts.push(attempt);
    state.open.unspawned.insert(no);
    state.open.running.insert(no);
    state.open.timers.insert((started.deadline, Timer::Attempt(no)));
    take_slot(state, no);
    accept::start_clock(state, owner, at);
    let delegation = &mut state.delegations[owner];
    delegation.started_at = delegation.started_at.or(Some(at));
}

pub(super) fn spawn(state: &mut State, no: AttemptNo) {
    let attempt = &mut state.attempts[no];
    attempt.spawned = true;
    if attempt.step == Step::Starting {
        attempt.step = Step::Working;
    }
    state.open.unspawned.remove(&no);
}

fn take_slot(state: &mut State, no: AttemptNo) {
    move_slot(state, no, true);
}

fn give_slot(state: &mut State, no: AttemptNo) {
    move_slot(state, no, false);
}

fn move_slot(state: &mut State, no: AttemptNo, take: bool) {
    let attempt = &mut state.attempts[no];
    if attempt.slot == take {
        return;
    }
    attempt.slot = take;
    let delegation = state.delegation_of(no);
    let shift = |count: &mut u32| *count = if take { *count + 1 } else { count.saturating_sub(1) };
    shift(&mut state.slots);
    shift(&mut state.delegations[delegation].slots);
    if let Some(parent) = state.delegations[delegation].parent {
        shift(&mut state.attempts[parent].child_slots);
    }
}

/// Books what is new in figures that only ever grow.
pub(super) fn settle(state: &mut State, no: AttemptNo, tokens: Option<&Tokens>, cost: Option<Usd>) {
    let attempt = &mut state.attempts[no];
    let mut fresh = Amount::ZERO;
    if let Some(tokens) = tokens {
        let before = attempt.tokens.unwrap_or_default();
        let now = before.at_least(tokens);
        fresh.tokens = now.counted().saturating_sub(before.counted());
        attempt.tokens = Some(now);
    }
    if let Some(cost) = cost {
        let before = attempt.cost.unwrap_or_default();
        fresh.cost = cost - before;
        attempt.cost = Some(before.max(cost));
    }
    if fresh == Amount::ZERO {
        return;
    }
    let subtask = &state.subtasks[attempt.subtask];
    let mut next = Some(subtask.delegation);
    state.ledger.settle(subtask.account, fresh);
    while let Some(above) = next {
        let delegation = &mut state.delegations[above];
        delegation.used += fresh;
        next = delegation.parent.map(|parent| state.delegation_of(parent));
    }
}

/// Takes back what was booked by an estimate and was not spent after all.
fn correct(state: &mut State, no: AttemptNo, cost: Option<Usd>) {
    let attempt = &mut state.attempts[no];
    let booked = attempt.cost.unwrap_or_default();
    let excess = Amount { tokens: 0, cost: booked - cost.unwrap_or(booked) };
    if excess == Amount::ZERO {
        return;
    }
    attempt.cost = cost;
    let subtask = &state.subtasks[attempt.subtask];
    let mut next = Some(subtask.delegation);
    state.ledger.take_back(subtask.account, excess);
    while let Some(above) = next {
        let delegation = &mut state.delegations[above];
        delegation.used = delegation.used - excess;
        next = delegation.parent.map(|parent| state.delegation_of(parent));
    }
}

/// Remembers what a subtask cost for which too little was reserved: those that come after
/// it may cost as much.
fn note_dearest(state: &mut State, no: AttemptNo) {
    let subtask = &state.subtasks[state.attempts[no].subtask];
    let account = state.ledger.get(subtask.account);
    if account.used.cost > account.ceiling.cost {
        let delegation = &mut state.delegations[subtask.delegation];
        delegation.dearest = delegation.dearest.max(account.used.cost);
    }
}

pub(super) fn ask(state: &mut State, no: AttemptNo, what: &str) {
    state.attempts[no].step = Step::Asking(what.to_owned());
    give_slot(state, no);
}

pub(super) fn approve(state: &mut State, subtask: SubtaskNo, approved: bool) {
    if state.subtasks[subtask].phase == Phase::AwaitingApproval {
        if approved {
            graph::set_phase(state, subtask, Phase::Queued);
        }
        return;
    }
    let Some(&no) = state.subtasks[subtask].attempts.last() else {
        return;
    };
    let attempt = &mut state.attempts[no];
    if matches!(attempt.step, Step::Asking(_)) {
        attempt.step = Step::Answering(approved);
        state.open.answered.insert(no);
    }
}

/// The attempt has what it waited for. It works again, unless it waits for something else too.
pub(super) fn take_up(state: &mut State, no: AttemptNo) {
    state.open.answered.remove(&no);
    let attempt = &mut state.attempts[no];
    if attempt.awaited.is_empty() {
        attempt.step = Step::Working;
        take_slot(state, no);
    } else {
        attempt.step = Step::Awaiting;
    }
}

pub(super) fn wait(state: &mut State, no: AttemptNo, delegation: DelegationNo) {
    let attempt = &mut state.attempts[no];
    if matches!(attempt.step, Step::Starting | Step::Working) {
        attempt.step = Step::Awaiting;
    }
    attempt.awaited.push(delegation);
    state.delegations[delegation].waits = true;
    // An answer that was handed over once is wanted again.
    if state.delegations[delegation].ended.is_some() {
        state.delegations[delegation].told = false;
        state.open.undelivered.insert(delegation);
    }
    give_slot(state, no);
}

pub(super) fn freeze(state: &mut State, no: AttemptNo, frozen: bool) {
    state.attempts[no].frozen = frozen;
    note_thermal(state, no);
}

/// Stops or starts the attempt's clock as the pauses above want it. A child's
/// time never ends after its parent's.
pub(super) fn follow_pauses(state: &mut State, no: AttemptNo, at: Now) {
    let delegation = state.delegation_of(no);
    let wanted = state.is_paused(delegation);
    let parent = state.delegations[delegation].parent.map(|no| state.attempts[no].deadline);
    let attempt = &mut state.attempts[no];
    match (attempt.clock_stopped, wanted) {
        (None, true) => {
            state.open.timers.remove(&(attempt.deadline, Timer::Attempt(no)));
            attempt.clock_stopped = Some(at);
        }
        (Some(since), false) => {
            attempt.clock_stopped = None;
            let stood_ms = at.since_ms(since);
            attempt.paused_ms = attempt.paused_ms.saturating_add(stood_ms);
            let moved = attempt.deadline.plus_ms(stood_ms);
            attempt.deadline = moved.min(parent.unwrap_or(moved));
            if attempt.stop.is_none() {
                state.open.timers.insert((attempt.deadline, Timer::Attempt(no)));
            }
        }
        (None, false) | (Some(_), true) => {}
    }
    note_thermal(state, no);
}

/// Notes whether the attempt's processes are not as they should be.
fn note_thermal(state: &mut State, no: AttemptNo) {
    let freezes = |no| state.delegations[no].paused.as_ref().is_some_and(|pause| pause.freeze);
    let wanted = state.upward(state.delegation_of(no)).any(freezes);
    let attempt = &state.attempts[no];
    if attempt.ended() || attempt.stop.is_some() || attempt.frozen == wanted {
        state.open.thermal.remove(&no);
    } else {
        state.open.thermal.insert(no);
    }
}

pub(super) fn stop(state: &mut State, no: AttemptNo, reason: StopReason) {
    let attempt = &mut state.attempts[no];
    if attempt.ended() {
        return;
    }
    state.open.timers.remove(&(attempt.deadline, Timer::Attempt(no)));
    attempt.stop = Some(reason);
    state.open.stopping.insert(no);
    state.open.unspawned.remove(&no);
    state.open.answered.remove(&no);
    state.open.thermal.remove(&no);
}

pub(super) fn end(state: &mut State, ended: &Arc<AttemptEnded>, at: Now) {
    let no = ended.attempt;
    settle(state, no, ended.receipt.tokens.as_ref(), ended.receipt.cost_usd);
    correct(state, no, ended.receipt.cost_usd);
    note_dearest(state, no);
    give_slot(state, no);
    let attempt = &mut state.attempts[no];
    state.open.timers.remove(&(attempt.deadline, Timer::Attempt(no)));
    // Between start and spawn a workspace may exist that nobody has reported.
    if attempt.workspace.is_some() || !attempt.spawned {
        state.open.workspaces.insert(no);
    }
    attempt.step = Step::Ended;
    attempt.ended_at = Some(at);
    attempt.end = Some(ended.clone());
    let open = &mut state.open;
    for index in [
        &mut open.unspawned,
        &mut open.stopping,
        &mut open.running,
        &mut open.thermal,
        &mut open.answered,
    ] {
        index.remove(&no);
    }
    // With the parent gone nobody is left to be told.
    let children = state.attempts[no].children.clone();
    for child in children {
        if state.open.undelivered.remove(&child) {
            state.delegations[child].told = true;
        }
    }
    graph::judge_when_drained(state, no);
}
