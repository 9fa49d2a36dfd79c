//! A delegation as the API shows it, with everything below.

use std::sync::Arc;

use serde::Serialize;

use super::Stamp;
use super::cost::{Cost, cost};
use crate::config::Pattern;
use crate::ids::{AgentId, DelegationId, SessionId, SubtaskId, TaskId};
use crate::money::Usd;
use crate::returns::{Receipt, Return, ReturnError, Verification, failure_sentence};
use crate::time::Now;
use crate::tree::arena::{DelegationNo, SubtaskNo};
use crate::tree::bounds::Remaining;
use crate::tree::event::{AttemptEnded, DelegationResult, Hunk, MergeOutcome, Outcome, Role};
use crate::tree::pattern;
use crate::tree::state::{Phase, State, Subtask};

/// A delegation with its subtasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DelegationView {
    /// Its id.
    pub delegation_id: DelegationId,
    /// The task it is about.
    pub task_id: TaskId,
    /// The task, in a line.
    pub title: String,
    /// How it stands.
    pub status: &'static str,
    /// How the subtasks are run.
    pub pattern: Pattern,
    /// How far it is.
    pub progress: ProgressView,
    /// When its first attempt started.
    pub started_at: Option<Stamp>,
    /// When it ended.
    pub ended_at: Option<Stamp>,
    /// Whether it has to stop and has not yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancel_requested: bool,
    /// Why it is paused, cancelled or what else is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What stands against what whoever asked has changed itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<MergeDetails>,
    /// What could not be cleared away: what, why and where it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
    /// Its subtasks.
    pub subtasks: Vec<SubtaskView>,
    /// What it used.
    pub metrics: Metrics,
    /// What came of it.
    pub result: Option<Arc<DelegationResult>>,
    /// What whoever asked may still ask for; only in the answer to a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Remaining>,
}

/// How far a delegation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProgressView {
    /// Subtasks that ended well or were skipped.
    pub completed: u32,
    /// Subtasks in all.
    pub total: u32,
    /// Hundredths, rounded down.
    pub percentage: u32,
}

/// What a delegation used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    /// Tokens that count, everything below included; absent where nothing is known.
    pub tokens_used: Option<u64>,
    /// Dollars, everything below included; absent where nothing is known.
    pub estimated_cost: Option<Usd>,
    /// Milliseconds since it started, or until it ended; paused time does not count.
    pub elapsed_time: u64,
    /// The mean of the measured qualities; absent where none was measured.
    pub avg_subtask_quality: Option<u32>,
}

/// A subtask with its last attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubtaskView {
    /// Its id within its delegation.
    pub id: SubtaskId,
    /// What is to be done, in a line.
    pub title: String,
    /// Who does it.
    pub agent: AgentId,
    /// The part it plays.
    pub role: Role,
    /// The round of its pattern.
    pub round: u32,
    /// How it stands.
    pub status: &'static str,
    /// What comes before it.
    pub depends_on: Vec<SubtaskId>,
    /// What is in the way.
    pub blocked_by: Vec<SubtaskId>,
    /// Until when it waits by itself, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
    /// Attempts so far.
    pub attempts: usize,
    /// What its last attempt is called in its return.
    pub session_id: Option<SessionId>,
    /// When its last attempt started.
    pub started_at: Option<Stamp>,
    /// When its last attempt ended.
    pub ended_at: Option<Stamp>,
    /// When its last attempt's time is up.
    pub deadline: Option<Stamp>,
    /// Milliseconds that its last attempt has taken; paused time does not count.
    pub elapsed_time: Option<u64>,
    /// Milliseconds each attempt may take.
    pub timeout_ms: u64,
    /// How deep it stands.
    pub depth: u32,
    /// The agents above it, and itself.
    pub path: Vec<AgentId>,
    /// How far its last attempt says it is.
    pub progress: Option<(u64, u64)>,
    /// What its last attempt did last.
    pub last_action: Option<String>,
    /// What its last attempt asks a person for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// Measured quality; absent where unknown.
    pub quality: Option<u32>,
    /// Where it failed: what to do about it, or what stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What is wrong, where it did not come from an attempt.
    pub error: Option<TroubleView>,
    /// What its last attempt said.
    #[serde(rename = "return")]
    pub answer: Option<Return>,
    /// What the runtime saw of it.
    pub receipt: Option<Receipt>,
    /// The raw text, where no return could be had from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// What its attempts delegated in turn.
    pub delegations: Vec<DelegationView>,
}

/// A subtask that is tried again, but not before its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitView {
    /// Why it waits.
    pub why: &'static str,
    /// Until when.
    pub until: Stamp,
}

/// What is wrong with a subtask, with what there is to see of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TroubleView {
    /// What is wrong.
    #[serde(flatten)]
    pub error: ReturnError,
    /// What a merge met that did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<MergeDetails>,
}

/// What stands in the way of a merge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MergeDetails {
    /// Files that both sides changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What stands against what in them; there for every conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<Hunk>>,
    /// The commands that ran on the merged files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<Verification>,
}

/// A delegation as it stands now.
pub fn status(state: &State, no: DelegationNo, now: Now) -> DelegationView {
    let delegation = &state.delegations[no];
    let total = u32::try_from(delegation.subtasks.len()).unwrap_or(u32::MAX);
    let undecided = delegation.subtasks.iter().filter(|no| state.awaits_choice(**no)).count();
    let done = delegation.done.saturating_sub(u32::try_from(undecided).unwrap_or(u32::MAX));
    let percentage = (u64::from(done) * 100).checked_div(u64::from(total));
    let paused = delegation.paused.as_ref().map(|pause| pause.reason.clone());
    let cancelled = delegation.cancelled.as_ref().map(|(by, reason)| match reason.as_str() {
        "" => format!("{by} gave no reason"),
        reason => format!("{by}: {reason}"),
    });
    let not_brought = delegation.not_brought.as_deref();
    DelegationView {
        delegation_id: delegation.id.clone(),
        task_id: delegation.task_id.clone(),
        title: delegation.title.clone(),
        status: state.delegation_status(no),
        pattern: delegation.pattern,
        progress: ProgressView {
            completed: done,
            total,
            percentage: percentage.and_then(|p| u32::try_from(p).ok()).unwrap_or(0),
        },
        started_at: delegation.started_at.map(Stamp),
        ended_at: delegation.ended_at.map(Stamp),
        cancel_requested: state.is_stopping(no),
        reason: cancelled
            .or(paused)
            .filter(|reason| !reason.is_empty())
            .or_else(|| not_brought.map(|not| not.why.clone())),
        details: not_brought.filter(|not| !not.files.is_empty()).map(|not| MergeDetails {
            files: not.files.clone(),
            hunks: Some(not.hunks.clone()),
            verify: Vec::new(),
        }),
        left_behind: delegation.left_behind.clone(),
        subtasks: delegation.subtasks.iter().map(|no| subtask(state, *no, now)).collect(),
        metrics: metrics(state, no, now),
        result: delegation.result.clone(),
        remaining: None,
    }
}

fn metrics(state: &State, no: DelegationNo, now: Now) -> Metrics {
    let delegation = &state.delegations[no];
    let Cost { total_usd, .. } = cost(state, no);
    let qualities: Vec<u32> =
        delegation.subtasks.iter().filter_map(|no| pattern::quality(state, *no)).collect();
    let sum: u64 = qualities.iter().map(|quality| u64::from(*quality)).sum();
    let mean = sum.checked_div(qualities.len() as u64);
    Metrics {
        tokens_used: Some(delegation.used.tokens).filter(|used| *used > 0),
        estimated_cost: total_usd,
        elapsed_time: delegation.elapsed_ms(now),
        avg_subtask_quality: mean.and_then(|mean| u32::try_from(mean).ok()),
    }
}

fn last(state: &State, no: SubtaskNo) -> Option<&AttemptEnded> {
    let attempt = state.subtasks[no].attempts.last()?;
    state.attempts[*attempt].end.as_deref()
}

/// What a person is told of a failure, by all that is known of it.
fn failure(subtask: &Subtask, end: Option<&AttemptEnded>) -> Option<String> {
    let said = end.into_iter().flat_map(|end| &end.answer.errors);
    let errors: Vec<ReturnError> = said.chain(&subtask.error).cloned().collect();
    (subtask.outcome() == Some(Outcome::Failed)).then(|| failure_sentence(&errors))
}

fn wait(phase: Phase, last: Option<&AttemptEnded>) -> Option<WaitView> {
    let Phase::Backoff(until) = phase else { return None };
    let held = last.is_some_and(|end| end.hold_until.is_some());
    let why =
        if held { "its provider takes nothing before" } else { "it failed and is tried again" };
    Some(WaitView { why, until: Stamp(until) })
}

fn trouble(subtask: &Subtask) -> Option<TroubleView> {
    let error = subtask.error.clone()?;
    let blocked = subtask.outcome() == Some(Outcome::Blocked);
    let details = match subtask.merge.as_ref().filter(|_| blocked) {
        Some(MergeOutcome::Conflict { files, hunks }) => {
            let (files, hunks) = (files.clone(), Some(hunks.clone()));
            Some(MergeDetails { files, hunks, ..MergeDetails::default() })
        }
        Some(MergeOutcome::Unverified { verify }) => {
            Some(MergeDetails { verify: verify.clone(), ..MergeDetails::default() })
        }
        Some(MergeOutcome::Clean { .. } | MergeOutcome::Failed { .. }) | None => None,
    };
    Some(TroubleView { error, details })
}

fn subtask(state: &State, no: SubtaskNo, now: Now) -> SubtaskView {
    let subtask = &state.subtasks[no];
    let delegation = &state.delegations[subtask.delegation];
    let attempt = subtask.attempts.last().map(|no| &state.attempts[*no]);
    let end = last(state, no);
    let id = |no: &SubtaskNo| state.subtasks[*no].id.clone();
    let in_the_way = |need: &&SubtaskNo| {
        let need = &state.subtasks[**need];
        !need.is_live() && !need.outcome().is_some_and(Outcome::lets_on)
    };
    let blocked = subtask.outcome().is_none() && subtask.dead_needs > 0;
    let children = subtask.attempts.iter().flat_map(|no| &state.attempts[*no].children);
    SubtaskView {
        id: subtask.id.clone(),
        title: subtask.title.clone(),
        agent: subtask.agent.clone(),
        role: subtask.role,
        round: subtask.round,
        status: state.status(no),
        depends_on: subtask.needs.iter().map(id).collect(),
        blocked_by: subtask.needs.iter().filter(|_| blocked).filter(in_the_way).map(id).collect(),
        waits: wait(subtask.phase, end),
        attempts: subtask.attempts.len(),
        session_id: attempt.map(|attempt| attempt.session.clone()),
        started_at: attempt.map(|attempt| Stamp(attempt.started_at)),
        ended_at: attempt.and_then(|attempt| attempt.ended_at).map(Stamp),
        deadline: attempt.map(|attempt| Stamp(attempt.deadline)),
        elapsed_time: attempt.map(|attempt| attempt.elapsed_ms(now)),
        timeout_ms: subtask.timeout_ms,
        depth: delegation.depth,
        path: delegation.path.iter().cloned().chain([subtask.agent.clone()]).collect(),
        progress: attempt.and_then(|attempt| attempt.progress),
        last_action: attempt.and_then(|attempt| attempt.last_action.clone()),
        asks: attempt.and_then(|attempt| attempt.asks()).map(str::to_owned),
        quality: pattern::quality(state, no),
        failure: failure(subtask, end),
        error: trouble(subtask),
        answer: end.map(|end| end.answer.clone()),
        receipt: end.map(|end| end.receipt.clone()),
        raw: end.and_then(|end| end.raw.clone()),
        delegations: children.map(|no| status(state, *no, now)).collect(),
    }
}
