//! `legation check-return`.

use std::process::ExitCode;

use crate::error::CommandError;
use crate::output::Output;

/// Checks a child's return.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _output: &mut Output) -> Result<ExitCode, CommandError> {
    Ok(ExitCode::SUCCESS)
}
