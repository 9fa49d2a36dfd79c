//! `legation apply`.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::tree::view;
use legation_engine::read::Found;
use legation_runners::workspace::{Applied, Error, How, Spaces};
use serde_json::{Value, json};

use super::diff::{check_there, failed, failed_about, has_worked, spaces};
use crate::error::CommandError;
use crate::input;
use crate::look;
use crate::output::Output;
use crate::page::{count, tame};
use crate::reach::{Reach, block_on};
use crate::show::figures::{list, text};
use crate::show::tree;
use crate::watch::end_when_done;

/// Subtasks that a result lacks nothing of.
const DONE: &[&str] = &["completed", "skipped"];

/// Brings the result of a delegation into your own files: all of it, or nothing. Of one
/// that is not completed it is said what the result lacks.
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
    let reach = Reach::from_outside(
        "an attempt cannot apply anything to the user's files",
        "hand your work in with `legation submit`; the user applies it",
    )?;
    let found = block_on(look::find(&reach, &args.id))?;
    let id = found.state.delegations[found.no].id.clone();
    let standing = Standing::of(&found);
    if found.state.delegations[found.no].ended.is_none() {
        let message = format!("{id} is {}; nothing of it can be applied yet", standing.status);
        return Err(standing.not_now(
            &id,
            message,
            format!("`legation status {id}` shows how far it is"),
        ));
    }
    let mut spaces = spaces(&reach)?;
    let how = args.manner.how();
    if how != How::Auto && !spaces.is_git() {
        return Err(CommandError::usage("a folder without git has no branch to merge into")
            .hint("leave out --ff, --merge and --squash"));
    }
    if has_nothing(&spaces, &found)? {
        check_there(&spaces, &found, "")?;
        return nothing(&id, &standing, output);
    }
    if let Some(missing) = standing.missing(&id) {
        output.note(&missing);
    }
    if !args.yes {
        // Who thinks about it keeps nobody from clearing up.
        drop(spaces);
        if !confirmed(&id, output)? {
            output.note("nothing was changed");
            return Ok(ExitCode::from(1));
        }
        spaces = self::spaces(&reach)?;
    }
    end_when_done()?;
    let applied = spaces.apply(id.as_str(), how).map_err(|problem| failed(&problem))?;
    let value = json!({
        "delegationId": id, "applied": true, "files": applied.files, "commit": applied.commit,
        "status": standing.status, "missing": standing.missing,
    });
    output.answer(&value, || words(&applied));
    Ok(ExitCode::SUCCESS)
}

/// Whether there is no result, or one that changes no file.
fn has_nothing(spaces: &Spaces, found: &Found) -> Result<bool, CommandError> {
    match spaces.diff(found.state.delegations[found.no].id.as_str(), None) {
        Ok(diff) => Ok(diff.is_empty()),
        // No workspace was ever made for it.
        Err(Error::Unknown { .. }) if !has_worked(found) => Ok(true),
        Err(problem) => Err(failed_about(found, &problem)),
    }
}

/// How a delegation stands, and what its result does not have.
struct Standing {
    status: String,
    /// Subtasks whose work is not in the result.
    missing: Vec<String>,
    /// The first of those whose work is kept beside it.
    kept_aside: Option<String>,
}

impl Standing {
    fn of(found: &Found) -> Self {
        let view = view::status(&found.state, found.no, look::now());
        let view = serde_json::to_value(view).unwrap_or_default();
        let lacks = |subtask: &&Value| !DONE.contains(&text(subtask, "status"));
        let missing = list(&view, "subtasks").iter().filter(lacks);
        Self {
            status: text(&view, "status").to_owned(),
            missing: missing.map(|subtask| text(subtask, "id").to_owned()).collect(),
            kept_aside: tree::kept_aside(&view),
        }
    }

    /// What somebody should know who takes a result that is not whole.
    fn missing(&self, id: &DelegationId) -> Option<String> {
        let names = self.missing.iter().map(|name| tame(name)).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{id} is {}; not in its result: {names}", self.status))
    }

    fn not_now(&self, id: &DelegationId, message: String, hint: String) -> CommandError {
        CommandError::failed(Code::Conflict, message)
            .hint(hint)
            .details(json!({"delegationId": id, "status": self.status}))
    }
}

/// There is nothing to apply: not all of the way, or not at all.
fn nothing(
    id: &DelegationId,
    standing: &Standing,
    output: &mut Output,
) -> Result<ExitCode, CommandError> {
    let status = &standing.status;
    if let Some(subtask) = &standing.kept_aside {
        let message = format!("{id} is {status}; only completed work can be applied");
        let hint = format!("`legation diff {id} {subtask}` shows what was kept");
        return Err(standing.not_now(id, message, hint));
    }
    let value = json!({
        "delegationId": id, "applied": false, "files": [], "commit": null,
        "status": status, "missing": standing.missing,
    });
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
    Ok(input::is_yes())
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
