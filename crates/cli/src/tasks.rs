//! The user's own list of tasks, in which a task may be called by its id.

use std::path::Path;

use legation_core::task::Task;
use serde::Deserialize;

use crate::error::CommandError;
use crate::input;
use crate::project::Project;

/// Where the list may lie, from the project's folder.
const FILES: [&str; 2] = ["tasks.json", ".legation/tasks.json"];
/// Bytes that a list may have.
const MAX_BYTES: usize = 16 << 20;

/// A list as people keep it.
#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    Bare(Vec<Task>),
    Named { tasks: Vec<Task> },
}

/// The task of this id, unless what was said is meant as text. An id has no blanks, so
/// the list is not even looked for when there are any.
pub(super) fn entry(task: &str, is_text: bool) -> Result<Option<Box<Task>>, CommandError> {
    let id = task.trim();
    if is_text || id.contains(char::is_whitespace) {
        return Ok(None);
    }
    let project = Project::current()?;
    for file in FILES {
        let path = project.dir.join(file);
        if path.is_file() {
            let found = read(&path, file)?.into_iter();
            let mut found =
                found.filter(|task| task.id.as_ref().is_some_and(|own| own.as_str() == id));
            if let Some(task) = found.next() {
                return checked(task, file).map(Some);
            }
        }
    }
    Ok(None)
}

fn read(path: &Path, name: &str) -> Result<Vec<Task>, CommandError> {
    let text = input::read_text(path, MAX_BYTES)?;
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match serde_json::from_str(json) {
        Ok(List::Bare(tasks) | List::Named { tasks }) => Ok(tasks),
        Err(problem) => Err(CommandError::usage(format!("{name} is not a list of tasks: {problem}"))
            .hint("write {\"tasks\": [{\"id\": \"…\", \"title\": \"…\"}]}, or add --text to mean the words")),
    }
}

fn checked(task: Task, name: &str) -> Result<Box<Task>, CommandError> {
    task.check().map_err(|unsound| {
        let details = serde_json::json!({"file": name, "field": unsound.field});
        CommandError::usage(format!("{name}: {unsound}")).hint(unsound.hint).details(details)
    })?;
    Ok(Box::new(task))
}
