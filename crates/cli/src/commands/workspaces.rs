//! `legation workspaces`: what is there, what is kept, and what becomes of it.

pub(crate) mod clean;
mod keep;
mod list;
mod restore;
mod shell;
mod show;
mod stock;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::CommandError;
use crate::output::Output;

/// Lists, shows, keeps, restores and clears away workspaces and the work in them.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Workspaces that are there, and work that is kept.
    List,
    /// All that is known about one: where it came from, its files, where it is kept.
    Show(show::Args),
    /// Lets it stay, whatever its age.
    Keep(keep::Args),
    /// Puts kept work into a new folder.
    Restore(restore::Args),
    /// Opens a shell in a workspace that is there.
    Shell(shell::Args),
    /// Clears away what is too old or too much; without --yes it only tells.
    Clean(clean::Args),
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    match args.verb {
        Verb::List => list::run(output),
        Verb::Show(args) => show::run(&args, output),
        Verb::Keep(args) => keep::run(&args, output),
        Verb::Restore(args) => restore::run(&args, output),
        Verb::Shell(args) => shell::run(&args, output),
        Verb::Clean(args) => clean::run(&args, output),
    }
}
