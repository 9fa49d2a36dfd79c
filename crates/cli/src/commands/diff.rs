//! `legation diff`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use legation_core::Code;
use legation_core::ids::AttemptId;
use legation_engine::read::Found;
use legation_runners::workspace::{Error, Kept, Spaces};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::page::tame;
use crate::reach::{Reach, block_on};
use crate::show::figures::short;

/// Shows what a delegation, or one of its subtasks, changed.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    id: String,
    /// Only the work of this subtask.
    subtask: Option<String>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let found = block_on(look::find(&reach, &args.id))?;
    let id = &found.state.delegations[found.no].id;
    let work = args.subtask.as_deref().map(|subtask| last_work(&found, subtask)).transpose()?;
    let spaces = spaces(&reach)?;
    let diff = match work {
        None => {
            let diff = spaces.diff(id.as_str(), None);
            let diff = diff.map_err(|problem| failed_about(&found, &problem))?;
            let beside = check_there(&spaces, &found, &diff)?;
            if let Some(subtask) = beside.filter(|_| !output.wants_json()) {
                output.note(&format!(
                    "note: the work of `{0}` is kept, and is not in the result; `legation diff {id} \
                     {0}` shows it",
                    tame(short(&subtask))
                ));
            }
            diff
        }
        Some(None) => unkept(&spaces, &found, args.subtask.as_deref().unwrap_or_default())?,
        Some(Some(work)) => {
            let subtask = args.subtask.as_deref().unwrap_or_default();
            let shown = difference(&spaces, &found, work).map_err(|problem| failed(&problem))?;
            shown.ok_or_else(|| gone(subtask))?
        }
    };
    // Whoever reads it page by page keeps nobody from clearing up.
    drop(spaces);
    let inside = inside(&found, args.subtask.as_deref())?;
    let value = json!({
        "delegationId": id, "subtask": args.subtask, "diff": diff, "inSubmodules": inside,
    });
    if !inside.is_empty() && !output.wants_json() {
        let files: Vec<String> = inside.iter().map(|file| tame(file)).collect();
        output.note(&format!(
            "note: not merged, since it lies in submodules: {}; `legation workspaces list` \
             shows where it is kept",
            files.join(", ")
        ));
    }
    output.answer(&value, || match diff.is_empty() {
        true => "Nothing was changed.".to_owned(),
        false => diff.clone(),
    });
    Ok(ExitCode::SUCCESS)
}

/// The files in submodules that a delegation, or one of its subtasks, changed at last.
fn inside(found: &Found, subtask: Option<&str>) -> Result<BTreeSet<String>, CommandError> {
    let state = &found.state;
    let subtasks = match subtask {
        Some(subtask) => vec![look::subtask(found, subtask)?],
        None => state.delegations[found.no].subtasks.clone(),
    };
    let last = subtasks.iter().filter_map(|no| state.subtasks[*no].attempts.last());
    let ends = last.filter_map(|no| state.attempts[*no].end.as_ref());
    Ok(ends.flat_map(|end| end.receipt.in_submodules.iter().cloned()).collect())
}

/// The workspaces of the project.
pub(crate) fn spaces(reach: &Reach) -> Result<Spaces, CommandError> {
    Spaces::open(&reach.paths.project, &reach.paths.state).map_err(|problem| failed(&problem))
}

/// The same about a delegation. Where it has had workspaces of which nothing is known any more,
/// that is what is wrong.
pub(crate) fn failed_about(found: &Found, problem: &Error) -> CommandError {
    let id = &found.state.delegations[found.no].id;
    if !matches!(problem, Error::Unknown { .. }) || !has_worked(found) {
        return failed(problem);
    }
    let message = format!("nothing is known here of the workspaces of {id}");
    let hint = format!(
        "was the project moved, or is the state folder another one? In git its result is the branch \
         legation/{id}/result"
    );
    CommandError::failed(Code::Conflict, message).hint(hint)
}

/// Whether anybody has had a workspace for a delegation.
pub(crate) fn has_worked(found: &Found) -> bool {
    let state = &found.state;
    let subtasks = state.delegations[found.no].subtasks.iter();
    let mut attempts = subtasks.flat_map(|no| &state.subtasks[*no].attempts);
    attempts.any(|no| state.attempts[*no].base.is_some())
}

/// Why workspaces do not do what they should.
pub(crate) fn failed(problem: &Error) -> CommandError {
    let message = problem.to_string();
    let code = match problem {
        Error::Conflict { .. }
        | Error::Refused { .. }
        | Error::Unfit { .. }
        | Error::Moved
        | Error::Unknown { .. } => Code::Conflict,
        Error::Git { .. } => Code::GitCommitFailed,
        Error::NoGit { .. } => Code::ToolUnavailable,
        Error::Files { .. }
        | Error::Slow { .. }
        | Error::Locked { .. }
        | Error::TooLarge { .. }
        | Error::Name { .. }
        | Error::NotKept { .. }
        | Error::Record { .. }
        | Error::Unavailable { .. } => Code::WorkspaceFailed,
    };
    if let Error::Refused { hint, .. } | Error::Unfit { hint, .. } = problem {
        // It says itself what to do next, and that is the place for it.
        let reason = message.strip_suffix(&format!("; {hint}")).unwrap_or(&message);
        let error = CommandError::failed(code, reason).hint(hint);
        return match details(problem) {
            Some(details) => error.details(details),
            None => error,
        };
    }
    if let Error::Moved = problem {
        let message = "somebody else moves your branch again and again";
        return CommandError::failed(code, message).hint("nothing was changed; try again");
    }
    CommandError::failed(code, message).hint("nothing was changed")
}

/// The files that are in the way, for programs, and what stands against what in them.
fn details(problem: &Error) -> Option<Value> {
    if let Error::Unfit { files, hunks, .. } = problem {
        return Some(json!({"files": files, "hunks": hunks}));
    }
    if let Error::Refused { files, .. } = problem {
        return (!files.is_empty()).then(|| json!({"files": files}));
    }
    None
}

/// Why there is nothing to show of a subtask that did something.
fn gone(subtask: &str) -> CommandError {
    let message = format!("the work of `{}` is gone: it was cleared away", tame(subtask));
    let hint = "`legation workspaces list` shows what is still kept";
    CommandError::failed(Code::Conflict, message).hint(hint)
}

/// Says so where there is nothing to show of a delegation because its work was cleared away.
/// Answers with the first subtask whose work is there all the same, beside the result.
pub(crate) fn check_there(
    spaces: &Spaces,
    found: &Found,
    diff: &str,
) -> Result<Option<String>, CommandError> {
    let mut beside = None;
    if !diff.is_empty() {
        return Ok(beside);
    }
    let state = &found.state;
    let delegation = &state.delegations[found.no];
    let tree = state.delegations.iter().next().map(|(_, root)| root.id.as_str());
    for no in &delegation.subtasks {
        let Some(work) = last_work(found, state.subtasks[*no].id.as_str())? else { continue };
        let kept = spaces.kept_commit(tree.unwrap_or_default(), work.attempt.as_str());
        if kept.map_err(|problem| failed(&problem))?.is_none() {
            let message = format!("the work of {} is gone: it was cleared away", delegation.id);
            let hint = "`legation workspaces list` shows what is still kept";
            return Err(CommandError::failed(Code::Conflict, message).hint(hint));
        }
        beside = beside.or_else(|| Some(state.subtasks[*no].id.to_string()));
    }
    Ok(beside)
}

/// What the last attempt of a subtask changed whose work was not kept when it ended: nothing,
/// or it was kept later, or it is still where it was.
fn unkept(spaces: &Spaces, found: &Found, subtask: &str) -> Result<String, CommandError> {
    let state = &found.state;
    let last = state.subtasks[look::subtask(found, subtask)?].attempts.last();
    let Some(attempt) = last.map(|no| &state.attempts[*no]) else { return Ok(String::new()) };
    if let Some(base) = attempt.base.clone() {
        let work = Work { attempt: attempt.id.clone(), reference: String::new(), base };
        let shown = difference(spaces, found, work).map_err(|problem| failed(&problem))?;
        if let Some(shown) = shown {
            return Ok(shown);
        }
    }
    let there = spaces.find(attempt.id.as_str()).map_err(|problem| failed(&problem))?;
    match there.filter(|_| state.delegations[found.no].ended.is_some()) {
        Some(_) => {
            let subtask = tame(subtask);
            let message =
                format!("the work of `{subtask}` was not kept and is still in its workspace");
            let hint = format!("`legation workspaces show {}` tells where that is", attempt.id);
            Err(CommandError::failed(Code::Conflict, message).hint(hint))
        }
        None => Ok(String::new()),
    }
}

/// What one attempt changed; `None` if its work is kept no longer.
fn difference(spaces: &Spaces, found: &Found, work: Work) -> Result<Option<String>, Error> {
    let Work { attempt, reference, base } = work;
    let state = &found.state;
    let tree = state.delegations.iter().next().map(|(_, root)| root.id.as_str());
    let commit = spaces.kept_commit(tree.unwrap_or_default(), attempt.as_str())?;
    let Some(commit) = commit else { return Ok(None) };
    let kept = Kept { reference, commit, base };
    spaces.diff(state.delegations[found.no].id.as_str(), Some(&kept)).map(Some)
}

/// The work of an attempt, as the journal knows it.
struct Work {
    attempt: AttemptId,
    reference: String,
    base: String,
}

/// The work of the last attempt of a subtask that has any.
fn last_work(found: &Found, subtask: &str) -> Result<Option<Work>, CommandError> {
    let state = &found.state;
    let no = look::subtask(found, subtask)?;
    let mut attempts = state.subtasks[no].attempts.iter().rev().map(|no| &state.attempts[*no]);
    Ok(attempts.find_map(|attempt| {
        let (reference, base) = (attempt.kept.clone()?, attempt.base.clone()?);
        Some(Work { attempt: attempt.id.clone(), reference, base })
    }))
}
