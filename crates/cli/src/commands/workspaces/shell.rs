//! `legation workspaces shell`.
//!
//! The shell is the user's own, inside the fence that programs have in that workspace: git
//! runs what a repository names, filters and the like, and this one is the attempt's. Where
//! there is no fence the attempt had none either; then hooks and the like are at least off.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use legation_core::Code;
use legation_engine::Grounds;
use legation_runners::fence::{Error, Fence, prepare};
use legation_runners::workspace::Place;
use serde_json::json;

use super::stock::{Entry, Stock};
use crate::commands::diff::failed;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::tame;

/// Settings by which a repository names programs that git would run unasked.
const OFF: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "vi"),
    ("diff.external", ""),
];
const DEFAULT_SHELL: &str = "/bin/sh";

#[derive(clap::Args)]
pub(super) struct Args {
    /// The attempt, or the beginning of its id; or its delegation, if it has but one.
    id: String,
    /// Runs this and ends.
    #[arg(short, value_name = "COMMAND")]
    command: Option<String>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take_inside()?;
    let entry = stock.find(&args.id)?;
    let Some(standing) = &entry.standing else { return Err(gone(entry)) };
    let place = &standing.place;
    stock.spaces.stand(place).map_err(|problem| failed(&problem))?;
    if output.wants_json() {
        // A shell answers in its own words; programs are told where to start one.
        let env: serde_json::Map<_, _> =
            place.env.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        // Without the slash that an empty way below the top leaves at its end.
        let path: PathBuf = place.cwd.components().collect();
        let holder = stock.inside.as_ref().map(|inside| inside.holder);
        let value =
            json!({"attempt": entry.attempt, "path": path, "env": env, "namespaceOf": holder});
        output.answer(&value, String::new);
        return Ok(ExitCode::SUCCESS);
    }
    if args.command.is_none() {
        let whose = if entry.in_use { "which still works here" } else { "which has ended" };
        output.note(&format!("workspace of {}, {whose}; exit ends the shell", entry.attempt));
    }
    let config = stock.reach.project.config(output)?.config;
    let (project, state) = (&stock.reach.paths.project, &stock.reach.paths.state);
    let grounds = Grounds { project, state, spaces: &stock.spaces, config: &config };
    let fence = grounds.fence(place);
    let missing = match &fence {
        None => Some("`sandbox.fence` is off".to_owned()),
        Some(fence) => {
            let standing = fence.expected().map_err(|problem| barred(&problem))?;
            (!standing.is_on).then(|| format!("there is no fence here, {}", standing.gaps.concat()))
        }
    };
    if let Some(missing) = missing {
        output.note(&format!("{missing}: git may run what the attempt put into its repository"));
    }
    let place = place.clone();
    // Whoever starts while the shell is open may clear up, but the namespace stays.
    let Stock { spaces, inside: _inside, .. } = stock;
    drop(spaces);
    start(&place, args.command.as_deref(), fence)
}

fn start(
    place: &Place,
    line: Option<&str>,
    fence: Option<Fence>,
) -> Result<ExitCode, CommandError> {
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    let shell = shell.unwrap_or_else(|| DEFAULT_SHELL.into());
    let mut command = Command::new(&shell);
    command.current_dir(&place.cwd).envs(place.env.iter().cloned());
    command.env("GIT_CONFIG_COUNT", OFF.len().to_string());
    for (at, (key, value)) in OFF.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{at}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    if let Some(line) = line {
        command.arg("-c").arg(line);
    }
    let cannot = |problem: String| {
        let (shell, cwd) = (shell.to_string_lossy(), place.cwd.display());
        let message = format!("cannot start {} in {cwd}: {problem}", tame(&shell));
        CommandError::failed(Code::ToolUnavailable, message)
            .hint("set SHELL to a shell that is there; the attempt may have removed its folder")
    };
    let status = match fence {
        None => command.status().map_err(|problem| cannot(problem.to_string()))?,
        Some(mut fence) => {
            let temp = Temp::new().map_err(|problem| cannot(problem.to_string()))?;
            command.env("TMPDIR", &temp.0);
            fence.writable.extend([place.root.clone(), temp.0.clone()]);
            prepare(&fence).map_err(|problem| cannot(problem.to_string()))?;
            let started = fence.real().start(&mut command);
            let (mut child, _) = started.map_err(|problem| match problem {
                Error::Start(problem) => cannot(problem.to_string()),
                Error::NoFence(_) | Error::NoCeiling(_) => barred(&problem),
            })?;
            child.wait().map_err(|problem| cannot(problem.to_string()))?
        }
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or_else(|| ExitCode::from(1), ExitCode::from))
}

fn barred(problem: &Error) -> CommandError {
    CommandError::failed(Code::ToolUnavailable, problem.to_string())
        .hint("`legation doctor` shows what is enforced here, and what is missing")
}

/// A temporary folder that goes with the shell.
struct Temp(PathBuf);

impl Temp {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("legation-shell-{}", std::process::id()));
        // Whoever made one of that name first is not trusted with it.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        // What cannot be removed goes like everything in that place.
        drop(legation_runners::depths::remove(&self.0));
    }
}

fn gone(entry: &Entry) -> CommandError {
    let id = &entry.attempt;
    CommandError::failed(Code::Conflict, format!("the workspace of {id} is gone; its work is kept"))
        .hint(format!("`legation workspaces restore {id} DIR` puts it into a folder of its own"))
}
