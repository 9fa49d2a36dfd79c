//! How subtasks move, and what that means for those that depend on them.

use super::accept;
use crate::time::Now;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::bounds::{call_key, time_allowed};
use crate::tree::event::{MergeOutcome, Outcome, Retried, RetryCause, SubtaskEnded};
use crate::tree::state::{Phase, State, Timer};

/// Moves a subtask and keeps the indexes by phase.
pub(super) fn set_phase(state: &mut State, no: SubtaskNo, phase: Phase) {
    let delegation = state.subtasks[no].delegation;
    match state.subtasks[no].phase {
        Phase::Queued => {
            let queue = state.open.queued.entry(delegation).or_default();
            queue.remove(&no);
            if queue.is_empty() {
                state.open.queued.remove(&delegation);
            }
        }
        Phase::Backoff(until) => {
            state.open.timers.remove(&(until, Timer::Subtask(no)));
        }
        Phase::Judging => {
            state.open.to_judge.remove(&no);
        }
        Phase::Merging => {
            let queue = state.open.merging.entry(delegation).or_default();
            queue.retain(|other| *other != no);
            if queue.is_empty() {
                state.open.merging.remove(&delegation);
            }
        }
        Phase::Waiting
        | Phase::AwaitingApproval
        | Phase::Running
        | Phase::Resolving
        | Phase::Ended(_) => {}
    }
    match phase {
        Phase::Queued => {
            state.open.queued.entry(delegation).or_default().insert(no);
        }
        Phase::Backoff(until) => {
            state.open.timers.insert((until, Timer::Subtask(no)));
        }
        Phase::Judging => {
            state.open.to_judge.insert(no);
        }
        Phase::Merging => state.open.merging.entry(delegation).or_default().push_back(no),
        Phase::Waiting
        | Phase::AwaitingApproval
        | Phase::Running
        | Phase::Resolving
        | Phase::Ended(_) => {}
    }
    state.subtasks[no].phase = phase;
}

/// Nothing comes before it any more.
pub(super) fn make_ready(state: &mut State, no: SubtaskNo) {
    let approval = state.subtasks[no].needs_approval;
    set_phase(state, no, if approval { Phase::AwaitingApproval } else { Phase::Queued });
}

/// Notes whether anything in the delegation can still get on by itself.
pub(super) fn refresh(state: &mut State, no: DelegationNo) {
    let delegation = &state.delegations[no];
    if delegation.ended.is_none() && delegation.live == 0 {
        state.open.idle.insert(no);
    } else {
        state.open.idle.remove(&no);
    }
}

pub(super) fn judge_when_drained(state: &mut State, no: AttemptNo) {
    let attempt = &state.attempts[no];
    let subtask = attempt.subtask;
    if attempt.ended()
        && attempt.open_children == 0
        && state.subtasks[subtask].phase == Phase::Running
        && state.subtasks[subtask].attempts.last() == Some(&no)
    {
        set_phase(state, subtask, Phase::Judging);
    }
}

pub(super) fn request_merge(state: &mut State, no: SubtaskNo) {
    if let Some(outcome) = state.subtasks[no].outcome() {
        // The chosen member of an ensemble had already ended.
        leave_end(state, no, outcome);
    }
    set_phase(state, no, Phase::Merging);
    refresh(state, state.subtasks[no].delegation);
}

pub(super) fn end_merge(state: &mut State, no: SubtaskNo, outcome: &MergeOutcome) {
    set_phase(state, no, Phase::Running);
    state.subtasks[no].merge = Some(outcome.clone());
}

pub(super) fn retry(state: &mut State, retried: &Retried, at: Now) {
    let no = retried.subtask;
    if let Some(outcome) = state.subtasks[no].outcome() {
        leave_end(state, no, outcome);
    }
    if let Some(amount) = retried.reserved {
        let purse = state.purse(state.subtasks[no].delegation);
        state.subtasks[no].account = state.ledger.reserve(purse, amount);
    }
    let subtask = &mut state.subtasks[no];
    // The first attempt was counted with its subtask.
    state.count += u64::from(!subtask.attempts.is_empty());
    match retried.cause {
        RetryCause::Failure => subtask.retries += 1,
        RetryCause::Quality => subtask.polished = true,
        RetryCause::RateLimit | RetryCause::Lost | RetryCause::Request => {}
    }
    if let Some(substitute) = &retried.agent {
        subtask.agent = substitute.agent.clone();
        subtask.habits = substitute.habits.clone();
        subtask.needs_approval |= substitute.needs_approval;
        subtask.call_key = call_key(&substitute.agent, &subtask.task);
        let limits = state.settings.as_ref().map(|settings| &settings.limits);
        let allowed = limits.map(|l| time_allowed(l, subtask.asked_ms, &subtask.habits));
        subtask.timeout_ms = allowed.unwrap_or(subtask.timeout_ms);
    }
    subtask.note.clone_from(&retried.note);
    subtask.error = None;
    subtask.merge = None;
    subtask.resolver = None;
    let unmet = subtask.unmet > 0;
    if subtask.needs_approval {
        // Nobody may ever say yes.
        let delegation = subtask.delegation;
        accept::start_clock(state, delegation, at);
    }
    forget_winner(state, no);
    if unmet {
        set_phase(state, no, Phase::Waiting);
    } else if retried.not_before > at {
        set_phase(state, no, Phase::Backoff(retried.not_before));
    } else {
        make_ready(state, no);
    }
    refresh(state, state.subtasks[no].delegation);
}

/// The chosen member of an ensemble changes: there has to be a choice again, and a merge.
fn forget_winner(state: &mut State, no: SubtaskNo) {
    let owner = &mut state.delegations[state.subtasks[no].delegation];
    owner.winner = owner.winner.filter(|winner| *winner != no);
}

pub(super) fn end_subtask(state: &mut State, ended: &SubtaskEnded, at: Now) {
    let no = ended.subtask;
    let delegation = state.subtasks[no].delegation;
    if let Some(outcome) = state.subtasks[no].outcome() {
        leave_end(state, no, outcome);
    } else if state.subtasks[no].phase == Phase::Waiting && state.subtasks[no].dead_needs > 0 {
        // It was blocked, and is told to end all the same: it counts as live for this moment.
        state.delegations[delegation].live += 1;
        spread(state, no, Spread::Revived);
    }
    if ended.outcome == Outcome::Skipped {
        forget_winner(state, no);
    }
    set_phase(state, no, Phase::Ended(ended.outcome));
    let subtask = &mut state.subtasks[no];
    subtask.ended_at = Some(at);
    subtask.error.clone_from(&ended.error);
    let (account, required) = (subtask.account, subtask.required);
    state.ledger.release(account);
    let owner = &mut state.delegations[delegation];
    owner.live = owner.live.saturating_sub(1);
    if ended.outcome.lets_on() {
        owner.done += 1;
        meet_needs(state, no);
    } else {
        spread(state, no, Spread::Died);
    }
    let keeps_on = state.settings.as_ref().is_none_or(|s| s.recovery.continue_on_partial_failure);
    let owner = &state.delegations[delegation];
    let fails = required && !keeps_on && !ended.outcome.lets_on() && !owner.failed_fast;
    if fails && owner.live > 0 && owner.cancelled.is_none() {
        state.open.failing.insert(delegation);
    }
    if let Some(conflicting) = state.subtasks[no].resolves {
        hand_back(state, conflicting, no);
    }
    refresh(state, delegation);
}

/// Whoever was to resolve a conflict has ended: what that means for the subtask that met it
/// has to be decided. One that is blocked already goes on only if it was resolved after all.
fn hand_back(state: &mut State, no: SubtaskNo, resolver: SubtaskNo) {
    if state.subtasks[no].resolver != Some(resolver) {
        return;
    }
    let resolved = state.subtasks[resolver].outcome() == Some(Outcome::Completed);
    match state.subtasks[no].phase {
        Phase::Resolving => set_phase(state, no, Phase::Judging),
        Phase::Ended(outcome @ Outcome::Blocked) if resolved => {
            leave_end(state, no, outcome);
            set_phase(state, no, Phase::Judging);
        }
        Phase::Waiting
        | Phase::AwaitingApproval
        | Phase::Backoff(_)
        | Phase::Queued
        | Phase::Running
        | Phase::Judging
        | Phase::Merging
        | Phase::Ended(_) => {}
    }
}

/// An ended subtask goes on after all: it is live again, and so is what it had blocked.
fn leave_end(state: &mut State, no: SubtaskNo, outcome: Outcome) {
    let owner = &mut state.delegations[state.subtasks[no].delegation];
    owner.live += 1;
    if outcome.lets_on() {
        owner.done = owner.done.saturating_sub(1);
        for at in 0..state.subtasks[no].needed_by.len() {
            let Some(&next) = state.subtasks[no].needed_by.get(at) else {
                continue;
            };
            state.subtasks[next].unmet += 1;
        }
    } else {
        spread(state, no, Spread::Revived);
    }
    state.subtasks[no].ended_at = None;
    state.subtasks[no].phase = Phase::Waiting;
}

fn meet_needs(state: &mut State, no: SubtaskNo) {
    for at in 0..state.subtasks[no].needed_by.len() {
        let Some(&next) = state.subtasks[no].needed_by.get(at) else {
            continue;
        };
        let dependent = &mut state.subtasks[next];
        dependent.unmet = dependent.unmet.saturating_sub(1);
        if dependent.unmet == 0 && dependent.phase == Phase::Waiting {
            make_ready(state, next);
        }
    }
}

/// What passes along the graph from a subtask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// It will not end well by itself.
    Died,
    /// It may, after all.
    Revived,
}

/// Passes it to everything that depends on the subtask, however far. Each
/// dependent passes it on once, so the walk costs what it changes.
fn spread(state: &mut State, from: SubtaskNo, what: Spread) {
    let mut next = state.subtasks[from].needed_by.clone();
    while let Some(no) = next.pop() {
        let subtask = &mut state.subtasks[no];
        let was_dead = subtask.dead_needs > 0;
        match what {
            Spread::Died => subtask.dead_needs += 1,
            Spread::Revived => subtask.dead_needs = subtask.dead_needs.saturating_sub(1),
        }
        let turned = was_dead != (subtask.dead_needs > 0);
        if turned && subtask.phase == Phase::Waiting {
            let owner = &mut state.delegations[subtask.delegation];
            match what {
                Spread::Died => owner.live = owner.live.saturating_sub(1),
                Spread::Revived => owner.live += 1,
            }
            next.extend(&subtask.needed_by);
        }
    }
}
