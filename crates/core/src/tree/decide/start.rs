//! Starting an attempt: a slot was found, and everything is checked once more.

use crate::code::Code;
use crate::money::Usd;
use crate::returns::ReturnError;
use crate::time::Now;
use crate::tree::arena::SubtaskNo;
use crate::tree::command::Start;
use crate::tree::event::{AttemptStarted, Body, Outcome, SubtaskEnded};
use crate::tree::rejection::Rejection;
use crate::tree::state::{Phase, State};

/// Between asking for a slot and getting one the tree may have moved on; then the start is stale.
pub(super) fn decide(state: &State, start: &Start, now: Now) -> Result<Vec<Body>, Rejection> {
    let delegation_no = state.delegation(&start.delegation)?;
    let subtask_no = state.subtask_in(delegation_no, &start.subtask)?;
    let subtask = &state.subtasks[subtask_no];
    let moved_on = subtask.phase != Phase::Queued
        || state.is_paused(delegation_no)
        || state.is_cancelled(delegation_no)
        || state.free_width(delegation_no) == 0
        || state.find_attempt(&start.attempt).is_some();
    if moved_on {
        return Err(Rejection::Stale);
    }
    if let Some(message) = unaffordable(state, subtask_no) {
        return Ok(vec![Body::SubtaskEnded(SubtaskEnded {
            subtask: subtask_no,
            outcome: Outcome::Failed,
            error: Some(ReturnError {
                kind: "budget".to_owned(),
                message,
                code: Some(Code::BudgetExceeded.to_string()),
                recoverable: false,
                recommendation: "Raise the budget and retry it.".to_owned(),
            }),
        })]);
    }
    let delegation = &state.delegations[delegation_no];
    let parent = delegation.parent.map(|no| state.attempts[no].deadline);
    let whole = delegation.deadline.unwrap_or(now.plus_ms(delegation.timeout_ms));
    let own = now.plus_ms(subtask.timeout_ms);
    Ok(vec![Body::AttemptStarted(AttemptStarted {
        subtask: subtask_no,
        id: start.attempt.clone(),
        session: start.session.clone(),
        deadline: own.min(whole).min(parent.unwrap_or(own)),
    })])
}

/// Why a subtask cannot be paid for any more, if so. What others overran is gone for
/// everyone after them; and where one has cost more than was reserved for it, those beside
/// and after it are expected to cost as much.
fn unaffordable(state: &State, no: SubtaskNo) -> Option<String> {
    let left = state.ledger.left(state.subtasks[no].account);
    if left.tokens == 0 || left.cost == Usd::ZERO {
        return Some("The budget was used up before this subtask could start.".to_owned());
    }
    let delegation = &state.delegations[state.subtasks[no].delegation];
    let left = state.ledger.left(state.purse(delegation.no)).cost;
    let needed = delegation.dearest.times(u64::from(delegation.slots).saturating_add(1));
    (left < needed).then(|| {
        let dearest = delegation.dearest;
        format!("{left} is left, and another subtask has cost {dearest}, more than its share.")
    })
}
