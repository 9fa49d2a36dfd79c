//! `legation workspaces restore`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use legation_core::Code;
use serde_json::json;

use super::stock::{Entry, Stock};
use crate::commands::diff::failed;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::tame;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The attempt, or the beginning of its id; or its delegation, if it has but one.
    id: String,
    /// A folder that is not there yet; if none is named, one beside the project.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take()?;
    let entry = stock.find(&args.id)?;
    let Some(work) = &entry.work else { return Err(nothing_kept(entry)) };
    let beside = || beside(&stock.reach.paths.project, &entry.attempt);
    let dir = args.dir.clone().unwrap_or_else(beside);
    let dir = std::path::absolute(&dir).map_err(|problem| {
        CommandError::usage(format!("the folder cannot be used: {problem}"))
            .hint("name a folder that is not there yet")
    })?;
    stock.spaces.restore(work, &dir).map_err(|problem| failed(&problem))?;
    let shown = dir.display().to_string();
    let is_git = stock.spaces.is_git();
    let value = json!({
        "attempt": entry.attempt, "path": shown, "ref": work.reference, "commit": work.commit,
        "beside": entry.beside(),
    });
    output.answer(&value, || {
        let mut text = format!("The work of {} is in {}\n", entry.attempt, tame(&shown));
        if is_git {
            text.push_str("It is a worktree of your repository; git worktree remove ends it.\n");
        }
        if !work.beside.is_empty() {
            text.push_str(&format!(
                "Other branches, tags and stashes are kept beside it; `legation workspaces show {}` \
                 tells the names that git knows them by.\n",
                entry.attempt
            ));
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

/// A folder beside the project, named after both.
fn beside(project: &Path, attempt: &str) -> PathBuf {
    let mut name = project.file_name().map_or_else(|| OsString::from("work"), OsString::from);
    name.push(format!("-{attempt}"));
    project.with_file_name(name)
}

fn nothing_kept(entry: &Entry) -> CommandError {
    let id = &entry.attempt;
    let (message, hint) = match (entry.in_use, &entry.standing) {
        (true, _) => (
            format!("{id} still works, so nothing of it is kept yet"),
            format!("`legation workspaces shell {id}` looks at it where it is"),
        ),
        (false, Some(standing)) if standing.is_kept => (
            format!("{id} changed no file that could be kept"),
            format!("`legation workspaces show {id}` tells more"),
        ),
        (false, _) => (
            format!("the work of {id} was not kept yet"),
            format!("`legation workspaces keep {id}` does it"),
        ),
    };
    CommandError::failed(Code::Conflict, message).hint(hint)
}
