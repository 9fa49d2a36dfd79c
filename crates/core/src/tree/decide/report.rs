//! What runners, workspaces and humans report about attempts.
//!
//! A report may come twice, late or out of order; one that says nothing new is
//! stale.

use super::resolve;
use crate::code::Code;
use crate::ids::{AttemptId, DelegationId};
use crate::returns::{ReturnError, StopReason, Verification};
use crate::time::Now;
use crate::tree::arena::AttemptNo;
use crate::tree::command::{Progress, Spawned, Usage};
use crate::tree::event::{Body, MergeOutcome, Outcome, SubtaskEnded};
use crate::tree::ledger::Amount;
use crate::tree::rejection::Rejection;
use crate::tree::state::{Phase, State, Step};

pub(super) fn spawned(state: &State, spawned: &Spawned) -> Result<Vec<Body>, Rejection> {
    let attempt = state.open_attempt(&spawned.attempt)?;
    if state.attempts[attempt].spawned {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::AttemptSpawned {
        attempt,
        process: spawned.process,
        workspace: spawned.workspace.clone(),
        base: spawned.base.clone(),
    }])
}

/// Books what is new, and stops an attempt that crosses its ceiling or one above it.
pub(super) fn usage(state: &State, usage: &Usage) -> Result<Vec<Body>, Rejection> {
    let no = state.open_attempt(&usage.attempt)?;
    let attempt = &state.attempts[no];
    let before = attempt.tokens.unwrap_or_default();
    let tokens = before.at_least(&usage.tokens);
    let fresh = Amount {
        tokens: tokens.counted().saturating_sub(before.counted()),
        cost: usage.cost.unwrap_or_default() - attempt.cost.unwrap_or_default(),
    };
    let nothing_new = attempt.tokens == Some(tokens)
        && fresh == Amount::ZERO
        && (usage.cost.is_none() || attempt.cost.is_some())
        && (usage.context.is_none() || usage.context == attempt.context);
    if nothing_new {
        return Err(Rejection::Stale);
    }
    let (cost, context) = (usage.cost, usage.context);
    let mut bodies = vec![Body::UsageSettled { attempt: no, tokens, cost, context }];
    let account = state.subtasks[attempt.subtask].account;
    if fresh.exceeds(state.ledger.left(account)) && attempt.stop.is_none() {
        bodies.push(Body::StopRequested { attempt: no, reason: StopReason::Budget });
    }
    Ok(bodies)
}

pub(super) fn progress(state: &State, progress: &Progress) -> Result<Vec<Body>, Rejection> {
    let attempt = state.open_attempt(&progress.attempt)?;
    let known = &state.attempts[attempt];
    let same = known.progress == Some((progress.current, progress.total))
        && known.last_action.as_ref() == Some(&progress.last_action);
    if same {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::ProgressMade {
        attempt,
        current: progress.current,
        total: progress.total,
        last_action: progress.last_action.clone(),
    }])
}

fn stoppable(state: &State, id: &AttemptId) -> Result<AttemptNo, Rejection> {
    let attempt = state.open_attempt(id)?;
    if state.attempts[attempt].stop.is_some() { Err(Rejection::Stale) } else { Ok(attempt) }
}

pub(super) fn stall(state: &State, id: &AttemptId) -> Result<Vec<Body>, Rejection> {
    let attempt = stoppable(state, id)?;
    // One that waits for others does nothing, and should not.
    if state.attempts[attempt].step != Step::Working || state.attempts[attempt].open_children > 0 {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::StopRequested { attempt, reason: StopReason::Stalled }])
}

pub(super) fn ask(state: &State, id: &AttemptId, what: &str) -> Result<Vec<Body>, Rejection> {
    let attempt = stoppable(state, id)?;
    match state.attempts[attempt].step {
        Step::Starting | Step::Working | Step::Awaiting => {
            Ok(vec![Body::ApprovalAsked { attempt, what: what.to_owned() }])
        }
        Step::Asking(_) | Step::Answering(_) | Step::Ended => Err(Rejection::Stale),
    }
}

pub(super) fn answered(state: &State, id: &AttemptId) -> Result<Vec<Body>, Rejection> {
    let attempt = stoppable(state, id)?;
    let needs_slot = state.attempts[attempt].awaited.is_empty();
    let ready = matches!(state.attempts[attempt].step, Step::Answering(_));
    if !ready || (needs_slot && state.free_width(state.delegation_of(attempt)) == 0) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::ApprovalDelivered { attempt }])
}

pub(super) fn froze(state: &State, id: &AttemptId, frozen: bool) -> Result<Vec<Body>, Rejection> {
    let attempt = state.open_attempt(id)?;
    if state.attempts[attempt].frozen == frozen {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::AttemptFroze { attempt, frozen }])
}

/// A merge decides how its subtask ends: a conflict is a result, not a crash. Where an agent
/// is named for it, the subtask waits for what that makes of it.
pub(super) fn merged(
    state: &State,
    id: &AttemptId,
    outcome: &MergeOutcome,
    now: Now,
) -> Result<Vec<Body>, Rejection> {
    let attempt = state.attempt(id)?;
    let subtask = state.attempts[attempt].subtask;
    // Word of an earlier attempt's merge may come late, when the next one waits for its own.
    let is_last = state.subtasks[subtask].attempts.last() == Some(&attempt);
    if !is_last || state.subtasks[subtask].phase != Phase::Merging {
        return Err(Rejection::Stale);
    }
    let is_cancelled = state.is_cancelled(state.subtasks[subtask].delegation);
    let (ending, error) = match outcome {
        // It was broken off.
        MergeOutcome::Unverified { .. } | MergeOutcome::Failed { .. } if is_cancelled => {
            (Outcome::Cancelled, None)
        }
        MergeOutcome::Clean { .. } => (Outcome::Completed, None),
        MergeOutcome::Conflict { files, hunks } => {
            let nobody = match resolve::hand_over(state, subtask, (files, hunks), now) {
                Ok(added) => {
                    let merged = Body::MergeEnded { subtask, outcome: outcome.clone() };
                    return Ok(vec![merged, added]);
                }
                Err(nobody) => nobody,
            };
            (Outcome::Blocked, Some(resolve::conflict((files, hunks), nobody.as_deref())))
        }
        // The work is whole, and so is what it meets: only together they are not.
        MergeOutcome::Unverified { verify } => {
            (Outcome::Blocked, Some(trouble("verification", Code::BuildError, &unfit(verify))))
        }
        // The user's own checkout is in the way, and the user can move it.
        MergeOutcome::Failed { code: Code::WorkspaceFailed, message } => {
            (Outcome::Blocked, Some(trouble("merge", Code::WorkspaceFailed, message)))
        }
        MergeOutcome::Failed { code, message } => {
            (Outcome::Failed, Some(trouble("merge", *code, message)))
        }
    };
    Ok(vec![
        Body::MergeEnded { subtask, outcome: outcome.clone() },
        Body::SubtaskEnded(SubtaskEnded { subtask, outcome: ending, error }),
    ])
}

/// Which commands the merged files did not pass.
fn unfit(verify: &[Verification]) -> String {
    let failed = verify.iter().filter(|check| check.exit_code != Some(0));
    let failed = failed.map(|check| match check.exit_code {
        Some(code) => format!("`{}` ended with code {code}", check.command),
        None => format!("`{}` did not end by itself", check.command),
    });
    let failed: Vec<String> = failed.collect();
    format!("Its changes pass alone, and not with those merged before: {}.", failed.join(", "))
}

pub(super) fn trouble(kind: &str, code: Code, message: &str) -> ReturnError {
    ReturnError {
        kind: kind.to_owned(),
        message: message.to_owned(),
        code: Some(code.to_string()),
        recoverable: true,
        recommendation: "Retry it with a note: it will start from the merged result.".to_owned(),
    }
}

pub(super) fn rolled_back(state: &State, id: &DelegationId) -> Result<Vec<Body>, Rejection> {
    let delegation = state.delegation(id)?;
    if !state.open.to_roll_back.contains(&delegation) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::RolledBack { delegation }])
}

pub(super) fn result_left(
    state: &State,
    id: &DelegationId,
    why: &str,
) -> Result<Vec<Body>, Rejection> {
    let delegation = state.delegation(id)?;
    if !state.open.to_roll_back.contains(&delegation) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::ResultLeft { delegation, why: why.to_owned() }])
}

pub(super) fn workspace_left(
    state: &State,
    id: &AttemptId,
    why: &str,
) -> Result<Vec<Body>, Rejection> {
    let attempt = state.attempt(id)?;
    if !state.open.workspaces.contains(&attempt) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::WorkspaceLeft { attempt, why: why.to_owned() }])
}

pub(super) fn workspace_removed(
    state: &State,
    id: &AttemptId,
    kept: Option<&String>,
) -> Result<Vec<Body>, Rejection> {
    let attempt = state.attempt(id)?;
    if !state.open.workspaces.contains(&attempt) {
        return Err(Rejection::Stale);
    }
    Ok(vec![Body::WorkspaceRemoved { attempt, kept: kept.cloned() }])
}
