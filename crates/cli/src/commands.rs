//! One file per verb.

mod agents;
mod check_return;
mod config;
mod decide;
mod parse;
mod shell;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::CommandError;
use crate::output::Output;

/// The verbs.
#[derive(Subcommand)]
pub(crate) enum Command {
    Decide(decide::Args),
    Parse(parse::Args),
    CheckReturn(check_return::Args),
    Agents(agents::Args),
    Config(config::Args),
    Shell(shell::Args),
}

impl Command {
    /// Runs the verb.
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, CommandError> {
        match self {
            Self::Decide(args) => decide::run(args, output),
            Self::Parse(args) => parse::run(args, output),
            Self::CheckReturn(args) => check_return::run(&args, output),
            Self::Agents(args) => agents::run(args, output),
            Self::Config(args) => config::run(args, output),
            Self::Shell(args) => shell::run(args, output),
        }
    }
}
