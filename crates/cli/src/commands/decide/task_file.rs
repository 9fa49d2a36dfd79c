//! Reading the task that a decision is about.

use std::path::Path;

use legation_core::task::Task;

use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::tasks::{self, unknown_keys};

/// Bytes that a task may have.
const MAX_BYTES: usize = 16 << 20;

/// What a task looks like, for those who got it wrong.
const FORM: &str = "a task is a JSON object such as {\"title\": \"…\", \"description\": \"…\", \
                    \"acceptanceCriteria\": [\"…\"], \"effort\": \"4h\"}";

/// The task in a JSON file, or on stdin if the name is `-`. Unknown keys are warned about.
pub(super) fn read(file: &Path, output: &mut Output) -> Result<Task, CommandError> {
    let name = input::name(file);
    let text = input::read_text(file, MAX_BYTES)?;
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // Keys first: a list in the place of an object would be taken for its values in order.
    let warnings = unknown_keys(json, &name).map_err(|problem| malformed(&name, &problem))?;
    let task: Task = serde_json::from_str(json).map_err(|problem| malformed(&name, &problem))?;
    for warning in warnings {
        output.note(&warning);
    }
    task.check().map_err(|unsound| tasks::refused(&name, None, unsound))?;
    something(task, &name)
}

/// The task in plain words or by its id, or on stdin if they are `-`.
pub(super) fn from_text(
    text: &str,
    is_text: bool,
    output: &mut Output,
) -> Result<Task, CommandError> {
    if text == "-" {
        let text = input::read_text(Path::new(text), MAX_BYTES)?;
        return something(Task::from_text(&text), "stdin");
    }
    something(tasks::said(text, is_text, output)?, "TEXT")
}

/// A task says at least something.
fn something(task: Task, name: &str) -> Result<Task, CommandError> {
    if task.title.trim().is_empty() && task.description.trim().is_empty() {
        let error =
            CommandError::usage(format!("{name}: the task has no title and no description"));
        return Err(
            error.hint("say what is to be done, for example: legation decide \"Fix the bug\"")
        );
    }
    Ok(task)
}

fn malformed(name: &str, problem: &serde_json::Error) -> CommandError {
    let (line, column) = (problem.line(), problem.column());
    let text = problem.to_string();
    let place = format!(" at line {line} column {column}");
    let what = text.strip_suffix(&place).unwrap_or(&text);
    CommandError::usage(format!("{name}:{line}:{column}: {what}"))
        .hint(FORM)
        .details(serde_json::json!({"file": name, "line": line, "column": column}))
}
