//! Graphs that are whole from the start: parallel, sequential, dag, direct.

use serde_json::{Map, Value};

use super::{Draft, Opening, answer, subtasks};
use crate::tree::arena::{Number, SubtaskNo};
use crate::tree::command::Delegate;
use crate::tree::event::{DelegationResult, Outcome, Role};
use crate::tree::state::{Delegation, State, Subtask};

pub(super) fn open(command: &Delegate, edges: &[Vec<usize>], first: SubtaskNo) -> Opening {
    let number = |position: usize| SubtaskNo::at(first.position() + position);
    let drafts = command.subtasks.iter().zip(edges).map(|(target, edges)| Draft {
        id: target.id.clone(),
        title: target.title.clone(),
        task: target.task.as_str().into(),
        agent: target.agent.clone(),
        role: Role::Worker,
        round: 0,
        needs: edges.iter().map(|at| number(*at)).collect(),
        required: target.required,
        needs_approval: target.needs_approval,
        tokens: target.tokens,
        timeout_ms: target.timeout_ms.or(command.call.timeout_ms),
        files: target.files.clone(),
        habits: target.habits.clone(),
        resolves: None,
    });
    let drafts: Vec<Draft> = drafts.collect();
    let asked = drafts.len() as u64;
    Opening { drafts, cast: Vec::new(), judge: None, rounds: 0, asked, repeats: 1 }
}

/// How a whole graph ended: completed if all that is required ended well,
/// blocked if only blockers are left, failed if nothing came of it.
pub(super) fn outcome(state: &State, delegation: &Delegation) -> Outcome {
    let (mut good, mut some, mut bad, mut blocked) = (false, false, false, false);
    let mut lost = false;
    for (_, subtask) in subtasks(state, delegation) {
        let outcome = subtask.outcome().unwrap_or(Outcome::Blocked);
        good |= outcome == Outcome::Completed;
        some |= matches!(outcome, Outcome::Completed | Outcome::Partial);
        lost |= matches!(outcome, Outcome::Failed | Outcome::Cancelled);
        if subtask.required {
            blocked |= outcome == Outcome::Blocked;
            bad |= matches!(outcome, Outcome::Partial | Outcome::Failed | Outcome::Cancelled);
        }
    }
    match (bad, blocked, some) {
        (true, _, true) => Outcome::Partial,
        (true, _, false) => Outcome::Failed,
        (false, true, _) => Outcome::Blocked,
        (false, false, _) if good => Outcome::Completed,
        // Nothing was required, and nothing came of it.
        (false, false, false) if lost => Outcome::Failed,
        (false, false, _) => Outcome::Partial,
    }
}

/// Everything side by side.
pub(super) fn merge(state: &State, delegation: &Delegation) -> DelegationResult {
    let mut result = DelegationResult::default();
    let mut lines = Vec::new();
    let mut data = Map::new();
    let alone = subtasks(state, delegation).count() == 1;
    let line = |subtask: &Subtask, words: &str| match alone {
        true => words.to_owned(),
        false => format!("{}: {words}", subtask.id),
    };
    for (_, subtask) in subtasks(state, delegation) {
        let Some(answer) = answer(state, subtask) else {
            lines.extend(left_out(subtask).map(|why| line(subtask, &why)));
            continue;
        };
        lines.push(line(subtask, &answer.summary));
        lines.extend(resolved(state, subtask).map(|how| line(subtask, &how)));
        if let Some(value) = &answer.data {
            data.insert(subtask.id.to_string(), value.clone());
        }
        if subtask.outcome().is_some_and(|o| matches!(o, Outcome::Completed | Outcome::Partial)) {
            result.artifacts.extend(answer.artifacts.iter().cloned());
        }
    }
    result.summary = lines.join("\n");
    result.data = match (alone, data.is_empty()) {
        (_, true) => Value::Null,
        (true, false) => data.into_iter().next().map_or(Value::Null, |(_, value)| value),
        (false, false) => Value::Object(data),
    };
    result
}

/// How a conflict that a subtask's merge met was resolved, if it was.
fn resolved(state: &State, subtask: &Subtask) -> Option<String> {
    let resolver = &state.subtasks[subtask.resolver?];
    let done = resolver.outcome() == Some(Outcome::Completed);
    let summary = &answer(state, resolver).filter(|_| done)?.summary;
    Some(format!("its conflict was resolved by {}: {summary}", resolver.agent))
}

/// Why a subtask is not part of the result, if somebody has said so.
fn left_out(subtask: &Subtask) -> Option<String> {
    let reason = subtask.error.as_ref().map(|error| error.message.as_str());
    let skipped = subtask.outcome() == Some(Outcome::Skipped);
    skipped.then(|| format!("skipped: {}", reason.unwrap_or_default()))
}

/// The last step's answer stands for the chain; everything made on the way is listed.
pub(super) fn chain(state: &State, delegation: &Delegation) -> DelegationResult {
    let mut result = merge(state, delegation);
    let done = |s: &Subtask| s.outcome() == Some(Outcome::Completed);
    let last = subtasks(state, delegation).rev().find(|(_, subtask)| done(subtask));
    if let Some(answer) = last.and_then(|(_, subtask)| answer(state, subtask)) {
        result.summary = answer.summary.clone();
        result.data = answer.data.clone().unwrap_or(Value::Null);
    }
    result
}
