//! Folding events into the state. Total: every event that was ever recorded
//! can be folded, and nothing is decided here.

mod accept;
mod attempt;
mod control;
mod graph;

use super::event::{Body, Event, VERSION};
use super::state::{Pause, State};

/// A log that does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// An event names something that was never there.
    #[error("event {seq} names something that the events before it did not make")]
    Unknown {
        /// Its place in the log, from 1.
        seq: u64,
    },
    /// An event has a form that this version does not know.
    #[error("event {seq} has form {v}; this version reads up to {VERSION}")]
    Newer {
        /// Its place in the log, from 1.
        seq: u64,
        /// The form it claims.
        v: u16,
    },
}

/// The state after all these events.
pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<State, Corrupt> {
    let mut state = State::default();
    for event in events {
        if event.v > VERSION {
            return Err(Corrupt::Newer { seq: state.seq + 1, v: event.v });
        }
        if !fits(&state, &event.body) {
            return Err(Corrupt::Unknown { seq: state.seq + 1 });
        }
        evolve(&mut state, event);
    }
    Ok(state)
}

/// Folds one event into the state. One that does not fit changes nothing.
#[expect(clippy::too_many_lines, reason = "a flat match over every kind of event")]
pub fn evolve(state: &mut State, event: &Event) {
    if !fits(state, &event.body) {
        return;
    }
    state.seq += 1;
    let at = event.at;
    state.seen_at = state.seen_at.max(at);
    match &event.body {
        Body::TreeOpened(settings) => accept::open_tree(state, settings, at),
        Body::DelegationAccepted(accepted) => accept::accept(state, accepted, at),
        Body::SubtasksAdded { delegation, subtasks } => {
            accept::add_subtasks(state, *delegation, subtasks);
            graph::refresh(state, *delegation);
        }
        Body::AttemptStarted(started) => attempt::start(state, started, at),
        Body::AttemptSpawned { attempt, process, workspace, base } => {
            attempt::spawn(state, *attempt);
            let spawned = &mut state.attempts[*attempt];
            spawned.process = *process;
            spawned.workspace.clone_from(workspace);
            spawned.base.clone_from(base);
        }
        Body::UsageSettled { attempt, tokens, cost, context } => {
            attempt::settle(state, *attempt, Some(tokens), *cost);
            if context.is_some() {
                state.attempts[*attempt].context = *context;
            }
        }
        Body::ProgressMade { attempt, current, total, last_action } => {
            let attempt = &mut state.attempts[*attempt];
            attempt.progress = Some((*current, *total));
            attempt.last_action = Some(last_action.clone());
        }
        Body::ApprovalAsked { attempt, what } => attempt::ask(state, *attempt, what),
        Body::ApprovalGiven { subtask, approved, .. } => {
            attempt::approve(state, *subtask, *approved);
        }
        Body::ApprovalDelivered { attempt } => attempt::take_up(state, *attempt),
        Body::WaitBegan { attempt, delegation } => attempt::wait(state, *attempt, *delegation),
        Body::AttemptFroze { attempt, frozen } => attempt::freeze(state, *attempt, *frozen),
        Body::StopRequested { attempt, reason } => attempt::stop(state, *attempt, *reason),
        Body::AttemptEnded(ended) => attempt::end(state, ended, at),
        Body::RetryScheduled(retried) => graph::retry(state, retried, at),
        Body::RetryDue { subtask } => graph::make_ready(state, *subtask),
        Body::MergeRequested { subtask } => graph::request_merge(state, *subtask),
        Body::MergeEnded { subtask, outcome } => graph::end_merge(state, *subtask, outcome),
        Body::SubtaskEnded(ended) => graph::end_subtask(state, ended, at),
        Body::WinnerChosen { delegation, subtask } => {
            state.delegations[*delegation].winner = Some(*subtask);
        }
        Body::Paused { delegation, since, freeze, reason } => {
            let pause = Pause { since: *since, freeze: *freeze, reason: reason.clone() };
            control::pause(state, *delegation, pause, at);
        }
        Body::Resumed { delegation } => control::resume(state, *delegation, at),
        Body::TimeRanOut { delegation } => control::time_ran_out(state, *delegation),
        Body::RestStopped { delegation } => {
            state.delegations[*delegation].failed_fast = true;
            state.open.failing.remove(delegation);
        }
        Body::CancelRequested { delegation, by, reason, rollback } => {
            let target = &mut state.delegations[*delegation];
            target.cancelled = Some((by.clone(), reason.clone()));
            target.rollback |= rollback;
            state.open.failing.remove(delegation);
        }
        Body::DelegationEnded { delegation, outcome, result } => {
            control::end(state, *delegation, *outcome, result, at);
        }
        Body::DelegationReopened { delegation, reserved } => {
            control::reopen(state, *delegation, reserved, at);
        }
        Body::AnswerDelivered { delegation, not_brought } => {
            control::deliver(state, *delegation, not_brought.as_ref());
        }
        Body::RolledBack { delegation } => {
            state.delegations[*delegation].rolled_back = true;
            state.open.to_roll_back.remove(delegation);
        }
        Body::WorkspaceRemoved { attempt, kept } => {
            state.attempts[*attempt].kept.clone_from(kept);
            state.open.workspaces.remove(attempt);
        }
        Body::ResultLeft { delegation, why } => {
            state.delegations[*delegation].left_behind.push(why.clone());
            state.open.to_roll_back.remove(delegation);
        }
        Body::WorkspaceLeft { attempt, why } => {
            let delegation = state.delegation_of(*attempt);
            state.delegations[delegation].left_behind.push(why.clone());
            state.open.workspaces.remove(attempt);
        }
    }
}

/// Whether everything an event names is there. The guard behind every index below.
fn fits(state: &State, body: &Body) -> bool {
    let delegation = |no: &_| state.delegations.has(*no);
    let subtask = |no: &_| state.subtasks.has(*no);
    let attempt = |no: &_| state.attempts.has(*no);
    if !matches!(body, Body::TreeOpened(_)) && state.settings.is_none() {
        return false;
    }
    match body {
        Body::TreeOpened(_) => state.settings.is_none(),
        Body::DelegationAccepted(accepted) => {
            accepted.parent.is_some() != state.delegations.is_empty()
                && accepted.parent.as_ref().is_none_or(attempt)
                && fit(state, &accepted.subtasks)
        }
        Body::SubtasksAdded { delegation: no, subtasks } => delegation(no) && fit(state, subtasks),
        Body::AttemptStarted(started) => subtask(&started.subtask),
        Body::AttemptSpawned { attempt: no, .. }
        | Body::UsageSettled { attempt: no, .. }
        | Body::ProgressMade { attempt: no, .. }
        | Body::ApprovalAsked { attempt: no, .. }
        | Body::ApprovalDelivered { attempt: no }
        | Body::AttemptFroze { attempt: no, .. }
        | Body::StopRequested { attempt: no, .. }
        | Body::WorkspaceRemoved { attempt: no, .. }
        | Body::WorkspaceLeft { attempt: no, .. } => attempt(no),
        Body::AttemptEnded(ended) => attempt(&ended.attempt),
        Body::WaitBegan { attempt: no, delegation: other } => attempt(no) && delegation(other),
        Body::ApprovalGiven { subtask: no, .. }
        | Body::RetryDue { subtask: no }
        | Body::MergeRequested { subtask: no }
        | Body::MergeEnded { subtask: no, .. } => subtask(no),
        Body::RetryScheduled(retried) => subtask(&retried.subtask),
        Body::SubtaskEnded(ended) => subtask(&ended.subtask),
        Body::WinnerChosen { delegation: no, subtask: other } => delegation(no) && subtask(other),
        Body::Paused { delegation: no, .. }
        | Body::Resumed { delegation: no }
        | Body::TimeRanOut { delegation: no }
        | Body::RestStopped { delegation: no }
        | Body::CancelRequested { delegation: no, .. }
        | Body::DelegationEnded { delegation: no, .. }
        | Body::AnswerDelivered { delegation: no, .. }
        | Body::RolledBack { delegation: no }
        | Body::ResultLeft { delegation: no, .. } => delegation(no),
        Body::DelegationReopened { delegation: no, reserved } => {
            delegation(no) && reserved.iter().all(|(no, _)| subtask(no))
        }
    }
}

/// New subtasks may only need ones that are there, or stand before them in the same list.
fn fit(state: &State, subtasks: &[super::event::NewSubtask]) -> bool {
    let known = state.subtasks.len();
    let before = |need: &super::arena::SubtaskNo| (need.0 as usize) < known + subtasks.len();
    let there = |no: &super::arena::SubtaskNo| state.subtasks.has(*no);
    subtasks.iter().all(|subtask| {
        subtask.depends_on.iter().all(before) && subtask.resolves.as_ref().is_none_or(there)
    })
}
