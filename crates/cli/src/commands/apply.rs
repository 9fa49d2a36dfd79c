//! `legation apply`.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::tree::view;
use legation_engine::read::Found;
use legation_runners::workspace::{Applied, Error, How, Spaces};
use serde_json::json;

use super::diff::{failed, spaces};
use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::page::{count, tame};
use crate::reach::{Reach, block_on};
use crate::show::tree;

/// Brings the result of a delegation into your own files: all of it, or nothing.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    id: String,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    manner: Manner,
}

/// How it is brought; forward where that can be, else by a merge.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Manner {
    /// Only if your branch has not moved since the work began.
    #[arg(long)]
    ff: bool,
    /// Always by a merge commit.
    #[arg(long)]
    merge: bool,
    /// As one commit with all of it.
    #[arg(long)]
    squash: bool,
}

impl Manner {
    fn how(&self) -> How {
        match self {
            Self { ff: true, .. } => How::FastForward,
            Self { merge: true, .. } => How::Merge,
            Self { squash: true, .. } => How::Squash,
            Self { .. } => How::Auto,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    if reach.is_attempt() {
        return Err(CommandError::usage("an attempt cannot apply anything to the user's files")
            .hint("hand your work in with `legation submit`; the user applies it"));
    }
    let found = block_on(look::find(&reach, &args.id))?;
    let id = found.state.delegations[found.no].id.clone();
    let spaces = spaces(&reach)?;
    let how = args.manner.how();
    if how != How::Auto && !spaces.is_git() {
        return Err(CommandError::usage("a folder without git has no branch to merge into")
            .hint("leave out --ff, --merge and --squash"));
    }
    if has_nothing(&spaces, &id)? {
        return nothing(&found, output);
    }
    if !args.yes && !confirmed(&id, output)? {
        output.note("nothing was changed");
        return Ok(ExitCode::from(1));
    }
    let applied = spaces.apply(id.as_str(), how).map_err(|problem| failed(&problem))?;
    let value = json!({
        "delegationId": id, "applied": true, "files": applied.files, "commit": applied.commit,
    });
    output.answer(&value, || words(&applied));
    Ok(ExitCode::SUCCESS)
}

/// Whether there is no result, or one that changes no file.
fn has_nothing(spaces: &Spaces, id: &DelegationId) -> Result<bool, CommandError> {
    match spaces.diff(id.as_str(), None) {
        Ok(diff) => Ok(diff.is_empty()),
        // No workspace was ever made for it.
        Err(Error::Unknown { .. }) => Ok(true),
        Err(problem) => Err(failed(&problem)),
    }
}

/// There is nothing to apply: not yet, not all of the way, or not at all.
fn nothing(found: &Found, output: &mut Output) -> Result<ExitCode, CommandError> {
    let delegation = &found.state.delegations[found.no];
    let (id, status) = (&delegation.id, found.state.delegation_status(found.no));
    let not_now = |message: String, hint: String| {
        Err(CommandError::failed(Code::Conflict, message)
            .hint(hint)
            .details(json!({"delegationId": id, "status": status})))
    };
    if delegation.ended.is_none() {
        let message = format!("{id} is {status}; nothing of it can be applied yet");
        return not_now(message, format!("`legation status {id}` shows how far it is"));
    }
    let view = view::status(&found.state, found.no, look::now());
    if let Some(subtask) = tree::kept_aside(&serde_json::to_value(view).unwrap_or_default()) {
        let message = format!("{id} is {status}; only completed work can be applied");
        let hint = format!("`legation diff {id} {subtask}` shows what was kept");
        return not_now(message, hint);
    }
    let value = json!({"delegationId": id, "applied": false, "files": [], "commit": null});
    output.answer(&value, || format!("{id} is {status} and changed no file: nothing to apply."));
    Ok(ExitCode::SUCCESS)
}

/// Asks whoever sits at the terminal; nobody there is no yes.
fn confirmed(id: &DelegationId, output: &mut Output) -> Result<bool, CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::usage(format!("applying {id} changes your files"))
            .hint(format!("look at `legation diff {id}`, then add --yes")));
    }
    output.note(&format!("This changes your files as `legation diff {id}` shows. Go on? [y/N]"));
    let mut answer = String::new();
    // No answer is a no.
    let _ = io::stdin().lock().read_line(&mut answer);
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

fn words(applied: &Applied) -> String {
    if applied.files.is_empty() {
        return "Your files have this result already; nothing was changed.\n".to_owned();
    }
    let mut text = match &applied.commit {
        Some(commit) => {
            let short: String = commit.chars().take(12).collect();
            format!("{} changed, now at {short}\n", count(applied.files.len(), "file"))
        }
        None => format!("{} changed\n", count(applied.files.len(), "file")),
    };
    for file in &applied.files {
        text.push_str(&format!("  {}\n", tame(file)));
    }
    text
}
