//! Pausing, resuming, waiting, handing over and approving.

use crate::code::Code;
use crate::ids::{AttemptId, DelegationId};
use crate::returns::ReturnError;
use crate::tree::arena::{DelegationNo, SubtaskNo};
use crate::tree::command::Approve;
use crate::tree::event::{Body, NotBrought, Outcome, SubtaskEnded};
use crate::tree::rejection::Rejection;
use crate::tree::state::{Pause, Phase, State, Step};

/// The delegation, if it has not ended; what cannot be done any more is said in `what`.
pub(super) fn open_delegation(
    state: &State,
    id: &DelegationId,
    what: &str,
) -> Result<DelegationNo, Rejection> {
    let no = state.delegation(id)?;
    match state.delegations[no].ended {
        None => Ok(no),
        Some(outcome) => {
            let message =
                format!("`{id}` has already ended ({}). It cannot be {what}.", outcome.as_str());
            Err(Rejection::conflict(message, format!("`legation status {id}` shows how it ended.")))
        }
    }
}

pub(super) fn pause(
    state: &State,
    id: &DelegationId,
    pause: Pause,
) -> Result<Vec<Body>, Rejection> {
    let delegation = open_delegation(state, id, "paused")?;
    if state.is_stopping(delegation) {
        let message = format!("`{id}` is being cancelled. It cannot be paused.");
        let hint = format!("`legation status {id}` shows how the cancel goes on.");
        return Err(Rejection::conflict(message, hint));
    }
    let Pause { since, freeze, reason } = pause;
    let paused = state.delegations[delegation].paused.as_ref();
    if paused.is_some_and(|pause| pause.freeze || !freeze) {
        let message = format!("`{id}` is already paused.");
        return Err(Rejection::conflict(message, format!("`legation resume {id}` continues it.")));
    }
    Ok(vec![Body::Paused { delegation, since, freeze, reason }])
}

pub(super) fn resume(state: &State, id: &DelegationId) -> Result<Vec<Body>, Rejection> {
    let delegation = open_delegation(state, id, "resumed")?;
    if state.delegations[delegation].paused.is_none() {
        let above = state.upward(delegation).find(|no| state.delegations[*no].paused.is_some());
        let hint = match above {
            Some(no) => format!("`legation resume {}` continues it.", state.delegations[no].id),
            None => format!("`legation status {id}` shows what it does."),
        };
        return Err(Rejection::conflict(format!("`{id}` is not paused."), hint));
    }
    Ok(vec![Body::Resumed { delegation }])
}

pub(super) fn wait(
    state: &State,
    attempt: &AttemptId,
    id: &DelegationId,
) -> Result<Vec<Body>, Rejection> {
    let attempt = state.open_attempt(attempt)?;
    let delegation = state.delegation(id)?;
    if state.delegations[delegation].parent != Some(attempt) {
        return Err(Rejection::not_found("delegation", id.as_str()));
    }
    if state.attempts[attempt].awaited.contains(&delegation) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::WaitBegan { attempt, delegation }])
}

/// The answer may be handed over. A parent that goes on with it needs a slot first.
pub(super) fn delivered(
    state: &State,
    id: &DelegationId,
    not_brought: Option<&NotBrought>,
) -> Result<Vec<Body>, Rejection> {
    let delegation = state.delegation(id)?;
    if !state.open.undelivered.contains(&delegation) {
        return Err(Rejection::Stale);
    }
    let parent = state.delegations[delegation].parent;
    let goes_on = parent.filter(|no| state.attempts[*no].goes_on_after(delegation));
    if goes_on.is_some_and(|no| state.free_width(state.delegation_of(no)) == 0) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::AnswerDelivered { delegation, not_brought: not_brought.cloned() }])
}

pub(super) fn approve(state: &State, approve: &Approve) -> Result<Vec<Body>, Rejection> {
    let delegation = open_delegation(state, &approve.delegation, "approved or rejected")?;
    let named = match &approve.subtask {
        Some(id) => vec![state.subtask_in(delegation, id)?],
        None => state.delegations[delegation].subtasks.clone(),
    };
    let waiting: Vec<SubtaskNo> = named.into_iter().filter(|no| waits(state, *no)).collect();
    if waiting.is_empty() {
        let message = format!("Nothing in `{}` waits for an approval.", approve.delegation);
        let hint = format!("`legation status {}` shows what it waits for.", approve.delegation);
        return Err(Rejection::conflict(message, hint));
    }
    let mut bodies = Vec::new();
    for subtask in waiting {
        bodies.push(Body::ApprovalGiven {
            subtask,
            approved: approve.approved,
            by: approve.by.clone(),
            reason: approve.reason.clone(),
        });
        if !approve.approved && state.subtasks[subtask].phase == Phase::AwaitingApproval {
            let error = Some(rejected(approve));
            let outcome = Outcome::Failed;
            bodies.push(Body::SubtaskEnded(SubtaskEnded { subtask, outcome, error }));
        }
    }
    Ok(bodies)
}

fn waits(state: &State, no: SubtaskNo) -> bool {
    let subtask = &state.subtasks[no];
    let last = subtask.attempts.last().map(|no| &state.attempts[*no].step);
    subtask.phase == Phase::AwaitingApproval || matches!(last, Some(Step::Asking(_)))
}

fn rejected(approve: &Approve) -> ReturnError {
    let reason = if approve.reason.is_empty() { "no reason given" } else { &approve.reason };
    ReturnError {
        kind: "permission".to_owned(),
        message: format!("Rejected by {}: {reason}", approve.by),
        code: Some(Code::PermissionDenied.to_string()),
        recoverable: false,
        recommendation: "Change what was asked for, or skip it.".to_owned(),
    }
}
