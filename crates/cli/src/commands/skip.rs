//! `legation skip`.

use std::process::ExitCode;

use legation_engine::protocol::To;

use crate::error::CommandError;
use crate::output::Output;
use crate::steer::{self, Wanted};

/// Goes on without a subtask; those that wait for it are told what is missing.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// The subtask.
    pub(crate) subtask: String,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
    /// Wait for the end of the delegation.
    #[arg(long)]
    pub(crate) wait: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let to = To::Skip { subtask: args.subtask.into(), reason: args.reason };
    steer::run(Wanted { id: args.id, to, wait: args.wait }, output)
}
