//! Ensemble: the same task to several members, then one answer.
//!
//! A quorum, more than half of the members, must succeed; with less it is partial, or blocked
//! where only blockers are in the way. Where
//! one answer is chosen, only the chosen member's work goes into the result.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Draft, Next, Opening, answer, cast_of, data_field, free_id, judge_of, last, part, plain,
    subtasks,
};
use crate::returns::{Artifact, Return};
use crate::tree::arena::SubtaskNo;
use crate::tree::command::{Candidate, Delegate};
use crate::tree::event::{Cast, DelegationResult, Outcome, Role, Vote};
use crate::tree::plan::Aggregate;
use crate::tree::state::{Delegation, State, Subtask};

/// Members where only one agent is named.
const MEMBERS: usize = 3;

pub(super) fn open(command: &Delegate) -> Opening {
    let mut cast = cast_of(command);
    if let (1, Some(only)) = (cast.len(), cast.first().cloned()) {
        cast = vec![only; MEMBERS];
    }
    let task: Arc<str> = Arc::from(command.task.as_str());
    let member = |(position, cast): (usize, &Cast)| {
        let id = match &cast.own {
            // One part of a plan may stand for several members.
            Some(own) if position > 0 && command.subtasks.len() == 1 => {
                format!("{}-{}", own.id, position + 1)
            }
            Some(own) => own.id.to_string(),
            None => format!("member-{}", position + 1),
        };
        part(cast, Role::Member, id, (&command.title, &task))
    };
    let drafts: Vec<Draft> = cast.iter().enumerate().map(member).collect();
    let judge = judge_of(command).map(|judge| judge_cast(judge, cast.first()));
    let asked = command.subtasks.len() as u64;
    Opening { asked, drafts, cast, judge, rounds: 0, repeats: 2 }
}

pub(super) fn next(state: &State, delegation: &Delegation) -> Next {
    let members = done(state, delegation);
    let quorum = members.len() * 2 > delegation.cast.len();
    let chooses = delegation.aggregate != Aggregate::Merge && !state.is_cancelled(delegation.no);
    // What a few have done is better than nothing, and one of them can still be chosen.
    if !quorum && (members.is_empty() || !chooses) {
        return Next::End(below_quorum(state, delegation, &members), all(state, delegation));
    }
    let judged = subtasks(state, delegation).any(|(_, subtask)| subtask.role == Role::Judge);
    match (delegation.aggregate, delegation.winner, &delegation.judge) {
        (Aggregate::Merge, _, _) => Next::End(Outcome::Completed, all(state, delegation)),
        (Aggregate::Best, None, Some(cast)) if !judged && quorum => {
            let about = (delegation.title.as_str(), &delegation.task);
            let taken = |id: &str| delegation.by_id.contains_key(id);
            let id = free_id("judge", taken);
            let mut draft = part(cast, Role::Judge, id, about);
            draft.needs = members.iter().map(|(no, _, _)| *no).collect();
            draft.required = false;
            Next::Grow(vec![draft])
        }
        (Aggregate::Vote, None, _) => Next::Choose(most_voted(&members).0),
        (Aggregate::Best, None, _) => Next::Choose(best(state, delegation, &members)),
        (Aggregate::Vote | Aggregate::Best, Some(winner), _) => {
            let merged = state.subtasks[winner].outcome() == Some(Outcome::Completed);
            let clear = delegation.aggregate == Aggregate::Best || most_voted(&members).1;
            let outcome = match (merged, clear && quorum) {
                (true, true) => Outcome::Completed,
                (true, false) if quorum => Outcome::Partial,
                (true, false) => below_quorum(state, delegation, &members),
                (false, _) => Outcome::Blocked,
            };
            Next::End(outcome, chosen(state, delegation, winner, &members))
        }
    }
}

/// What the call says of the first member holds for the judge, except its budget.
fn judge_cast(judge: &Candidate, first: Option<&Cast>) -> Cast {
    let approved_like_it = first.is_some_and(|cast| cast.needs_approval);
    Cast {
        agent: judge.agent.clone(),
        habits: judge.habits.clone(),
        timeout_ms: first.and_then(|cast| cast.timeout_ms),
        tokens: None,
        needs_approval: judge.needs_approval || approved_like_it,
        own: None,
    }
}

/// The judge cannot be had: what was verified and measured decides.
pub(super) fn unjudged(state: &State, delegation: &Delegation) -> Next {
    Next::Choose(best(state, delegation, &done(state, delegation)))
}

type Member<'a> = (SubtaskNo, &'a Subtask, &'a Return);

/// Members that succeeded; one whose merge is in conflict has still answered.
fn done<'a>(state: &'a State, delegation: &'a Delegation) -> Vec<Member<'a>> {
    subtasks(state, delegation)
        .filter(|(_, subtask)| subtask.role == Role::Member)
        .filter(|(no, subtask)| {
            subtask.outcome() == Some(Outcome::Completed) || delegation.winner == Some(*no)
        })
        .filter_map(|(no, subtask)| Some((no, subtask, answer(state, subtask)?)))
        .collect()
}

fn below_quorum(state: &State, delegation: &Delegation, members: &[Member<'_>]) -> Outcome {
    let outcome = plain::outcome(state, delegation);
    let some = !members.is_empty() && outcome == Outcome::Completed;
    if some { Outcome::Partial } else { outcome }
}

/// What a member's vote is: its decision, else its data, else its words.
fn choice(answer: &Return) -> Value {
    let whole = answer.data.clone().filter(|data| !data.is_null());
    let decision = data_field(answer, "decision").cloned();
    decision.or(whole).unwrap_or_else(|| Value::String(answer.summary.clone()))
}

fn tally(members: &[Member<'_>]) -> Vec<(Value, Vec<SubtaskNo>)> {
    let mut votes: Vec<(Value, Vec<SubtaskNo>)> = Vec::new();
    for (no, _, answer) in members {
        let choice = choice(answer);
        match votes.iter_mut().find(|(known, _)| *known == choice) {
            Some((_, voters)) => voters.push(*no),
            None => votes.push((choice, vec![*no])),
        }
    }
    votes
}

/// The first member with the choice that most made, and whether that is more than half.
fn most_voted(members: &[Member<'_>]) -> (SubtaskNo, bool) {
    let mut winner = (SubtaskNo(0), 0);
    for (_, voters) in tally(members) {
        if let Some(first) = voters.first().filter(|_| voters.len() > winner.1) {
            winner = (*first, voters.len());
        }
    }
    (winner.0, winner.1 * 2 > members.len())
}

/// The judge's word, else what was verified, else measured quality, else the first.
fn best(state: &State, delegation: &Delegation, members: &[Member<'_>]) -> SubtaskNo {
    let judge = subtasks(state, delegation).find(|(_, subtask)| subtask.role == Role::Judge);
    let named = judge.and_then(|(_, subtask)| answer(state, subtask));
    let named = named.and_then(|answer| data_field(answer, "winner")?.as_str());
    let named = members.iter().find(|(_, subtask, _)| Some(subtask.id.as_str()) == named);
    if let Some((no, _, _)) = named {
        return *no;
    }
    let mut winner = (SubtaskNo(0), None);
    for (no, subtask, _) in members {
        let Some(end) = last(state, subtask) else {
            continue;
        };
        let verified =
            end.receipt.verify.iter().filter(|verify| verify.exit_code == Some(0)).count();
        let failed = end.receipt.verify.len() - verified;
        let merit = (std::cmp::Reverse(failed), verified, end.quality.unwrap_or(0));
        if winner.1.is_none_or(|best| merit > best) {
            winner = (*no, Some(merit));
        }
    }
    winner.0
}

fn votes(state: &State, members: &[Member<'_>]) -> Vec<Vote> {
    let vote = |(choice, voters): (Value, Vec<SubtaskNo>)| Vote {
        choice,
        members: voters.iter().map(|no| state.subtasks[*no].id.clone()).collect(),
    };
    tally(members).into_iter().map(vote).collect()
}

fn chosen(
    state: &State,
    delegation: &Delegation,
    winner: SubtaskNo,
    members: &[Member<'_>],
) -> DelegationResult {
    let mut result = DelegationResult { votes: votes(state, members), ..Default::default() };
    if let Some(answer) = answer(state, &state.subtasks[winner]) {
        result.summary = answer.summary.clone();
        result.data = answer.data.clone().unwrap_or(Value::Null);
        result.artifacts.clone_from(&answer.artifacts);
    }
    if delegation.aggregate == Aggregate::Vote && !most_voted(members).1 {
        result.summary =
            format!("No majority; the first of the largest groups: {}", result.summary);
    }
    result
}

/// Every answer side by side.
fn all(state: &State, delegation: &Delegation) -> DelegationResult {
    let members = done(state, delegation);
    let lines: Vec<String> = members
        .iter()
        .map(|(_, subtask, answer)| format!("{}: {}", subtask.id, answer.summary))
        .collect();
    let data: Vec<Value> = members
        .iter()
        .map(|(_, subtask, answer)| json!({"member": subtask.id, "data": answer.data}))
        .collect();
    let mut artifacts: Vec<Artifact> = Vec::new();
    for artifact in members.iter().flat_map(|(_, _, answer)| &answer.artifacts) {
        if !artifacts.contains(artifact) {
            artifacts.push(artifact.clone());
        }
    }
    DelegationResult {
        summary: lines.join("\n"),
        data: Value::Array(data),
        artifacts,
        votes: votes(state, &members),
        ..Default::default()
    }
}
