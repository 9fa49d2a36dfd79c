//! What follows from what is recorded: judging ended attempts, stopping the
//! rest after a failure, growing or ending delegations.
//!
//! One thing is decided at a time, on the state as it is after the last.

use std::sync::Arc;

use super::{cancel, resolve, retry};
use crate::returns::{ReturnError, ReturnStatus, StopReason};
use crate::time::Now;
use crate::tree::arena::{DelegationNo, SubtaskNo};
use crate::tree::bounds::{self, Ask, Purse};
use crate::tree::event::{
    AttemptEnded, Body, NewSubtask, Outcome, Retried, RetryCause, Role, SubtaskEnded,
};
use crate::tree::ledger::Amount;
use crate::tree::pattern::{self, Draft, Next};
use crate::tree::rejection::Refusal;
use crate::tree::state::State;

/// Decides the next thing that follows, or nothing.
pub(super) fn decide(state: &State, now: Now) -> Vec<Body> {
    let open = &state.open;
    if let Some(&subtask) = open.to_judge.first() {
        return judge(state, subtask, now);
    }
    if let Some(&delegation) = open.failing.first() {
        return stop_rest(state, delegation);
    }
    open.idle.first().map(|no| conclude(state, *no, now)).unwrap_or_default()
}

/// An attempt has ended: the subtask is tried again, merged, or ends with it.
fn judge(state: &State, no: SubtaskNo, now: Now) -> Vec<Body> {
    let subtask = &state.subtasks[no];
    if let Some(resolver) = subtask.resolver {
        return resolve::settle(state, no, resolver);
    }
    let last = subtask.attempts.last().and_then(|no| state.attempts[*no].end.as_deref());
    let Some(end) = last else {
        return vec![ended(no, Outcome::Failed, None)];
    };
    let cancelled = state.is_cancelled(subtask.delegation)
        || state.delegations[subtask.delegation].failed_fast
        || end.receipt.stop_reason == StopReason::Cancelled;
    if cancelled {
        return vec![ended(no, Outcome::Cancelled, None)];
    }
    if let Some(retried) = again(state, no, end, now) {
        return match bounds::check_tree_count(state, limits(state), 1) {
            Ok(()) => vec![Body::RetryScheduled(retried)],
            // What was not good enough once is no better for want of another try.
            Err(refusal) if end.status == ReturnStatus::Completed => {
                vec![ended(no, Outcome::Partial, Some(no_more(&refusal)))]
            }
            Err(refusal) => vec![ended(no, end.status.into(), Some(no_more(&refusal)))],
        };
    }
    match end.status {
        ReturnStatus::Completed if below_quality(state, end) => {
            vec![ended(no, Outcome::Partial, Some(not_good_enough(state, end)))]
        }
        ReturnStatus::Completed => {
            let delegation = &state.delegations[subtask.delegation];
            let merges = pattern::merges_by_itself(delegation, subtask) && end.has_work();
            if subtask.role == Role::Resolver && !merges {
                vec![ended(no, Outcome::Failed, Some(resolve::left_as_it_was()))]
            } else if merges {
                vec![Body::MergeRequested { subtask: no }]
            } else {
                vec![ended(no, Outcome::Completed, None)]
            }
        }
        ReturnStatus::Partial | ReturnStatus::Failed | ReturnStatus::Blocked => {
            vec![ended(no, end.status.into(), None)]
        }
    }
}

pub(super) fn ended(subtask: SubtaskNo, outcome: Outcome, error: Option<ReturnError>) -> Body {
    Body::SubtaskEnded(SubtaskEnded { subtask, outcome, error })
}

fn limits(state: &State) -> &crate::config::Limits {
    static DEFAULT: std::sync::LazyLock<crate::config::Limits> =
        std::sync::LazyLock::new(crate::config::Limits::default);
    state.settings.as_ref().map_or(&DEFAULT, |settings| &settings.limits)
}

fn below_quality(state: &State, end: &AttemptEnded) -> bool {
    pattern::is_poor(state, end.quality)
}

/// Whether the subtask is tried again by itself, and why.
fn again(state: &State, no: SubtaskNo, end: &AttemptEnded, now: Now) -> Option<Retried> {
    let subtask = &state.subtasks[no];
    let retried = |cause, not_before, note| {
        Some(Retried { subtask: no, cause, not_before, agent: None, note, reserved: None })
    };
    if end.receipt.stop_reason == StopReason::Lost {
        return retried(RetryCause::Lost, now, None);
    }
    // Work that was done is not thrown away because the provider is busy.
    if let Some(until) = end.hold_until.filter(|_| end.status != ReturnStatus::Completed) {
        return retried(RetryCause::RateLimit, until, None);
    }
    match end.status {
        // A conflict is handed over once.
        ReturnStatus::Failed | ReturnStatus::Completed if subtask.role == Role::Resolver => None,
        ReturnStatus::Failed => {
            let backoff_ms = retry::backoff_ms(state, no, end)?;
            let note = retry::what_went_wrong(state, no);
            retried(RetryCause::Failure, now.plus_ms(backoff_ms), note)
        }
        ReturnStatus::Completed if below_quality(state, end) && !subtask.polished => {
            retried(RetryCause::Quality, now, Some(not_good_enough(state, end).message))
        }
        ReturnStatus::Completed | ReturnStatus::Partial | ReturnStatus::Blocked => None,
    }
}

fn not_good_enough(state: &State, end: &AttemptEnded) -> ReturnError {
    let least = state.settings.as_ref().and_then(|settings| settings.quality_threshold);
    let quality = end.quality.unwrap_or(0);
    ReturnError {
        kind: "quality".to_owned(),
        message: format!("Measured quality {quality} is below {}.", least.unwrap_or(0)),
        code: None,
        recoverable: true,
        recommendation: "Retry it with a note that says what is missing.".to_owned(),
    }
}

fn no_more(refusal: &Refusal) -> ReturnError {
    ReturnError {
        kind: "limit".to_owned(),
        message: refusal.message.clone(),
        code: Some(refusal.code.to_string()),
        recoverable: false,
        recommendation: refusal.hint.clone(),
    }
}

/// A subtask failed and the configuration says that the rest must not go on.
fn stop_rest(state: &State, delegation: DelegationNo) -> Vec<Body> {
    let mut bodies = vec![Body::RestStopped { delegation }];
    for &subtask in &state.delegations[delegation].subtasks {
        if state.subtasks[subtask].outcome().is_none() {
            let by = ("legation", "another subtask failed");
            bodies.extend(cancel::stop_subtask(state, subtask, by));
        }
    }
    bodies
}

/// Nothing in the delegation gets on by itself: the pattern says what comes next.
fn conclude(state: &State, no: DelegationNo, now: Now) -> Vec<Body> {
    let delegation = &state.delegations[no];
    let next = match pattern::next(state, no) {
        Next::Grow(_) if delegation.failed_fast => {
            pattern::stop_short(state, no, "a subtask failed")
        }
        Next::Grow(_) if delegation.time_is_up(now) => {
            pattern::stop_short(state, no, "the time ran out")
        }
        Next::Grow(drafts) => match grow(state, no, &drafts) {
            Ok(subtasks) => {
                return vec![Body::SubtasksAdded { delegation: no, subtasks }];
            }
            Err(refusal) => pattern::stop_short(state, no, &refusal.message),
        },
        end @ (Next::Choose(_) | Next::End(..)) => end,
    };
    match next {
        Next::Grow(_) => Vec::new(),
        Next::Choose(subtask) => {
            let mut bodies = vec![Body::WinnerChosen { delegation: no, subtask }];
            let last = state.subtasks[subtask].attempts.last();
            let end = last.and_then(|no| state.attempts[*no].end.as_deref());
            if end.is_some_and(AttemptEnded::has_work) {
                bodies.push(Body::MergeRequested { subtask });
            }
            bodies
        }
        Next::End(outcome, result) => {
            vec![Body::DelegationEnded { delegation: no, outcome, result: Arc::new(result) }]
        }
    }
}

/// What a pattern adds must close no circle, and fit within the tree's count and the caller's
/// purse.
pub(super) fn grow(
    state: &State,
    no: DelegationNo,
    drafts: &[Draft],
) -> Result<Vec<NewSubtask>, Refusal> {
    let limits = limits(state);
    bounds::check_tree_count(state, limits, drafts.len() as u64)?;
    let asks: Vec<Ask<'_>> = drafts.iter().map(Draft::ask).collect();
    // What met a conflict spends no more: its share goes to whoever resolves it.
    let done = drafts.iter().find_map(|draft| draft.resolves);
    let reserved = bounds::reserve(limits, &purse_without(state, no, done), &asks)?;
    let caller = bounds::asker(&state.delegations[no]);
    for ask in &asks {
        bounds::check_cycle(&caller, ask)?;
        bounds::check_metered(limits, ask)?;
    }
    let granted = asks.into_iter().map(|ask| ask.key).zip(reserved);
    let new = drafts.iter().zip(granted);
    Ok(new.map(|(draft, granted)| draft.granted(limits, granted)).collect())
}

/// What a delegation's later subtasks may draw on: of the call's own budget only what neither
/// was used nor is held by its other subtasks.
pub(super) fn purse(state: &State, no: DelegationNo) -> Purse {
    purse_without(state, no, None)
}

/// The same, with what one of them holds given back.
fn purse_without(state: &State, no: DelegationNo, done: Option<SubtaskNo>) -> Purse {
    let delegation = &state.delegations[no];
    let closed = done.map(|no| state.subtasks[no].account);
    let mut remainder = state.ledger.remainder_without(state.purse(no), closed);
    if let Some(cap) = delegation.cap {
        let others = delegation.subtasks.iter().filter(|no| Some(**no) != done);
        let accounts = others.map(|no| state.subtasks[*no].account);
        let open = accounts.map(|no| state.ledger.get(no)).filter(|account| account.open);
        let held = open.fold(Amount::ZERO, |sum, account| sum + (account.ceiling - account.used));
        remainder = remainder.min(cap - delegation.used - held);
    }
    Purse { remainder, tokens: None, cost: None }
}
