//! The trace: every attempt as a span of time, parallel branches side by side.

use serde::Serialize;

use super::Stamp;
use crate::agent::ContextMode;
use crate::ids::{AgentId, AttemptId, DelegationId, SessionId, SubtaskId};
use crate::time::Now;
use crate::tree::arena::DelegationNo;
use crate::tree::state::State;

/// One attempt in a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The attempt.
    pub id: AttemptId,
    /// The attempt that asked; absent at the root.
    pub parent: Option<AttemptId>,
    /// Where it belongs.
    pub delegation_id: DelegationId,
    /// What it worked on.
    pub subtask_id: SubtaskId,
    /// What it is called in its return.
    pub session_id: SessionId,
    /// Who asked.
    pub parent_agent: AgentId,
    /// Who did it.
    pub agent: AgentId,
    /// What it was asked to do.
    pub task: String,
    /// What it was handed beside the task.
    pub context: ContextMode,
    /// How deep it stands.
    pub depth: u32,
    /// How many attempts of its subtask came before it.
    pub attempt: u32,
    /// When it started.
    pub started_at: Stamp,
    /// Milliseconds from the start of the trace.
    pub offset_ms: u64,
    /// Milliseconds it took, or has taken so far.
    pub duration_ms: u64,
    /// How it stands or ended.
    pub status: &'static str,
    /// What it said.
    pub result: Option<String>,
}

/// The attempts of a delegation and of all below it, in the order they started.
pub fn trace(state: &State, from: DelegationNo, now: Now) -> Vec<Span> {
    let below = |no| state.upward(state.delegation_of(no)).any(|above| above == from);
    let start = state.delegations[from].accepted_at;
    let all = state.attempts.iter().map(|(no, _)| no).filter(|no| below(*no));
    all.map(|no| span(state, no, start, now)).collect()
}

fn span(state: &State, no: crate::tree::AttemptNo, start: Now, now: Now) -> Span {
    let attempt = &state.attempts[no];
    let subtask = &state.subtasks[attempt.subtask];
    let delegation = &state.delegations[subtask.delegation];
    let before = subtask.attempts.iter().take_while(|other| **other != no).count();
    let last = subtask.attempts.last() == Some(&no);
    let ended = attempt.end.as_deref();
    Span {
        id: attempt.id.clone(),
        parent: delegation.parent.map(|parent| state.attempts[parent].id.clone()),
        delegation_id: delegation.id.clone(),
        subtask_id: subtask.id.clone(),
        session_id: attempt.session.clone(),
        parent_agent: attempt.path.iter().rev().nth(1).unwrap_or(&attempt.agent).clone(),
        agent: attempt.agent.clone(),
        task: subtask.task.to_string(),
        context: subtask.habits.context,
        depth: attempt.depth,
        attempt: u32::try_from(before).unwrap_or(u32::MAX),
        started_at: Stamp(attempt.started_at),
        offset_ms: attempt.started_at.since_ms(start),
        duration_ms: attempt.ended_at.unwrap_or(now).since_ms(attempt.started_at),
        status: match ended {
            Some(end) if !last => crate::tree::event::Outcome::from(end.status).as_str(),
            Some(_) | None => state.status(attempt.subtask),
        },
        result: ended.map(|end| end.answer.summary.clone()),
    }
}
