//! Reading the task that a decision is about.

use std::collections::BTreeMap;

use std::path::Path;

use legation_core::task::{NamedSubtask, Task, TaskConfig};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::CommandError;
use crate::input;
use crate::output::Output;

/// Bytes that a task may have.
const MAX_BYTES: usize = 16 << 20;
/// Unknown keys that are told one by one.
const MAX_WARNINGS: usize = 10;

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
    checked(task, &name)
}

/// The task in plain words, or on stdin if they are `-`.
pub(super) fn from_text(text: &str) -> Result<Task, CommandError> {
    if text == "-" {
        let text = input::read_text(Path::new(text), MAX_BYTES)?;
        return checked(Task::from_text(&text), "stdin");
    }
    checked(Task::from_text(text), "TEXT")
}

/// A task says at least something.
fn checked(task: Task, name: &str) -> Result<Task, CommandError> {
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

/// The keys of a JSON object, whatever their values.
type Keys = BTreeMap<String, IgnoredAny>;

/// The objects within a task whose keys are known too.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Within {
    subtasks: Vec<Keys>,
    delegation_config: Option<Keys>,
}

/// A warning for each key that means nothing, with the name that may have been meant.
fn unknown_keys(json: &str, name: &str) -> serde_json::Result<Vec<String>> {
    let keys: Keys = serde_json::from_str(json)?;
    let within: Within = serde_json::from_str(json)?;
    let subtask = NamedSubtask {
        id: None,
        title: String::new(),
        description: String::new(),
        dependencies: Vec::new(),
        effort: None,
    };
    let subtask =
        [keys_of(&subtask), vec!["dependsOn".to_owned(), "depends_on".to_owned()]].concat();
    let of_task = unknown(&keys, &keys_of(&Task::default()), "");
    let of_config = within.delegation_config.unwrap_or_default();
    let of_config = unknown(&of_config, &keys_of(&TaskConfig::default()), "delegationConfig.");
    let of_subtasks =
        within.subtasks.iter().flat_map(|keys| unknown(keys, &subtask, "subtasks[]."));
    let mut all: Vec<String> = of_task.into_iter().chain(of_config).chain(of_subtasks).collect();
    all.dedup();
    let more = all.len().saturating_sub(MAX_WARNINGS);
    all.truncate(MAX_WARNINGS);
    if more > 0 {
        all.push(format!("and {more} more unknown keys"));
    }
    let warnings = all.iter().map(|warning| format!("warning: {name}: {warning}"));
    Ok(warnings.collect())
}

fn keys_of(value: &impl Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).unwrap_or_default();
    let keys = value.as_object().into_iter().flat_map(|object| object.keys());
    keys.cloned().collect()
}

fn unknown(keys: &Keys, known: &[String], within: &str) -> Vec<String> {
    let strange = keys.keys().filter(|key| !known.contains(key));
    strange
        .map(|key| {
            let key: String = key.chars().take(64).collect();
            let meant = nearest(&key, known);
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            format!("unknown key `{within}{key}` is ignored{meant}")
        })
        .collect()
}

/// The known key that differs in at most two letters, capitals and underscores aside.
fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a str> {
    let plain = |key: &str| key.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(key);
    let distances = known.iter().map(|known| (distance(&wanted, &plain(known)), known.as_str()));
    let (least, meant) = distances.min()?;
    (least <= 2 && least < wanted.chars().count()).then_some(meant)
}

/// Letters to insert, remove or replace to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut left = index + 1;
        let mut corner = index;
        let mut next = vec![left];
        for (above, other) in row.iter().skip(1).zip(to.chars()) {
            let replaced = corner + usize::from(letter != other);
            left = replaced.min(left + 1).min(above + 1);
            corner = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
