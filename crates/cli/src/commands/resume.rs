//! `legation resume`.

use std::process::ExitCode;

use legation_engine::protocol::To;

use crate::error::CommandError;
use crate::output::Output;
use crate::steer::{self, Wanted};

/// Goes on with a delegation that was paused, or that a crash left.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// Wait for its end.
    #[arg(long)]
    pub(crate) wait: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    steer::run(Wanted { id: args.id, to: To::Resume, wait: args.wait }, output)
}
