//! The end of an attempt: what it says it did, and what that is worth.

use std::sync::Arc;

use super::cancel;
use crate::prices::CostBasis;
use crate::returns::{self, Ceiling, Grandchild, Metadata, Receipt, Return, Stop, StopReason};
use crate::time::Now;
use crate::tree::arena::AttemptNo;
use crate::tree::command::{End, Said};
use crate::tree::event::{AttemptEnded, Body};
use crate::tree::rejection::Rejection;
use crate::tree::state::State;

/// Records the end, with the runtime's own figures in it. What the attempt had
/// delegated and nobody waits for any more is cancelled.
pub(super) fn decide(state: &State, end: &End, now: Now) -> Result<Vec<Body>, Rejection> {
    let no = state.open_attempt(&end.attempt)?;
    // It may have ended while nobody was there to see it.
    let ended_at = end.timing.ended_at.map_or(now, |at| at.min(now));
    let receipt = receipt(state, no, end, ended_at);
    let metadata = metadata(state, no, ended_at);
    let (answer, receipt) = judge(state, no, end, (metadata, receipt));
    let ended = AttemptEnded {
        attempt: no,
        status: answer.status,
        answer,
        receipt,
        quality: end.quality,
        hold_until: end.hold_until,
        raw: end.raw.clone(),
    };
    let mut bodies = vec![Body::AttemptEnded(Arc::new(ended))];
    bodies.extend(cancel::orphans(state, no, ("legation", "the attempt that asked has ended")));
    Ok(bodies)
}

/// The runtime's own word on depth and path; what the child said of them is not believed.
fn metadata(state: &State, no: AttemptNo, now: Now) -> Metadata {
    let attempt = &state.attempts[no];
    Metadata {
        session_id: attempt.session.clone(),
        agent_type: attempt.agent.clone(),
        delegation_depth: attempt.depth,
        delegation_path: attempt.path.to_vec(),
        duration_seconds: Some(attempt.elapsed_ms(now) as f64 / 1000.0),
    }
}

fn receipt(state: &State, no: AttemptNo, end: &End, now: Now) -> Receipt {
    let attempt = &state.attempts[no];
    let mut receipt = end.receipt.clone();
    let in_time = end.timing.ended_at.is_none_or(|at| at <= attempt.deadline);
    receipt.stop_reason = match attempt.stop {
        // It had ended when its time was up; only the word of it came later.
        Some(StopReason::Timeout) if end.timing.by_itself && in_time => receipt.stop_reason,
        stop => stop.unwrap_or(receipt.stop_reason),
    };
    receipt.duration_ms = attempt.elapsed_ms(now);
    receipt.tokens = match (attempt.tokens, receipt.tokens) {
        (Some(known), Some(last)) => Some(known.at_least(&last)),
        (known, last) => known.or(last),
    };
    // The runner's own word counts, even where a table of prices had said more on the way;
    // but not from somebody who missed some of what was told, such as an engine that came
    // back to an output of which the middle is gone.
    let heard_all = receipt.tokens.unwrap_or_default() == end.receipt.tokens.unwrap_or_default();
    if receipt.cost_basis != Some(CostBasis::Runner) || !heard_all {
        receipt.cost_usd = attempt.cost.max(receipt.cost_usd);
    }
    let child = |no: &_| {
        let child: &crate::tree::state::Delegation = &state.delegations[*no];
        let ended = child.ended.map(|outcome| outcome.as_str().to_owned());
        Grandchild { delegation_id: child.id.clone(), ended }
    };
    receipt.grandchildren = attempt.children.iter().map(child).collect();
    receipt.evidence = returns::evidence(&receipt);
    receipt
}

/// What the end is worth. A stop of ours decides before anything the child says, except
/// that a return which was handed in before the time was up has been given in time.
fn judge(
    state: &State,
    no: AttemptNo,
    end: &End,
    (metadata, receipt): (Metadata, Receipt),
) -> (Return, Receipt) {
    let attempt = &state.attempts[no];
    let subtask = &state.subtasks[attempt.subtask];
    let delegation = &state.delegations[subtask.delegation];
    let ceiling = ceiling(state, no, &receipt);
    let reason = delegation.cancelled.as_ref().map(|(_, reason)| reason.as_str());
    let exit_code = receipt.exit_code;
    let in_time = end.timing.handed_in_at.is_some_and(|at| at <= attempt.deadline);
    let stop = match (receipt.stop_reason, &end.said) {
        (StopReason::Timeout, Said::Return(claim)) if in_time => {
            let claim = claim.clone().attested(metadata);
            return returns::settle(claim, receipt, subtask.habits.operation);
        }
        (StopReason::Timeout, _) => Stop::TimedOut { after_ms: attempt.allowed_ms },
        (StopReason::Stalled, _) => Stop::Stalled { after_ms: receipt.duration_ms },
        (StopReason::Cancelled, _) => Stop::Cancelled { reason },
        (StopReason::Budget, _) => Stop::Budget(ceiling),
        (StopReason::Unanswered, _) => Stop::Unanswered,
        (StopReason::Lost, _) => Stop::Lost,
        (StopReason::Exited | StopReason::Killed | StopReason::NotStarted, said) => match said {
            Said::Return(claim) => {
                let claim = claim.clone().attested(metadata);
                return returns::settle(claim, receipt, subtask.habits.operation);
            }
            Said::Invalid(violation) => Stop::Invalid(violation),
            Said::Nothing => Stop::NoReturn { exit_code },
            Said::NotStarted { code, why } => Stop::NotStarted { code: *code, why },
        },
    };
    let found = receipt.files_changed.clone();
    let resume = format!("legation retry {} {}", delegation.id, subtask.id);
    (returns::on_behalf(returns::Attempt { metadata, found, resume }, &stop), receipt)
}

/// Which ceiling was crossed: in tokens, else in money.
fn ceiling(state: &State, no: AttemptNo, receipt: &Receipt) -> Ceiling {
    let account = state.ledger.get(state.subtasks[state.attempts[no].subtask].account);
    let used = receipt.tokens.unwrap_or_default().counted().max(account.used.tokens);
    if used > account.ceiling.tokens {
        return Ceiling::Tokens { used, ceiling: account.ceiling.tokens };
    }
    let used = receipt.cost_usd.unwrap_or_default().max(account.used.cost);
    Ceiling::Cost { used, ceiling: account.ceiling.cost }
}
