//! `legation retry`.

use std::process::ExitCode;

use legation_engine::protocol::To;

use crate::error::CommandError;
use crate::output::Output;
use crate::steer::{self, Wanted};

/// Tries a subtask again; the next attempt is told what went wrong.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// The subtask.
    pub(crate) subtask: String,
    /// Let another agent try.
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// What the next attempt should know.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Wait for the end of the delegation.
    #[arg(long)]
    pub(crate) wait: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let agent = args.agent.map(Into::into);
    let to = To::Retry { subtask: args.subtask.into(), agent, note: args.note };
    steer::run(Wanted { id: args.id, to, wait: args.wait }, output)
}
