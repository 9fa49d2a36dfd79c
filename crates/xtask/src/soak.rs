//! Tests that are worth more the longer they run.

use anyhow::Result;

use crate::process;
use crate::setup::NEXTEST;

/// How often a process is killed for each way of making workspaces.
const CYCLES: &str = "RUNNERS_TEST_CYCLES";
/// The test that goes on as long as it is told.
const TEST: &str = "package(legation-runners) & test(=workspaces::crash::\
     a_process_that_is_killed_at_any_moment_loses_nothing_and_leaves_nothing)";

/// How many processes are killed for each of the three ways of making workspaces.
const USUAL_CYCLES: u32 = 170;

/// Kills processes that work in workspaces, many times over.
#[derive(clap::Args)]
pub struct Args {
    /// What is worn out.
    #[arg(value_enum)]
    _subject: Subject,
    /// How many processes are killed for each of the three ways of making workspaces.
    #[arg(long, default_value_t = USUAL_CYCLES)]
    cycles: u32,
}

/// What can be worn out.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Subject {
    /// Workspaces.
    Workspace,
}

impl Default for Args {
    fn default() -> Self {
        Self { _subject: Subject::Workspace, cycles: USUAL_CYCLES }
    }
}

/// Runs the test for as many cycles as asked for.
pub fn run(args: &Args) -> Result<()> {
    // Of the whole workspace, since that is what the other tests have built already.
    let all = ["nextest", "run", "--locked", "--workspace", "--profile", "soak"];
    let mut command = NEXTEST.command(&all)?;
    process::run(command.args(["-E", TEST]).env(CYCLES, args.cycles.to_string()))
}
