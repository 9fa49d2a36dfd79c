//! Stopping on request, all the way down.
//!
//! Here it is only decided who has to stop. Nothing counts as cancelled before
//! its last process is known to be gone.

use super::control::open_delegation;
use crate::returns::StopReason;
use crate::tree::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::tree::command::Cancel;
use crate::tree::event::{Body, Outcome, SubtaskEnded};
use crate::tree::rejection::Rejection;
use crate::tree::state::{Phase, State};

/// Decides what a cancel means. Asking twice is an answer, not a success.
pub(super) fn decide(state: &State, cancel: &Cancel) -> Result<Vec<Body>, Rejection> {
    let delegation = open_delegation(state, &cancel.delegation, "cancelled")?;
    let Some(id) = &cancel.subtask else {
        if state.delegations[delegation].cancelled.is_some() {
            let message = format!("`{}` is already being cancelled.", cancel.delegation);
            return Err(Rejection::conflict(message, "It ends when everything in it has stopped."));
        }
        let by = (cancel.by.as_str(), cancel.reason.as_str());
        return Ok(all_below(state, delegation, by, cancel.rollback));
    };
    let subtask = state.subtask_in(delegation, id)?;
    if state.subtasks[subtask].outcome().is_some() {
        let message = format!("Subtask `{id}` has already ended.");
        return Err(Rejection::conflict(message, "`legation retry` or `legation skip` moves on."));
    }
    // What another resolves for it is all that can still be stopped.
    let waits = state.subtasks[subtask].phase == Phase::Resolving;
    let stopped = state.subtasks[subtask].resolver.filter(|_| waits).unwrap_or(subtask);
    let bodies = stop_subtask(state, stopped, (&cancel.by, &cancel.reason));
    if bodies.is_empty() {
        let message = format!("Subtask `{id}` is about to end ({}).", state.status(subtask));
        return Err(Rejection::conflict(message, "Wait for its end."));
    }
    Ok(bodies)
}

/// The deepest go first: once a parent is told, nothing below it can still send it an answer.
pub(super) fn all_below(
    state: &State,
    from: DelegationNo,
    (by, reason): (&str, &str),
    rollback: bool,
) -> Vec<Body> {
    let mut bodies = Vec::new();
    for delegation in state.leaves_first(from) {
        if state.delegations[delegation].cancelled.is_none() {
            let (by, reason) = (by.to_owned(), reason.to_owned());
            bodies.push(Body::CancelRequested { delegation, by, reason, rollback });
        }
        for &subtask in &state.delegations[delegation].subtasks {
            bodies.extend(stop_one(state, subtask));
        }
    }
    bodies
}

/// Stops one subtask, and first what its attempt has delegated.
pub(super) fn stop_subtask(state: &State, subtask: SubtaskNo, by: (&str, &str)) -> Vec<Body> {
    let mut bodies = Vec::new();
    if let Some(&attempt) = state.subtasks[subtask].attempts.last() {
        bodies.extend(orphans(state, attempt, by));
    }
    bodies.extend(stop_one(state, subtask));
    bodies
}

/// Cancels what an attempt has delegated and nobody will wait for.
pub(super) fn orphans(state: &State, attempt: AttemptNo, by: (&str, &str)) -> Vec<Body> {
    let children = state.attempts[attempt].children.iter();
    let open = children.filter(|child| state.delegations[**child].ended.is_none());
    open.flat_map(|child| all_below(state, *child, by, false)).collect()
}

/// What has not started ends at once; what runs has to stop; what is being
/// judged or merged ends by itself.
fn stop_one(state: &State, no: SubtaskNo) -> Option<Body> {
    let subtask = &state.subtasks[no];
    if subtask.is_idle() {
        let outcome = Outcome::Cancelled;
        return Some(Body::SubtaskEnded(SubtaskEnded { subtask: no, outcome, error: None }));
    }
    let attempt = *subtask.attempts.last()?;
    let runs = !state.attempts[attempt].ended() && state.attempts[attempt].stop.is_none();
    runs.then_some(Body::StopRequested { attempt, reason: StopReason::Cancelled })
}
