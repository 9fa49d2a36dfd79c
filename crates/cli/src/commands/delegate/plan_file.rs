//! The task and the plan, from the command line, a file or stdin.

use std::path::Path;

use legation_core::tree::plan::{MAX_ROUNDS, Plan};
use serde_json::json;

use crate::error::CommandError;
use crate::input;

/// Bytes that a plan or a task may have.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// What stands for stdin.
const STDIN: &str = "-";

/// What a plan looks like, for those who got it wrong.
const FORM: &str = "a plan is a JSON object such as {\"pattern\": \"dag\", \"subtasks\": \
                    [{\"id\": \"a\", \"title\": \"…\", \"agent\": \"…\", \"dependsOn\": []}]}";

/// Only one of the two can come from stdin.
pub(super) fn one_stdin(plan: Option<&Path>, task: Option<&str>) -> Result<(), CommandError> {
    if plan == Some(Path::new(STDIN)) && task == Some(STDIN) {
        return Err(CommandError::usage("--plan and TASK cannot both read stdin")
            .hint("put one of the two into a file"));
    }
    Ok(())
}

/// The plan in a file.
pub(super) fn read(file: &Path) -> Result<Plan, CommandError> {
    let name = input::name(file);
    let text = input::read_text(file, MAX_BYTES)?;
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let plan: Plan = serde_json::from_str(json).map_err(|problem| {
        let (line, column) = (problem.line(), problem.column());
        let said = problem.to_string();
        let place = format!(" at line {line} column {column}");
        let what = said.strip_suffix(&place).unwrap_or(&said);
        CommandError::usage(format!("{name}:{line}:{column}: {what}"))
            .hint(FORM)
            .details(json!({"file": name, "line": line, "column": column}))
    })?;
    if let Some(rounds) = plan.rounds.filter(|rounds| !(1..=MAX_ROUNDS).contains(rounds)) {
        let message = format!("{name}: \"rounds\" is {rounds}, and takes 1 to {MAX_ROUNDS}");
        return Err(CommandError::usage(message).hint("write another number, or leave it out"));
    }
    Ok(plan)
}

/// The task in words; a plan can do without.
pub(super) fn task(task: Option<String>, plan: Option<&Plan>) -> Result<String, CommandError> {
    let task = match task {
        Some(task) if task == STDIN => input::read_text(Path::new(STDIN), MAX_BYTES)?,
        Some(task) => task,
        None => plan.map(named_after).unwrap_or_default(),
    };
    if task.trim().is_empty() {
        return Err(CommandError::usage("the task is empty")
            .hint("say in a line what is to be done, for example: legation delegate \"Fix it\""));
    }
    Ok(task)
}

fn named_after(plan: &Plan) -> String {
    match plan.subtasks.as_slice() {
        [only] => only.title.clone().unwrap_or_else(|| only.id.clone()),
        several => format!("A plan of {} subtasks", several.len()),
    }
}
