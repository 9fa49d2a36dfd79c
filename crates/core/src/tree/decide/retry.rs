//! Trying a subtask again, or doing without it.

use super::advance::purse;
use super::resolve;
use crate::code::Code;
use crate::digest;
use crate::ids::{DelegationId, SubtaskId};
use crate::time::Now;
use crate::tree::arena::{DelegationNo, SubtaskNo};
use crate::tree::bounds::{self, Ask};
use crate::tree::command::{Candidate, Retry};
use crate::tree::event::{
    AttemptEnded, Body, Hunk, MergeOutcome, Outcome, Retried, RetryCause, Substitute, SubtaskEnded,
};
use crate::tree::ledger::Amount;
use crate::tree::rejection::{Refusal, Rejection};
use crate::tree::state::{State, Subtask};

/// Milliseconds before the first automatic retry; doubled each time.
const BACKOFF_MS: u64 = 2_000;
/// However often it was doubled.
const MAX_BACKOFF_MS: u64 = 5 * 60 * 1000;

/// How long to wait before a failed subtask is tried again by itself, if it is.
pub(super) fn backoff_ms(state: &State, no: SubtaskNo, end: &AttemptEnded) -> Option<u64> {
    let subtask = &state.subtasks[no];
    let recovery = &state.settings.as_ref()?.recovery;
    let most = subtask.habits.max_retries.unwrap_or(recovery.max_retries);
    if !recovery.auto_retry || subtask.retries >= most || !may_help(end) {
        return None;
    }
    let first = subtask.habits.backoff_ms.unwrap_or(BACKOFF_MS);
    let doubled = first.saturating_mul(1 << subtask.retries.min(20)).min(MAX_BACKOFF_MS);
    // Up to a quarter more, so that many failures at once do not come back at once. The
    // session is as good as a die, and the log replays the same.
    let session = end.answer.metadata.session_id.as_str();
    let die = u64::from_str_radix(&digest::hex(&[session], 4), 16).unwrap_or(0);
    Some(doubled + doubled / 4 * die / 0xffff)
}

/// Trying again cannot help against a refusal, a bad task or an empty purse. A return that
/// failed its checks is no such thing: the next attempt may write a better one.
fn may_help(end: &AttemptEnded) -> bool {
    let hopeless = [
        Code::PermissionDenied,
        Code::AgentNotFound,
        Code::AgentNotAllowed,
        Code::BudgetExceeded,
        Code::ContextExceeded,
        Code::MaxDepthExceeded,
        Code::CycleDetected,
        Code::TooManyDelegations,
        Code::DelegationDisabled,
    ];
    let is_hopeless = |code: &String| hopeless.iter().any(|known| known.as_str() == code);
    let errors = &end.answer.errors;
    errors.iter().all(|e| e.recoverable && !e.code.as_ref().is_some_and(is_hopeless))
}

/// What the next attempt should know of the last one.
pub(super) fn what_went_wrong(state: &State, no: SubtaskNo) -> Option<String> {
    let subtask = &state.subtasks[no];
    // What came after an attempt, or before the first, is nearer than what the attempt said.
    if let (Some(outcome), Some(error)) = (subtask.outcome(), &subtask.error) {
        let said = format!("It ended {} before: {}", outcome.as_str(), error.message);
        return Some(said + &against(subtask.merge.as_ref()));
    }
    let end = subtask.attempts.last().and_then(|no| state.attempts[*no].end.as_deref())?;
    let errors: Vec<&str> = end.answer.errors.iter().map(|error| error.message.as_str()).collect();
    let outcome = Outcome::from(end.status).as_str();
    Some(format!("The attempt before this one ended {outcome}: {}", errors.join("; ")))
}

/// What the next attempt has to bring together, where the last one's merge met a conflict.
fn against(merge: Option<&MergeOutcome>) -> String {
    let hunks = match merge {
        Some(MergeOutcome::Conflict { hunks, .. }) => hunks.as_slice(),
        Some(
            MergeOutcome::Clean { .. }
            | MergeOutcome::Unverified { .. }
            | MergeOutcome::Failed { .. },
        )
        | None => &[],
    };
    let shown = |hunk: &Hunk| format!("\n{}, line {}:\n{}", hunk.file, hunk.line, hunk.text);
    // What has no lines is in the words of the error.
    hunks.iter().filter(|hunk| hunk.kind.is_none()).map(shown).collect()
}

/// A human or a parent asks for another try.
pub(super) fn decide(state: &State, retry: &Retry, now: Now) -> Result<Vec<Body>, Rejection> {
    let (delegation, subtask_no) = movable(state, &retry.delegation, &retry.subtask)?;
    let subtask = &state.subtasks[subtask_no];
    match subtask.outcome() {
        Some(outcome @ (Outcome::Completed | Outcome::Skipped)) => {
            // What depends on it may have gone on already.
            let message = format!("Subtask `{}` is {}.", subtask.id, outcome.as_str());
            return Err(Rejection::conflict(message, "Start a new delegation to change its work."));
        }
        None => {
            let message =
                format!("Subtask `{}` has not ended ({}).", subtask.id, state.status(subtask_no));
            return Err(Rejection::conflict(
                message,
                "Retry what it waits for, or wait for its end.",
            ));
        }
        Some(_) if subtask.unmet > 0 => {
            let message =
                format!("Subtask `{}` needs others that have not ended well.", subtask.id);
            return Err(Rejection::conflict(message, "Retry or skip those first."));
        }
        Some(_) if resolve::is_past(state, subtask_no) => {
            let message = format!("What `{}` was to resolve has moved on.", subtask.id);
            return Err(Rejection::conflict(message, "Retry the subtask that met the conflict."));
        }
        Some(_) => {}
    }
    let owner = &state.delegations[delegation];
    if owner.ended.is_none() && owner.time_is_up(now) {
        let message = format!("The time of `{}` is up; it is about to end.", owner.id);
        return Err(Rejection::conflict(message, "Retry it once the delegation has ended."));
    }
    if let Some(Candidate { agent, permitted, habits, .. }) = &retry.agent {
        permitted.clone().map_err(Refusal::from)?;
        let key = bounds::call_key(agent, &subtask.task);
        let ask = Ask { agent, key, habits, ..ask(subtask) };
        bounds::check_cycle(&bounds::asker(owner), &ask)?;
        let limits = state.settings.as_ref().map(|settings| &settings.limits);
        bounds::check_metered(limits.ok_or(Rejection::Stale)?, &ask)?;
    }
    let mut bodies = reopen(state, delegation, &[subtask_no])?;
    let reserved = take(&mut bodies, subtask_no);
    let agent = retry.agent.clone().map(|candidate| Substitute {
        agent: candidate.agent,
        habits: candidate.habits,
        needs_approval: candidate.needs_approval,
    });
    bodies.push(Body::RetryScheduled(Retried {
        subtask: subtask_no,
        cause: RetryCause::Request,
        not_before: now,
        agent,
        note: note(what_went_wrong(state, subtask_no), retry.note.as_deref()),
        reserved,
    }));
    bodies.retain(|body| {
        !matches!(body, Body::DelegationReopened { .. }) || ended(state, delegation)
    });
    Ok(bodies)
}

/// What went wrong, and below it what the one who asks has to say.
fn note(wrong: Option<String>, said: Option<&str>) -> Option<String> {
    match (wrong, said) {
        (Some(wrong), Some(said)) => Some(format!("{wrong}\n{said}")),
        (wrong, said) => wrong.or(said.map(str::to_owned)),
    }
}

/// Its dependents run, told what is missing.
pub(super) fn skip(
    state: &State,
    delegation: &DelegationId,
    subtask: &SubtaskId,
    reason: &str,
) -> Result<Vec<Body>, Rejection> {
    let (delegation, no) = movable(state, delegation, subtask)?;
    let skipped = &state.subtasks[no];
    let can = match skipped.outcome() {
        None => skipped.is_idle(),
        Some(Outcome::Completed | Outcome::Skipped) => false,
        Some(Outcome::Partial | Outcome::Failed | Outcome::Blocked | Outcome::Cancelled) => true,
    };
    if !can {
        let message = format!("Subtask `{subtask}` cannot be skipped: it is {}.", state.status(no));
        return Err(Rejection::conflict(message, "Cancel the subtask first if it runs."));
    }
    let mut bodies =
        if ended(state, delegation) { reopen(state, delegation, &[])? } else { Vec::new() };
    let reason = if reason.is_empty() { "skipped on request" } else { reason };
    bodies.push(Body::SubtaskEnded(SubtaskEnded {
        subtask: no,
        outcome: Outcome::Skipped,
        error: Some(crate::returns::ReturnError {
            kind: "skipped".to_owned(),
            message: reason.to_owned(),
            code: None,
            recoverable: true,
            recommendation: String::new(),
        }),
    }));
    Ok(bodies)
}

fn ended(state: &State, delegation: DelegationNo) -> bool {
    state.delegations[delegation].ended.is_some()
}

/// A subtask whose delegation can still move: not cancelled, and its parent still runs.
fn movable(
    state: &State,
    delegation: &DelegationId,
    subtask: &SubtaskId,
) -> Result<(DelegationNo, SubtaskNo), Rejection> {
    let delegation_no = state.delegation(delegation)?;
    let subtask_no = state.subtask_in(delegation_no, subtask)?;
    let owner = &state.delegations[delegation_no];
    let parent_ended = owner.parent.is_some_and(|no| state.attempts[no].ended());
    if parent_ended || state.is_cancelled(delegation_no) {
        let message = format!("`{delegation}` was cancelled, or the agent that asked has ended.");
        return Err(Rejection::conflict(message, "Start a new delegation."));
    }
    if owner.rolled_back || state.open.to_roll_back.contains(&delegation_no) {
        // What is completed in it would be missing from the result.
        let message = format!("What `{delegation}` had merged was taken back.");
        return Err(Rejection::conflict(message, "Start a new delegation."));
    }
    Ok((delegation_no, subtask_no))
}

/// What goes on again reserves anew: what it had was released when it ended.
fn reopen(
    state: &State,
    delegation: DelegationNo,
    retried: &[SubtaskNo],
) -> Result<Vec<Body>, Rejection> {
    let limits = &state.settings.as_ref().ok_or(Rejection::Stale)?.limits;
    // One that never ran was counted when it came to be.
    let again = retried.iter().filter(|no| !state.subtasks[**no].attempts.is_empty());
    bounds::check_tree_count(state, limits, again.count() as u64)?;
    let waiting = state.delegations[delegation].subtasks.iter().copied();
    let waiting =
        waiting.filter(|no| ended(state, delegation) && state.subtasks[*no].outcome().is_none());
    let all: Vec<SubtaskNo> = waiting.chain(retried.iter().copied()).collect();
    let asks: Vec<Ask<'_>> = all.iter().map(|no| ask(&state.subtasks[*no])).collect();
    let amounts: Vec<Amount> = if asks.is_empty() {
        Vec::new()
    } else {
        bounds::reserve(limits, &purse(state, delegation), &asks)?
    };
    let reserved = all.into_iter().zip(amounts).collect();
    Ok(vec![Body::DelegationReopened { delegation, reserved }])
}

/// The retried subtask's own reservation goes with its own event.
fn take(bodies: &mut [Body], subtask: SubtaskNo) -> Option<Amount> {
    for body in bodies {
        if let Body::DelegationReopened { reserved, .. } = body {
            let at = reserved.iter().position(|(no, _)| *no == subtask)?;
            return Some(reserved.remove(at).1);
        }
    }
    None
}

fn ask(subtask: &Subtask) -> Ask<'_> {
    Ask {
        title: &subtask.title,
        task: &subtask.task,
        agent: &subtask.agent,
        key: subtask.call_key.clone(),
        habits: &subtask.habits,
        tokens: subtask.tokens,
    }
}
