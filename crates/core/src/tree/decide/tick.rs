//! What the passing of time means.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::returns::{ReturnError, StopReason};
use crate::time::Now;
use crate::tree::arena::DelegationNo;
use crate::tree::event::{Body, Outcome, SubtaskEnded};
use crate::tree::state::{Phase, State, Step, Timer};

/// Everything that is due by now.
pub(super) fn decide(state: &State, now: Now) -> Vec<Body> {
    let mut bodies = Vec::new();
    // A delegation and one below it may run out of time together.
    let mut done = BTreeSet::new();
    for (_, timer) in state.open.timers.iter().take_while(|(at, _)| *at <= now) {
        match timer {
            Timer::Attempt(attempt) => {
                let asking = matches!(state.attempts[*attempt].step, Step::Asking(_));
                let reason = if asking { StopReason::Unanswered } else { StopReason::Timeout };
                bodies.push(Body::StopRequested { attempt: *attempt, reason });
            }
            // What ended a moment ago, with its delegation's time, is not tried again.
            Timer::Subtask(subtask) if done.contains(&state.subtasks[*subtask].delegation) => {}
            Timer::Subtask(subtask) => bodies.push(Body::RetryDue { subtask: *subtask }),
            Timer::Delegation(delegation) => {
                bodies.push(Body::TimeRanOut { delegation: *delegation });
                let below = state.leaves_first(*delegation).into_iter();
                let fresh: Vec<DelegationNo> = below.filter(|no| done.insert(*no)).collect();
                for below in fresh {
                    time_out(state, below, now, &mut bodies);
                }
            }
        }
    }
    bodies
}

/// Stops what runs and ends what has not started.
fn time_out(state: &State, no: DelegationNo, now: Now, bodies: &mut Vec<Body>) {
    for &subtask_no in &state.delegations[no].subtasks {
        let subtask = &state.subtasks[subtask_no];
        if subtask.is_idle() {
            let unanswered = subtask.phase == Phase::AwaitingApproval;
            let outcome = if unanswered { Outcome::Blocked } else { Outcome::Partial };
            let error = Some(if unanswered { nobody_answered() } else { never_started() });
            bodies.push(Body::SubtaskEnded(SubtaskEnded { subtask: subtask_no, outcome, error }));
            continue;
        }
        let Some(&attempt) = subtask.attempts.last() else {
            continue;
        };
        let running = &state.attempts[attempt];
        // One that is due by itself is told so in the same tick.
        if !running.ended() && running.stop.is_none() && running.deadline > now {
            bodies.push(Body::StopRequested { attempt, reason: StopReason::Timeout });
        }
    }
}

fn never_started() -> ReturnError {
    ReturnError {
        kind: "timeout".to_owned(),
        message: "The delegation's time ran out before this subtask could start.".to_owned(),
        code: Some(Code::Timeout.to_string()),
        recoverable: true,
        recommendation: "Retry it, or give the delegation more time.".to_owned(),
    }
}

fn nobody_answered() -> ReturnError {
    ReturnError {
        kind: "approval".to_owned(),
        message: "Nobody approved it in time.".to_owned(),
        code: Some(Code::PermissionDenied.to_string()),
        recoverable: true,
        recommendation: "Retry it and approve it, or skip it.".to_owned(),
    }
}
