//! One file per verb.

mod agents;
mod apply;
mod approve;
mod cancel;
mod check_return;
mod completions;
mod config;
mod cost;
mod decide;
mod delegate;
mod demo;
mod diff;
mod doctor;
mod engine;
mod help;
mod hint;
mod history;
mod install;
mod mcp;
mod parse;
mod pause;
mod resume;
mod retry;
mod rollback;
mod serve;
mod shell;
mod skip;
mod status;
pub(crate) mod submit;
mod trace;
mod tree;
mod uninstall;
mod values;
mod workspaces;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::CommandError;
use crate::output::Output;

/// The verbs.
#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Delegate(delegate::Args),
    Direct(delegate::DirectArgs),
    Submit(submit::Args),
    Hint(hint::Args),
    Status(status::Args),
    Tree(tree::Args),
    Trace(trace::Args),
    Cost(cost::Args),
    History(history::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Cancel(cancel::Args),
    Retry(retry::Args),
    Skip(skip::Args),
    /// Allows what waits for a human.
    Approve(approve::Args),
    /// Refuses what waits for a human.
    Reject(approve::Args),
    Diff(diff::Args),
    Apply(apply::Args),
    Rollback(rollback::Args),
    Workspaces(workspaces::Args),
    Clean(workspaces::clean::Args),
    Decide(decide::Args),
    Parse(parse::Args),
    CheckReturn(check_return::Args),
    Agents(agents::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Shell(shell::Args),
    Mcp(mcp::Args),
    Serve(serve::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Completions(completions::Args),
    Help(help::Args),
    #[command(hide = true)]
    Engine(engine::Args),
}

impl Command {
    /// Runs the verb.
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, CommandError> {
        match self {
            Self::Demo(args) => demo::run(&args, output),
            Self::Delegate(args) => delegate::run(args, output),
            Self::Direct(args) => delegate::direct(args, output),
            Self::Submit(args) => submit::run(&args, output),
            Self::Hint(args) => hint::run(&args, output),
            Self::Status(args) => status::run(&args, output),
            Self::Tree(args) => tree::run(&args, output),
            Self::Trace(args) => trace::run(&args, output),
            Self::Cost(args) => cost::run(&args, output),
            Self::History(args) => history::run(&args, output),
            Self::Pause(args) => pause::run(args, output),
            Self::Resume(args) => resume::run(args, output),
            Self::Cancel(args) => cancel::run(args, output),
            Self::Retry(args) => retry::run(args, output),
            Self::Skip(args) => skip::run(args, output),
            Self::Approve(args) => approve::run(args, approve::Word::Yes, output),
            Self::Reject(args) => approve::run(args, approve::Word::No, output),
            Self::Diff(args) => diff::run(&args, output),
            Self::Apply(args) => apply::run(&args, output),
            Self::Rollback(args) => rollback::run(&args, output),
            Self::Workspaces(args) => workspaces::run(args, output),
            Self::Clean(args) => workspaces::clean::run(&args, output),
            Self::Decide(args) => decide::run(args, output),
            Self::Parse(args) => parse::run(args, output),
            Self::CheckReturn(args) => check_return::run(&args, output),
            Self::Agents(args) => agents::run(args, output),
            Self::Config(args) => config::run(args, output),
            Self::Doctor(args) => doctor::run(&args, output),
            Self::Shell(args) => shell::run(&args, output),
            Self::Mcp(args) => mcp::run(&args, output),
            Self::Serve(args) => serve::run(&args, output),
            Self::Install(args) => install::run(&args, output),
            Self::Uninstall(args) => uninstall::run(&args, output),
            Self::Completions(args) => completions::run(&args, output),
            Self::Help(args) => help::run(&args, output),
            Self::Engine(args) => engine::run(&args, output),
        }
    }
}
