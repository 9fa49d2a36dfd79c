//! `legation hint`.

use std::process::ExitCode;

use legation_core::decision::quick_hint;
use legation_core::task::Task;

use crate::error::CommandError;
use crate::output::Output;
use crate::page::wrapped;
use crate::project::Project;

/// Says at a glance whether a task may be worth delegating; nothing is decided.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The task in words.
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let task = Task::from_text(&args.text);
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
