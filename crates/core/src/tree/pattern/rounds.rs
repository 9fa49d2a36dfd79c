//! Debate and review: one leads, the others judge, round after round.
//!
//! The lead works from the task; then, each round, all judges look at the
//! lead's last work at once, and the lead goes over it with what they found.
//! It ends early when every judge that answered accepts.

use std::sync::Arc;

use serde_json::Value;

use super::{Draft, Next, Opening, answer, cast_of, data_field, free_id, part, plain, subtasks};
use crate::returns::Return;
use crate::tree::arena::SubtaskNo;
use crate::tree::command::Delegate;
use crate::tree::event::{Cast, DelegationResult, Outcome, Own, Role, Turn};
use crate::tree::state::{Delegation, State, Subtask};

/// The words in which debate and review differ.
pub(super) struct Words {
    lead: Role,
    judge: Role,
    first: &'static str,
    judging: &'static str,
    again: &'static str,
}

pub(super) const DEBATE: Words = Words {
    lead: Role::Proposer,
    judge: Role::Critic,
    first: "propose",
    judging: "critique",
    again: "synthesise",
};

pub(super) const REVIEW: Words = Words {
    lead: Role::Creator,
    judge: Role::Reviewer,
    first: "create",
    judging: "review",
    again: "revise",
};

pub(super) fn open(command: &Delegate, words: &Words, default_rounds: u32) -> Opening {
    let mut cast = cast_of(command);
    if let (1, Some(lead)) = (cast.len(), cast.first().cloned()) {
        // With nobody else to judge, the same agent does, with a fresh mind.
        let own = lead
            .own
            .clone()
            .map(|own| Own { id: format!("{}-{}", own.id, words.judging).into(), ..own });
        cast.push(Cast { own, ..lead });
    }
    let task: Arc<str> = Arc::from(command.task.as_str());
    let lead = cast.first().map(|cast| {
        let id = cast.own.as_ref().map_or(words.first, |own| own.id.as_str());
        part(cast, words.lead, id.to_owned(), (&command.title, &task))
    });
    let rounds = command.rounds.unwrap_or(default_rounds);
    Opening {
        judge: None,
        drafts: lead.into_iter().collect(),
        asked: command.subtasks.len() as u64,
        cast,
        rounds,
        repeats: 1 + 2 * u64::from(rounds),
    }
}

pub(super) fn next(state: &State, delegation: &Delegation, words: &Words) -> Next {
    let finish = || {
        let (outcome, result) = end(state, delegation, words);
        Next::End(outcome, result)
    };
    let Some((last_no, last)) = subtasks(state, delegation).next_back() else {
        return finish();
    };
    if last.role == words.lead {
        let usable = last.outcome() == Some(Outcome::Completed);
        if !usable || last.round >= delegation.rounds {
            return finish();
        }
        return Next::Grow(judges(delegation, words, last.round + 1, last_no));
    }
    let verdicts = verdicts(state, delegation, words, last.round);
    // A judge that failed has not accepted: its silence does not end the rounds early.
    let judges = delegation.cast.len().saturating_sub(1);
    let accepted = verdicts.iter().filter(|(_, answer)| accepts(answer)).count();
    let work = lead_work(state, delegation, words).map(|(no, _)| no);
    let is_poor = work.is_some_and(|no| super::is_poor(state, super::quality(state, no)));
    if verdicts.is_empty() || (accepted == judges && !is_poor) {
        return finish();
    }
    let Some(cast) = delegation.cast.first() else {
        return finish();
    };
    let made = format!("{}-{}", words.again, last.round);
    let id = match &cast.own {
        Some(own) => format!("{}-{made}", own.id),
        None => made,
    };
    let taken = |id: &str| is_planned(delegation, id) || delegation.by_id.contains_key(id);
    let id = free_id(&id, taken);
    let mut draft = part(cast, words.lead, id, (&delegation.title, &delegation.task));
    draft.round = last.round;
    draft.needs = work.into_iter().collect();
    draft.needs.extend(verdicts.iter().map(|(no, _)| *no));
    Next::Grow(vec![draft])
}

fn judges(delegation: &Delegation, words: &Words, round: u32, work: SubtaskNo) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::with_capacity(delegation.cast.len());
    for (position, cast) in delegation.cast.iter().skip(1).enumerate() {
        let wanted = match &cast.own {
            Some(own) if round == 1 => own.id.to_string(),
            Some(own) => format!("{}-{round}", own.id),
            None => format!("{}-{round}-{}", words.judging, position + 1),
        };
        let beside = |id: &str| drafts.iter().any(|draft| draft.id.as_str() == id);
        // Its own is kept from all that the pattern makes up.
        let own = |id: &str| cast.own.as_ref().is_some_and(|own| own.id.as_str() == id);
        let first = |id: &str| round == 1 && own(id);
        let id = free_id(&wanted, |id| {
            delegation.by_id.contains_key(id)
                || beside(id)
                || (is_planned(delegation, id) && !first(id))
        });
        let mut draft = part(cast, words.judge, id, (&delegation.title, &delegation.task));
        draft.round = round;
        draft.needs = vec![work];
        // A judge that fails is missed, but the work stands without it.
        draft.required = false;
        drafts.push(draft);
    }
    drafts
}

/// Whether the plan gives somebody this id.
fn is_planned(delegation: &Delegation, id: &str) -> bool {
    let mut own = delegation.cast.iter().filter_map(|cast| cast.own.as_ref());
    own.any(|own| own.id.as_str() == id)
}

/// What the judges of a round said, those that answered.
fn verdicts<'a>(
    state: &'a State,
    delegation: &'a Delegation,
    words: &Words,
    round: u32,
) -> Vec<(SubtaskNo, &'a Return)> {
    subtasks(state, delegation)
        .filter(|(_, subtask)| subtask.role == words.judge && subtask.round == round)
        .filter(|(_, subtask)| subtask.outcome() == Some(Outcome::Completed))
        .filter_map(|(no, subtask)| Some((no, answer(state, subtask)?)))
        .collect()
}

fn verdict(answer: &Return) -> Option<&str> {
    data_field(answer, "verdict")?.as_str()
}

/// The scores that the judges gave a piece of the lead's work.
pub(super) fn scores(state: &State, work: &Subtask) -> Vec<u32> {
    let words = match work.role {
        Role::Creator => &REVIEW,
        Role::Proposer => &DEBATE,
        Role::Worker
        | Role::Critic
        | Role::Reviewer
        | Role::Member
        | Role::Judge
        | Role::Resolver => return Vec::new(),
    };
    let delegation = &state.delegations[work.delegation];
    let verdicts = verdicts(state, delegation, words, work.round.saturating_add(1));
    let score = |answer: &Return| data_field(answer, "quality")?.as_u64();
    let scores = verdicts.iter().filter_map(|(_, answer)| score(answer));
    scores.map(|score| u32::try_from(score).unwrap_or(u32::MAX)).collect()
}

/// Only a clear yes is a yes.
fn accepts(answer: &Return) -> bool {
    verdict(answer) == Some("accept")
}

/// The lead's last work that can be used.
fn lead_work<'a>(
    state: &'a State,
    delegation: &'a Delegation,
    words: &Words,
) -> Option<(SubtaskNo, &'a Subtask)> {
    let usable = |subtask: &Subtask| {
        subtask.role == words.lead && subtask.outcome() == Some(Outcome::Completed)
    };
    subtasks(state, delegation).rev().find(|(_, subtask)| usable(subtask))
}

/// The lead's last work that is at least a part; it is told where there is nothing better.
fn partial_work<'a>(
    state: &'a State,
    delegation: &'a Delegation,
    words: &Words,
) -> Option<(SubtaskNo, &'a Subtask)> {
    let partial = |subtask: &Subtask| {
        subtask.role == words.lead && subtask.outcome() == Some(Outcome::Partial)
    };
    subtasks(state, delegation).rev().find(|(_, subtask)| partial(subtask))
}

/// The last work, how it came about, and what is still found wrong with it.
pub(super) fn end(
    state: &State,
    delegation: &Delegation,
    words: &Words,
) -> (Outcome, DelegationResult) {
    let mut result = DelegationResult::default();
    let work = lead_work(state, delegation, words);
    let told = work.or_else(|| partial_work(state, delegation, words));
    if let Some(answer) = told.and_then(|(_, subtask)| answer(state, subtask)) {
        result.summary = answer.summary.clone();
        result.data = answer.data.clone().unwrap_or(Value::Null);
        result.artifacts.clone_from(&answer.artifacts);
    }
    result.history = history(state, delegation);
    let round = subtasks(state, delegation).map(|(_, subtask)| subtask.round).max().unwrap_or(0);
    let verdicts = verdicts(state, delegation, words, round);
    for (_, answer) in verdicts.iter().filter(|(_, answer)| !accepts(answer)) {
        result.findings.extend(findings(answer));
    }
    let whole = plain::outcome(state, delegation);
    let unjudged = whole == Outcome::Completed && round > 0 && verdicts.is_empty();
    let rescued = whole == Outcome::Failed && work.is_some();
    // What was revised last may have no score; then the one before it stands.
    let leads = subtasks(state, delegation).filter(|(_, subtask)| subtask.role == words.lead);
    let scored = leads.rev().find(|(_, subtask)| !scores(state, subtask).is_empty());
    let poor = whole == Outcome::Completed
        && scored.is_some_and(|(no, _)| super::is_poor(state, super::quality(state, no)));
    let outcome = if unjudged && only_blockers(state, delegation, words, round) {
        Outcome::Blocked
    } else if unjudged || rescued || poor {
        Outcome::Partial
    } else {
        whole
    };
    (outcome, result)
}

/// Whether every judge of a round that somebody still waits for is blocked.
fn only_blockers(state: &State, delegation: &Delegation, words: &Words, round: u32) -> bool {
    let judges = subtasks(state, delegation)
        .filter(|(_, subtask)| subtask.role == words.judge && subtask.round == round);
    let outcomes = judges.map(|(_, subtask)| subtask.outcome().unwrap_or(Outcome::Blocked));
    let missed: Vec<Outcome> = outcomes.filter(|outcome| *outcome != Outcome::Skipped).collect();
    !missed.is_empty() && missed.iter().all(|outcome| *outcome == Outcome::Blocked)
}

fn findings(answer: &Return) -> Vec<Value> {
    let field = data_field(answer, "findings").or_else(|| data_field(answer, "comments"));
    match field {
        Some(Value::Array(list)) => list.clone(),
        Some(value) => vec![value.clone()],
        None => vec![Value::String(answer.summary.clone())],
    }
}

fn history(state: &State, delegation: &Delegation) -> Vec<Turn> {
    let turn = |subtask: &Subtask| {
        let answer = answer(state, subtask)?;
        Some(Turn {
            subtask: subtask.id.clone(),
            role: subtask.role,
            round: subtask.round,
            summary: answer.summary.clone(),
            verdict: verdict(answer).map(str::to_owned),
        })
    };
    subtasks(state, delegation).filter_map(|(_, subtask)| turn(subtask)).collect()
}
