//! `legation agents`: which agents there are, and what they may do.

mod catalogue;
mod check;
mod explain;
mod list;
mod new;
mod show;
mod switch;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::CommandError;
use crate::output::Output;

/// Lists, shows, checks, makes and explains agents.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Every agent, where it comes from and what runs it.
    List,
    /// All that is known about one agent.
    Show(show::Args),
    /// Looks for mistakes in agent files; exit code 1 if there are any.
    Check,
    /// Writes the file of a new agent, for you to go on with.
    New(new::Args),
    /// Lets everybody delegate to an agent again.
    Enable(switch::Args),
    /// Keeps everybody from delegating to an agent.
    Disable(switch::Args),
    /// Whether one agent may delegate to another, and what the other may then use.
    Explain(explain::Args),
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    match args.verb {
        Verb::List => list::run(output),
        Verb::Show(args) => show::run(&args, output),
        Verb::Check => check::run(output),
        Verb::New(args) => new::run(&args, output),
        Verb::Enable(args) => switch::run(&args, switch::To::On, output),
        Verb::Disable(args) => switch::run(&args, switch::To::Off, output),
        Verb::Explain(args) => explain::run(&args, output),
    }
}
