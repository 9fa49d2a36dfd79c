//! The registry of active delegations: what runs now, by session.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Stamp;
use crate::ids::{AgentId, SessionId, TaskId};
use crate::tree::state::State;

/// One attempt that runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Registered {
    /// Who asked for it.
    pub command: AgentId,
    /// Who does it.
    pub subagent: AgentId,
    /// The task it is part of.
    pub task: TaskId,
    /// When it started.
    pub start_time: Stamp,
    /// Seconds it may take.
    pub timeout: u64,
    /// When its time is up.
    pub deadline: Stamp,
    /// `running`, or what it waits for.
    pub status: &'static str,
    /// How deep it stands.
    pub delegation_depth: u32,
    /// The agents above it, and itself.
    pub delegation_path: Vec<AgentId>,
}

/// Everything that runs in a tree.
pub fn registry(state: &State) -> BTreeMap<SessionId, Registered> {
    let entry = |no| {
        let attempt = &state.attempts[no];
        let delegation = &state.delegations[state.delegation_of(no)];
        let caller = attempt.path.iter().rev().nth(1).unwrap_or(&attempt.agent);
        let registered = Registered {
            command: caller.clone(),
            subagent: attempt.agent.clone(),
            task: delegation.task_id.clone(),
            start_time: Stamp(attempt.started_at),
            timeout: attempt.allowed_ms / 1000,
            deadline: Stamp(attempt.deadline),
            status: state.status(attempt.subtask),
            delegation_depth: attempt.depth,
            delegation_path: attempt.path.to_vec(),
        };
        (attempt.session.clone(), registered)
    };
    state.running().map(entry).collect()
}
