//! `legation`: words on the screen. Every rule lives elsewhere.

mod commands;
mod config;
mod ending;
mod error;
mod host;
mod input;
mod listing;
mod look;
mod output;
mod page;
mod project;
mod reach;
mod show;
mod steer;
mod watch;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::commands::Command;
use crate::error::CommandError;
use crate::output::Output;

/// Lets AI agents hand work to other AI agents, and bounds it in code.
#[derive(Parser)]
#[command(name = "legation", version, max_term_width = 100)]
struct Cli {
    /// Print one JSON value on stdout instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// The verb by which the binary starts itself as the keeper of an attempt. It is not
/// for people, and is over before the options of the others would be looked at.
const KEEP: &str = "keep";

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|verb| verb == KEEP) {
        return legation_runners::keep::main();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(problem) => return bad_usage(&problem),
    };
    let mut output = Output::new(cli.json);
    let exit = cli.command.run(&mut output).unwrap_or_else(|error| {
        output.error(&error);
        error.exit_code()
    });
    output.end(exit)
}

/// Help and version are answers; everything else is a usage error, in JSON if that was asked for.
fn bad_usage(problem: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    let mut output = Output::new(wants_json);
    if !problem.use_stderr() || !wants_json {
        let printed = problem.print();
        if !problem.use_stderr() {
            output.wrote(printed);
        }
        return output.end(ExitCode::from(problem.exit_code().clamp(0, 2) as u8));
    }
    let error = usage_error(problem);
    output.error(&error);
    output.end(error.exit_code())
}

/// What clap says in paragraphs, as a message and a hint.
fn usage_error(problem: &clap::Error) -> CommandError {
    let is_missing = matches!(
        problem.kind(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_missing {
        return CommandError::usage("a subcommand is needed")
            .hint(format!("use one of: {}", subcommands().join(", ")));
    }
    let text = problem.to_string();
    let lines = text.lines().map(|line| line.trim_start_matches("error: ").trim());
    // The first paragraph names the arguments it is about on lines of their own.
    let message: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    CommandError::usage(message.join(" "))
        .hint("run `legation --help` for the commands and their options")
}

/// The names that could follow the commands that were given.
fn subcommands() -> Vec<String> {
    let mut command = Cli::command();
    for arg in std::env::args_os().skip(1) {
        if let Some(given) = command.find_subcommand(arg) {
            command = given.clone();
        }
    }
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| command.get_name().to_owned()).collect()
}
