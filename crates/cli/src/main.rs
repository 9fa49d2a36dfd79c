//! `legation`: words on the screen. Every rule lives elsewhere.

mod commands;
mod config;
mod ending;
mod error;
mod host;
mod input;
mod listing;
mod look;
mod office;
mod output;
mod page;
mod project;
mod reach;
mod show;
mod steer;
mod tasks;
mod usage;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use legation_runners::llm::hand;
use legation_runners::workspace::namespace;
use legation_runners::{chancery, envoy};

use crate::commands::Command;
use crate::output::Output;

/// Lets AI agents hand work to other AI agents, and bounds it in code.
#[derive(Parser)]
#[command(name = "legation", version, term_width = 80, disable_help_subcommand = true)]
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
    if std::env::args_os().nth(1).is_some_and(|verb| verb == envoy::VERB) {
        return envoy::main();
    }
    if std::env::args_os().nth(1).is_some_and(|verb| verb == chancery::VERB) {
        return chancery::main();
    }
    if std::env::args_os().nth(1).is_some_and(|verb| verb == hand::VERB) {
        return hand::main();
    }
    if std::env::args_os().nth(1).is_some_and(|verb| verb == namespace::VERB) {
        return namespace::main();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(problem) => return usage::end(&problem, &Cli::command()),
    };
    let mut output = Output::new(cli.json);
    let exit = cli.command.run(&mut output).unwrap_or_else(|error| {
        output.error(&error);
        error.exit_code()
    });
    output.end(exit)
}
