//! `legation pause`.

use std::process::ExitCode;

use legation_engine::protocol::To;

use crate::error::CommandError;
use crate::output::Output;
use crate::steer::{self, Wanted};

/// Holds a delegation: nothing new starts, what runs may finish.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// Freeze what runs, too.
    #[arg(long)]
    pub(crate) now: bool,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let to = To::Pause { now: args.now, reason: args.reason };
    steer::run(Wanted { id: args.id, to, wait: false }, output)
}
