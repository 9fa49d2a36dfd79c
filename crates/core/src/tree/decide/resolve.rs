//! Conflicts that are handed to an agent named for them.
//!
//! The subtask that met the conflict waits. Another is added for it, outside the pattern: it
//! starts from both sides and is merged like any other. If that comes to nothing the conflict
//! stands as it would have without it. It is tried once, and nobody resolves a resolver's
//! own conflict.

use super::advance::{ended, grow};
use super::report::trouble;
use crate::code::Code;
use crate::ids::SubtaskId;
use crate::returns::{ReturnError, neutralise};
use crate::time::Now;
use crate::tree::arena::SubtaskNo;
use crate::tree::command::Candidate;
use crate::tree::event::{Body, Cast, Hunk, MergeOutcome, Outcome, Resolver, Role, in_words};
use crate::tree::pattern;
use crate::tree::state::{Delegation, State, Subtask};

/// Files in conflict that are named.
const MAX_FILES: usize = 50;
/// Earlier work that is told of, the last of it.
const MAX_EARLIER: usize = 10;
/// How the sides of a conflict are called.
const SIDES: [&str; 2] = ["the result", "the subtask"];

/// Who is named by a call to resolve conflicts, and whether they may be.
pub(super) fn named(candidate: &Candidate) -> Resolver {
    match &candidate.permitted {
        Ok(()) => Resolver::Cast(Cast {
            agent: candidate.agent.clone(),
            habits: candidate.habits.clone(),
            timeout_ms: None,
            tokens: None,
            needs_approval: candidate.needs_approval,
            own: None,
        }),
        Err(refusal) => {
            let (agent, why) = (candidate.agent.clone(), refusal.message.clone());
            Resolver::Refused { agent, why }
        }
    }
}

/// Adds the subtask that resolves a conflict; if there is none, why not, where anybody was
/// named.
pub(super) fn hand_over(
    state: &State,
    no: SubtaskNo,
    conflict: (&[String], &[Hunk]),
    now: Now,
) -> Result<Body, Option<String>> {
    let subtask = &state.subtasks[no];
    let delegation = &state.delegations[subtask.delegation];
    let cast = match &delegation.resolver {
        Some(Resolver::Cast(cast)) if subtask.resolves.is_none() => cast,
        Some(Resolver::Refused { agent, why }) => {
            return Err(Some(format!("`{agent}` could not be asked to resolve it: {why}")));
        }
        Some(Resolver::Cast(_)) | None => return Err(None),
    };
    if state.is_cancelled(subtask.delegation) || delegation.failed_fast {
        return Err(None);
    }
    let nobody =
        |why: &str| Some(format!("`{}` could not be asked to resolve it: {why}", cast.agent));
    if delegation.time_is_up(now) {
        return Err(nobody("The time ran out."));
    }
    let title = format!("Resolve the conflict of {}", subtask.id);
    let task = task(state, no, conflict).into();
    let id = free_id(delegation, &subtask.id);
    let mut draft = pattern::part(cast, Role::Resolver, id, (&title, &task));
    draft.files = conflict.0.iter().take(MAX_FILES).cloned().collect();
    draft.resolves = Some(no);
    // What counts is how the subtask ends that met the conflict.
    draft.required = false;
    let subtasks = grow(state, subtask.delegation, &[draft]);
    let subtasks = subtasks.map_err(|refusal| nobody(&refusal.message))?;
    Ok(Body::SubtasksAdded { delegation: subtask.delegation, subtasks })
}

/// An id that no subtask of the delegation has.
fn free_id(delegation: &Delegation, of: &SubtaskId) -> String {
    let numbered = |n: usize| match n {
        1 => format!("resolve-{of}"),
        n => format!("resolve-{of}-{n}"),
    };
    let is_free = |id: &String| !delegation.by_id.contains_key(&SubtaskId::from(id.clone()));
    // There are fewer subtasks than numbers, so one of them is free.
    (1..).map(numbered).find(is_free).unwrap_or_default()
}

/// What is to be done: where the two sides stand against each other, and what each was for.
fn task(state: &State, no: SubtaskNo, (files, hunks): (&[String], &[Hunk])) -> String {
    let subtask = &state.subtasks[no];
    let mut text = format!(
        "Two pieces of work do not fit together, and your workspace has both: what is in the \
         result already, and the work of subtask `{}`. Where they fit they are merged. Where \
         they do not, both stand between conflict markers, first the result's side, then the \
         subtask's; a file that cannot be marked is as one side has it. Keep what both were \
         for, and leave no marker. If everything is right as it stands, commit it all the \
         same: work that changes nothing is not taken.\n\nFiles in conflict: {}",
        subtask.id,
        in_words(files, hunks, SIDES),
    );
    text.push_str("\n\nIn the result already:");
    for earlier in earlier(state, no, files) {
        text.push_str(&side(state, earlier));
    }
    text.push_str("\n\nTo be brought together with it:");
    text.push_str(&side(state, subtask));
    for hunk in hunks.iter().filter(|hunk| hunk.kind.is_none()) {
        let inside = neutralise(&hunk.text);
        text.push_str(&format!("\n\n{}, line {}:\n{inside}", hunk.file, hunk.line));
    }
    text
}

/// A side in a line. What agents say is data.
fn side(state: &State, subtask: &Subtask) -> String {
    let end = subtask.attempts.last().and_then(|no| state.attempts[*no].end.as_deref());
    let said = end.map(|end| neutralise(&end.answer.summary)).unwrap_or_default();
    format!("\n- {} ({}): {said}", subtask.id, subtask.agent)
}

/// The merged work that may stand against it: what touched the same files, else all.
fn earlier<'a>(state: &'a State, no: SubtaskNo, files: &[String]) -> Vec<&'a Subtask> {
    let siblings = &state.delegations[state.subtasks[no].delegation].subtasks;
    let merged = siblings.iter().map(|no| &state.subtasks[*no]);
    let merged = merged.filter(|other| matches!(other.merge, Some(MergeOutcome::Clean { .. })));
    let merged: Vec<&Subtask> = merged.collect();
    let touches = |other: &&&Subtask| {
        let end = other.attempts.last().and_then(|no| state.attempts[*no].end.as_deref());
        end.is_some_and(|end| end.receipt.files_changed.iter().any(|file| files.contains(file)))
    };
    let near: Vec<&Subtask> = merged.iter().filter(touches).copied().collect();
    let told = if near.is_empty() { merged } else { near };
    let skip = told.len().saturating_sub(MAX_EARLIER);
    told.into_iter().skip(skip).collect()
}

/// What is in the way of a subtask whose merge met a conflict, with what became of handing
/// it on.
pub(super) fn conflict(
    (files, hunks): (&[String], &[Hunk]),
    handed_on: Option<&str>,
) -> ReturnError {
    let named = in_words(files, hunks, SIDES);
    let mut message = match hunks.iter().any(|hunk| hunk.kind.is_some()) {
        true => format!("Its changes and earlier ones do not fit together in: {named}."),
        false => format!("Its changes and earlier ones touch the same lines of: {named}."),
    };
    if let Some(handed_on) = handed_on {
        message.push_str(&format!(" {handed_on}"));
    }
    trouble("merge_conflict", Code::Conflict, &message)
}

/// Whoever was to resolve a subtask's conflict has ended: so does the subtask.
pub(super) fn settle(state: &State, no: SubtaskNo, resolver: SubtaskNo) -> Vec<Body> {
    let (subtask, by) = (&state.subtasks[no], &state.subtasks[resolver]);
    let merged = by.merge.as_ref().filter(|merge| matches!(merge, MergeOutcome::Clean { .. }));
    if let (Some(Outcome::Completed), Some(merged)) = (by.outcome(), merged) {
        let merged = Body::MergeEnded { subtask: no, outcome: merged.clone() };
        return vec![merged, ended(no, Outcome::Completed, None)];
    }
    if state.is_cancelled(subtask.delegation) || state.delegations[subtask.delegation].failed_fast {
        return vec![ended(no, Outcome::Cancelled, None)];
    }
    let met: (&[String], &[Hunk]) = match &subtask.merge {
        Some(MergeOutcome::Conflict { files, hunks }) => (files, hunks),
        Some(
            MergeOutcome::Clean { .. }
            | MergeOutcome::Unverified { .. }
            | MergeOutcome::Failed { .. },
        )
        | None => (&[], &[]),
    };
    let error = conflict(met, Some(&came_to_nothing(state, by)));
    vec![ended(no, Outcome::Blocked, Some(error))]
}

/// How a resolver ended that resolved nothing.
fn came_to_nothing(state: &State, by: &Subtask) -> String {
    let how = by.outcome().map_or("early", Outcome::as_str);
    let end = by.attempts.last().and_then(|no| state.attempts[*no].end.as_deref());
    let said = end.map(|end| {
        let errors: Vec<&str> = end.answer.errors.iter().map(|e| e.message.as_str()).collect();
        errors.join("; ")
    });
    let why = by.error.as_ref().map(|error| error.message.clone()).or(said).unwrap_or_default();
    let told = format!("`{}`, which was asked to resolve it, ended {how}", by.agent);
    if why.is_empty() { format!("{told}.") } else { format!("{told}: {why}") }
}

/// What is wrong with a resolver that says it is done and did nothing.
pub(super) fn left_as_it_was() -> ReturnError {
    ReturnError {
        kind: "merge_conflict".to_owned(),
        message: "It left both sides as they were.".to_owned(),
        code: Some(Code::Conflict.to_string()),
        recoverable: true,
        recommendation: "Retry it with a note that says what is wanted.".to_owned(),
    }
}

/// Whether a subtask is a resolver whose conflict is no longer there as it was.
pub(super) fn is_past(state: &State, no: SubtaskNo) -> bool {
    let conflicting = state.subtasks[no].resolves.map(|no| &state.subtasks[no]);
    conflicting.is_some_and(|subtask| {
        subtask.resolver != Some(no) || subtask.outcome() != Some(Outcome::Blocked)
    })
}
