//! `legation hint`.

use std::process::ExitCode;

use legation_core::decision::quick_hint;

use crate::error::CommandError;
use crate::output::Output;
use crate::page::wrapped;
use crate::project::Project;
use crate::tasks;

/// Says at a glance whether a task may be worth delegating; nothing is decided.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Take the task as text, even if it looks like the id of a task.
    #[arg(long)]
    pub(crate) text: bool,
    /// The task by its id, or in words.
    #[arg(value_name = "TASK")]
    pub(crate) task: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let task = tasks::said(&args.task, args.text, output)?;
    if task.title.is_empty() {
        return Err(
            CommandError::usage("the task is empty").hint("say in a line what is to be done")
        );
    }
    let config = Project::current()?.config(output)?.config;
    let hint = quick_hint(&task, &config);
    output.answer(&hint, || {
        let factors = &hint.quick_factors;
        let parts = factors.subtask_potential;
        let figures = format!("  complexity {}, parts {parts}", factors.complexity);
        wrapped(&format!("{}.", hint.hint), 2) + &figures
    });
    Ok(ExitCode::SUCCESS)
}
