//! `legation decide`.

use std::process::ExitCode;

use crate::error::CommandError;
use crate::output::Output;

/// Says whether a task should be delegated, how, and why.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _output: &mut Output) -> Result<ExitCode, CommandError> {
    Ok(ExitCode::SUCCESS)
}
