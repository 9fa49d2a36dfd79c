//! `legation engine`: the background process of a project. Started by the others, not
//! by people.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use legation_core::Code;
use legation_engine::client::{Paths, PrepareError, READY};
use legation_engine::{ServeError, serve};
use serde_json::json;

use crate::error::CommandError;
use crate::host::Files;
use crate::output::Output;
use crate::project::Project;
use crate::reach::no_place;

/// Serves a project until there is nothing left to do.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project.
    #[arg(long, value_name = "DIR")]
    project: PathBuf,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let paths = Paths::of(&args.project);
    let state = paths.state.clone();
    let host = Files::of(Project { dir: paths.project.clone() });
    // Its own steps are short and what is slow has threads of its own: one thread does
    // them for less than it takes several to wake each other.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(serve(paths.project.clone(), paths, host, ready)),
        Err(problem) => Err(ServeError::Files {
            doing: "start threads for",
            path: paths.project,
            source: problem,
        }),
    };
    match served {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            let error = explained(problem, &state);
            // Whoever started it reads one line; the log is for whoever looks later.
            output.note(&error.to_text());
            say(&error.to_json().to_string());
            Ok(error.exit_code())
        }
    }
}

fn ready() {
    say(READY);
}

/// One line for whoever started the engine, who may be gone already.
fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

fn explained(problem: ServeError, state: &Path) -> CommandError {
    let message = problem.to_string();
    match problem {
        ServeError::Rules(trouble) => trouble.into(),
        ServeError::Owned(lock) => CommandError::failed(Code::Conflict, message)
            .hint("use that one; `legation status --json` names its process")
            .details(json!({"lock": lock})),
        ServeError::Workspaces(_) => {
            CommandError::no_workspace(&message).hint("mend what is named, then try again")
        }
        ServeError::Files { path, .. } | ServeError::Prepare(PrepareError { path, .. }) => {
            no_place(&path, state, &message)
        }
        ServeError::Journal(_) | ServeError::Engine(_) => {
            CommandError::failed(Code::UnknownError, message)
                .hint("nothing that was acknowledged is lost; mend what is named, then try again")
        }
    }
}
