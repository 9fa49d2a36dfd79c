//! `legation shell`.

use std::process::ExitCode;

use crate::error::CommandError;
use crate::output::Output;

/// Runs slash commands.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _output: &mut Output) -> Result<ExitCode, CommandError> {
    Ok(ExitCode::SUCCESS)
}
