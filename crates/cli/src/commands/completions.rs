//! `legation completions`.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};
use serde_json::json;

use crate::Cli;
use crate::error::CommandError;
use crate::output::Output;

/// Prints a script that lets your shell complete what you type.
///
/// For bash: legation completions bash > ~/.local/share/bash-completion/completions/legation
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(args.shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    output.answer(&json!({"shell": args.shell.to_string(), "script": script}), || script.clone());
    Ok(ExitCode::SUCCESS)
}
