//! Patterns as graphs that grow by rule.
//!
//! A pattern says which subtasks a delegation starts with, and, whenever
//! nothing in it can get on by itself, what comes next: more subtasks, a
//! choice, or the end. One scheduler runs them all; it knows nothing of
//! patterns.

mod ensemble;
mod plain;
mod rounds;

use std::sync::Arc;

use serde_json::Value;

use super::arena::{DelegationNo, SubtaskNo};
use super::bounds::{self, Ask};
use super::command::{Candidate, Delegate, Habits, Target};
use super::event::{AttemptEnded, Cast, DelegationResult, NewSubtask, Outcome, Own, Role};
use super::ledger::Amount;
use super::plan::Aggregate;
use super::state::{Delegation, State, Subtask};
use crate::config::{Limits, Pattern};
use crate::ids::{AgentId, SubtaskId};
use crate::returns::{Return, quality_of};

/// Rounds of a debate where nobody says otherwise.
const DEBATE_ROUNDS: u32 = 3;
/// Rounds of a review where nobody says otherwise.
const REVIEW_ROUNDS: u32 = 2;

/// A subtask that a pattern wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) id: SubtaskId,
    pub(super) title: String,
    pub(super) task: Arc<str>,
    pub(super) agent: AgentId,
    pub(super) role: Role,
    pub(super) round: u32,
    pub(super) needs: Vec<SubtaskNo>,
    pub(super) required: bool,
    pub(super) needs_approval: bool,
    pub(super) tokens: Option<u64>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) files: Vec<String>,
    pub(super) habits: Habits,
    /// The subtask whose conflict it resolves.
    pub(super) resolves: Option<SubtaskNo>,
}

impl Draft {
    /// The draft as the bounds see it.
    pub(super) fn ask(&self) -> Ask<'_> {
        Ask {
            title: &self.title,
            task: &self.task,
            agent: &self.agent,
            key: bounds::call_key(&self.agent, &self.task),
            habits: &self.habits,
            tokens: self.tokens,
        }
    }

    /// The subtask it becomes with what was granted to it: its call key and what it may spend.
    pub(super) fn granted(
        &self,
        limits: &Limits,
        (call_key, reserved): (Arc<str>, Amount),
    ) -> NewSubtask {
        NewSubtask {
            timeout_ms: bounds::time_allowed(limits, self.timeout_ms, &self.habits),
            asked_ms: self.timeout_ms,
            tokens: self.tokens,
            id: self.id.clone(),
            title: self.title.clone(),
            task: self.task.clone(),
            agent: self.agent.clone(),
            role: self.role,
            round: self.round,
            depends_on: self.needs.clone(),
            required: self.required,
            needs_approval: self.needs_approval,
            reserved,
            call_key,
            files: self.files.clone(),
            habits: self.habits.clone(),
            resolves: self.resolves,
        }
    }
}

/// How a delegation begins.
pub(super) struct Opening {
    pub(super) drafts: Vec<Draft>,
    pub(super) cast: Vec<Cast>,
    pub(super) judge: Option<Cast>,
    pub(super) rounds: u32,
    /// How many subtasks the caller asked for; what the pattern adds is not among them.
    pub(super) asked: u64,
    /// How many attempts follow one another at most, for each draft of the longest chain.
    pub(super) repeats: u64,
}

/// What comes next in a delegation in which nothing gets on by itself.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// More subtasks.
    Grow(Vec<Draft>),
    /// This member's answer is the answer.
    Choose(SubtaskNo),
    /// Nothing.
    End(Outcome, DelegationResult),
}

/// The subtasks a delegation starts with. `edges` are positions in the command's list.
pub(super) fn open(command: &Delegate, edges: &[Vec<usize>], first: SubtaskNo) -> Opening {
    match command.pattern {
        Pattern::Parallel
        | Pattern::ParallelStreaming
        | Pattern::Sequential
        | Pattern::Dag
        | Pattern::Direct => plain::open(command, edges, first),
        Pattern::Debate => rounds::open(command, &rounds::DEBATE, DEBATE_ROUNDS),
        Pattern::Review => rounds::open(command, &rounds::REVIEW, REVIEW_ROUNDS),
        Pattern::Ensemble => ensemble::open(command),
    }
}

/// Who would judge what the call starts, where somebody has to.
pub(super) fn judge_of(command: &Delegate) -> Option<&Candidate> {
    let best = command.pattern == Pattern::Ensemble && command.aggregate == Aggregate::Best;
    command.judge.as_ref().filter(|_| best)
}

/// What comes next.
pub(super) fn next(state: &State, no: DelegationNo) -> Next {
    let delegation = &state.delegations[no];
    if delegation.cancelled.is_some() {
        return Next::End(Outcome::Cancelled, plain::merge(state, delegation));
    }
    match delegation.pattern {
        Pattern::Parallel | Pattern::ParallelStreaming | Pattern::Dag | Pattern::Direct => {
            Next::End(plain::outcome(state, delegation), plain::merge(state, delegation))
        }
        Pattern::Sequential => {
            Next::End(plain::outcome(state, delegation), plain::chain(state, delegation))
        }
        Pattern::Debate => rounds::next(state, delegation, &rounds::DEBATE),
        Pattern::Review => rounds::next(state, delegation, &rounds::REVIEW),
        Pattern::Ensemble => ensemble::next(state, delegation),
    }
}

/// What is left when a pattern may not grow: the best it has, and why there is no more.
pub(super) fn stop_short(state: &State, no: DelegationNo, why: &str) -> Next {
    let delegation = &state.delegations[no];
    let (outcome, mut result) = match delegation.pattern {
        Pattern::Debate => rounds::end(state, delegation, &rounds::DEBATE),
        Pattern::Review => rounds::end(state, delegation, &rounds::REVIEW),
        // It only ever grows by a judge, and can do without.
        Pattern::Ensemble => return ensemble::unjudged(state, delegation),
        Pattern::Parallel
        | Pattern::ParallelStreaming
        | Pattern::Sequential
        | Pattern::Dag
        | Pattern::Direct => (plain::outcome(state, delegation), plain::merge(state, delegation)),
    };
    result.summary = format!("{}\nStopped short: {why}", result.summary).trim_start().to_owned();
    let outcome = if outcome == Outcome::Completed { Outcome::Partial } else { outcome };
    Next::End(outcome, result)
}

/// Whether a subtask's work goes into the result as soon as it is done.
pub(super) fn merges_by_itself(delegation: &Delegation, subtask: &Subtask) -> bool {
    match subtask.role {
        Role::Worker | Role::Creator | Role::Proposer | Role::Resolver => true,
        Role::Member => delegation.aggregate == Aggregate::Merge,
        // They judge; what they leave behind is not part of the work.
        Role::Critic | Role::Reviewer | Role::Judge => false,
    }
}

/// The answer of a subtask's last attempt. What was skipped has none, whatever it said before:
/// somebody has decided to do without it.
fn answer<'a>(state: &'a State, subtask: &Subtask) -> Option<&'a Return> {
    let end = last(state, subtask).filter(|_| subtask.outcome() != Some(Outcome::Skipped));
    end.map(|end| &end.answer)
}

fn last<'a>(state: &'a State, subtask: &Subtask) -> Option<&'a AttemptEnded> {
    let attempt = subtask.attempts.last()?;
    state.attempts[*attempt].end.as_deref()
}

/// The measured quality of a subtask's last work, with what reviewers made of it.
pub(super) fn quality(state: &State, no: SubtaskNo) -> Option<u32> {
    let subtask = &state.subtasks[no];
    let end = last(state, subtask)?;
    let scores = rounds::scores(state, subtask);
    if scores.is_empty() {
        return end.quality;
    }
    quality_of(&end.answer.artifacts, &end.receipt, &scores)
}

/// Whether a measured quality is below what the configuration asks for.
pub(super) fn is_poor(state: &State, quality: Option<u32>) -> bool {
    let least = state.settings.as_ref().and_then(|settings| settings.quality_threshold);
    matches!((quality, least), (Some(quality), Some(least)) if quality < least)
}

fn data_field<'a>(answer: &'a Return, name: &str) -> Option<&'a Value> {
    answer.data.as_ref()?.get(name)
}

/// Every subtask with a number, in order. Those that resolve conflicts are no part of any
/// pattern: what came of them is what came of the subtasks that met the conflicts.
fn subtasks<'a>(
    state: &'a State,
    delegation: &'a Delegation,
) -> impl DoubleEndedIterator<Item = (SubtaskNo, &'a Subtask)> {
    let all = delegation.subtasks.iter().map(|no| (*no, &state.subtasks[*no]));
    all.filter(|(_, subtask)| subtask.resolves.is_none())
}

/// The task of a part in a pattern: that of all, and what the plan asks of this one.
pub(super) fn task_of(cast: &Cast, task: &Arc<str>) -> Arc<str> {
    let own = cast.own.as_ref().and_then(|own| own.task.as_deref());
    match own.filter(|own| *own != &**task) {
        Some(own) => format!("{task}\n\nYour part in it:\n{own}").into(),
        None => task.clone(),
    }
}

/// An id like this one that is not taken.
fn free_id(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut free = id.to_owned();
    let mut number = 2_u32;
    while is_taken(&free) {
        free = format!("{id}-{number}");
        number += 1;
    }
    free
}

/// A draft of a part in a pattern; everyone gets the delegation's own task.
pub(super) fn part(cast: &Cast, role: Role, id: String, (title, task): (&str, &Arc<str>)) -> Draft {
    Draft {
        id: SubtaskId::from(id),
        title: cast.own.as_ref().map_or(title, |own| &own.title).to_owned(),
        task: task_of(cast, task),
        agent: cast.agent.clone(),
        role,
        round: 0,
        needs: Vec::new(),
        required: true,
        needs_approval: cast.needs_approval,
        tokens: cast.tokens,
        timeout_ms: cast.timeout_ms,
        files: Vec::new(),
        habits: cast.habits.clone(),
        resolves: None,
    }
}

/// Who takes part, each with what the call says of its subtask, else of all.
fn cast_of(command: &Delegate) -> Vec<Cast> {
    let cast = |target: &Target| Cast {
        agent: target.agent.clone(),
        habits: target.habits.clone(),
        timeout_ms: target.timeout_ms.or(command.call.timeout_ms),
        tokens: target.tokens,
        needs_approval: target.needs_approval,
        own: target.planned.then(|| Own {
            id: target.id.clone(),
            title: target.title.clone(),
            // One that says nothing is called by its id everywhere.
            task: Some(&target.task).filter(|task| task.as_str() != target.id.as_str()).cloned(),
        }),
    };
    command.subtasks.iter().map(cast).collect()
}
