//! `legation cancel`.

use std::process::ExitCode;

use legation_engine::protocol::To;

use crate::error::CommandError;
use crate::output::Output;
use crate::steer::{self, Wanted};

/// Stops a delegation and everything below it; what was done is kept.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// Only this subtask.
    pub(crate) subtask: Option<String>,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
    /// Take back what was merged, too.
    #[arg(long)]
    pub(crate) rollback: bool,
    /// Wait until everything has stopped.
    #[arg(long)]
    pub(crate) wait: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let subtask = args.subtask.map(Into::into);
    let to = To::Cancel { subtask, reason: args.reason, rollback: args.rollback };
    steer::run(Wanted { id: args.id, to, wait: args.wait }, output)
}
