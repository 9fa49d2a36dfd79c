//! The words of `cargo xtask`. What each does is in the module of its name.

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::{bench, ci, coverage, fuzz, real_agents, setup, soak, tidy};

/// The chores of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
pub struct Xtask {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    Ci(ci::Args),
    Tidy(tidy::Args),
    Setup(setup::Args),
    Coverage(coverage::Args),
    Bench(bench::Args),
    Fuzz(fuzz::Args),
    Soak(soak::Args),
    RealAgents(real_agents::Args),
}

impl Xtask {
    /// Does the chore.
    pub fn run(self) -> Result<()> {
        match self.chore {
            Chore::Ci(args) => ci::run(&args),
            Chore::Tidy(args) => tidy::run(&args),
            Chore::Setup(args) => setup::run(&args),
            Chore::Coverage(args) => coverage::run(&args),
            Chore::Bench(args) => bench::run(&args),
            Chore::Fuzz(args) => fuzz::run(&args),
            Chore::Soak(args) => soak::run(&args),
            Chore::RealAgents(args) => real_agents::run(&args),
        }
    }
}

/// The names of all chores, for checking that the documents name real ones.
pub fn names() -> Vec<String> {
    let command = Xtask::command();
    let chores = command.get_subcommands();
    chores.map(|chore| chore.get_name().to_owned()).collect()
}
