//! `legation uninstall`: takes back what `legation install` has done.

use std::process::ExitCode;

use super::install;
use crate::error::CommandError;
use crate::output::Output;

/// Takes the tools of Legation from a vendor's agent program again.
///
/// Its settings are as they were before `legation install`. What you have changed since
/// stays.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: install::Target,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    install::remove::run(&args.target, args.yes, output)
}
