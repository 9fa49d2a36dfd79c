//! The user's own list of tasks, in which a task may be called by its id.
//!
//! A task that cannot be meant is refused when it is asked for; the others are none the worse.

mod keys;

use std::path::Path;

use legation_core::task::{Task, Unsound};
use legation_core::text::shown::quote;
use serde_json::{Map, Value, json};

pub(crate) use self::keys::unknown_keys;
use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::project::Project;

/// Where the list may lie, from the project's folder.
const FILES: [&str; 2] = ["tasks.json", ".legation/tasks.json"];
/// Bytes that a list may have.
const MAX_BYTES: usize = 16 << 20;
/// What a list looks like, for those who got it wrong.
const FORM: &str =
    "write {\"tasks\": [{\"id\": \"…\", \"title\": \"…\"}]}, or add --text to mean the words";

/// One task of a list, and where it stands.
struct Entry {
    file: &'static str,
    place: usize,
    fields: Map<String, Value>,
}

/// What was said as a task: the entry of the list that has this id, else the words.
pub(crate) fn said(text: &str, is_text: bool, output: &mut Output) -> Result<Task, CommandError> {
    let entry = entry(text, is_text, output)?;
    Ok(entry.map_or_else(|| Task::from_text(text), |entry| *entry))
}

/// The task of this id, unless what was said is meant as text. An id has no blanks, so
/// the list is not even looked for when there are any.
pub(crate) fn entry(
    said: &str,
    is_text: bool,
    output: &mut Output,
) -> Result<Option<Box<Task>>, CommandError> {
    let id = said.trim();
    if is_text || id.is_empty() || id.contains(char::is_whitespace) {
        return Ok(None);
    }
    let project = Project::current()?;
    let mut found = Vec::new();
    for file in FILES {
        let path = project.dir.join(file);
        if path.is_file() {
            let entries = read(&path, file)?.into_iter();
            found.extend(entries.filter(|entry| entry.id() == Some(id)));
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [entry] => entry.task(output).map(|task| Some(Box::new(task))),
        [first, second, ..] => Err(CommandError::usage(format!(
            "two tasks have the id {}: {} and {}",
            quote(id),
            first.shown(),
            second.shown()
        ))
        .hint("give each task an id of its own, or add --text to mean the words")
        .details(json!({"id": id}))),
    }
}

/// A task that cannot be meant, and where it is written.
pub(crate) fn refused(file: &str, task: Option<&str>, unsound: Unsound) -> CommandError {
    let named = task.map(|id| format!(" task {},", quote(id))).unwrap_or_default();
    let mut details = json!({"file": file, "field": unsound.field});
    if let (Some(task), Some(details)) = (task, details.as_object_mut()) {
        details.insert("task".to_owned(), task.into());
    }
    CommandError::usage(format!("{file}:{named} {unsound}")).hint(unsound.hint).details(details)
}

impl Entry {
    fn id(&self) -> Option<&str> {
        self.fields.get("id").and_then(Value::as_str).map(str::trim)
    }

    /// Where it stands and what it is about.
    fn shown(&self) -> String {
        let title = self.fields.get("title").and_then(Value::as_str).unwrap_or_default();
        format!("tasks[{}] of {}, {}", self.place, self.file, quote(title))
    }

    fn task(&self, output: &mut Output) -> Result<Task, CommandError> {
        let task = Task::read(&self.fields);
        let task = task.map_err(|unsound| refused(self.file, self.id(), unsound))?;
        let json = Value::Object(self.fields.clone()).to_string();
        let place = format!("{}: task {}", self.file, quote(self.id().unwrap_or_default()));
        for warning in unknown_keys(&json, &place).unwrap_or_default() {
            output.note(&warning);
        }
        Ok(task)
    }
}

/// The entries of a list, each an object; whatever else stands there has no id to be called by.
fn read(path: &Path, file: &'static str) -> Result<Vec<Entry>, CommandError> {
    let text = input::read_text(path, MAX_BYTES)?;
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let wrong = |problem: &str| {
        CommandError::usage(format!("{file} is not a list of tasks: {problem}")).hint(FORM)
    };
    let list = serde_json::from_str(json).map_err(|problem| wrong(&problem.to_string()))?;
    let tasks = match list {
        Value::Array(tasks) => tasks,
        Value::Object(mut fields) => match fields.remove("tasks") {
            Some(Value::Array(tasks)) => tasks,
            Some(_) => return Err(wrong("`tasks` is no list")),
            None => return Err(wrong("it has no `tasks`")),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(wrong("it is neither a list nor an object"));
        }
    };
    let entries = tasks.into_iter().enumerate().filter_map(|(place, entry)| match entry {
        Value::Object(fields) => Some(Entry { file, place, fields }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    });
    Ok(entries.collect())
}
