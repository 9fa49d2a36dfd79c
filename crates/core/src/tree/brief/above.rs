//! What an attempt is told of those above it, where more than the task is asked for.

use serde::Serialize;

use super::{Earlier, MAX_RESULTS, earlier};
use crate::agent::ContextMode;
use crate::ids::AgentId;
use crate::returns::neutralise;
use crate::tree::arena::AttemptNo;
use crate::tree::state::State;

/// Somebody above: what it was asked to do, and what came of what it handed on before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Above {
    /// Who it is.
    pub agent: AgentId,
    /// What it was asked to do: in a line, or in full.
    pub task: String,
    /// What came of the work that it delegated before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Earlier>,
    /// What it has said so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// Everybody above an attempt, the root's own agent first.
pub(super) fn above(
    state: &State,
    no: AttemptNo,
    (mode, said): (ContextMode, Option<&str>),
) -> Vec<Above> {
    let is_full = match mode {
        ContextMode::TaskOnly => return Vec::new(),
        ContextMode::Summary => false,
        ContextMode::Full => true,
    };
    let parent = |no: AttemptNo| {
        let subtask = &state.subtasks[state.attempts[no].subtask];
        state.delegations[subtask.delegation].parent
    };
    let mut all: Vec<Above> = std::iter::successors(parent(no), |no| parent(*no))
        .map(|no| one(state, no, is_full))
        .collect();
    if let Some(caller) = all.first_mut().filter(|_| is_full) {
        let said = said.map(str::trim).filter(|said| !said.is_empty());
        caller.said = said.map(|said| neutralise(said).into());
    }
    all.reverse();
    all
}

fn one(state: &State, no: AttemptNo, is_full: bool) -> Above {
    let attempt = &state.attempts[no];
    let subtask = &state.subtasks[attempt.subtask];
    let ended = attempt.children.iter().filter(|no| state.delegations[**no].ended.is_some());
    let ended = ended.flat_map(|no| &state.delegations[*no].subtasks);
    let mut results: Vec<Earlier> = ended.filter_map(|no| earlier(state, *no, is_full)).collect();
    results.drain(..results.len().saturating_sub(MAX_RESULTS));
    if !is_full {
        results.iter_mut().for_each(|result| result.artifacts.clear());
    }
    let task = if is_full { subtask.task.to_string() } else { subtask.title.clone() };
    Above { agent: attempt.agent.clone(), task, results, said: None }
}
