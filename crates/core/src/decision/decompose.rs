//! Taking a task apart: the first source that names at least two parts.
//!
//! Sources are never mixed, because mixing repeats work. A task with more parts
//! than there may be subtasks keeps them all: the last subtask gathers the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lists::{self, Entry, Marker};
use super::sentences;
use crate::config::Thresholds;
use crate::task::{NamedSubtask, Task};

/// Subtasks that a task is taken apart into at most.
pub const MAX_SUBTASKS: usize = 7;

/// Where the parts of a task came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The user named them.
    Subtasks,
    /// Numbered lines of the description.
    NumberedLines,
    /// Bulleted lines of the description.
    BulletedLines,
    /// Acceptance criteria.
    AcceptanceCriteria,
    /// List lines of both kinds, where neither kind nor the criteria name two parts.
    ListedLines,
    /// Sentences that open with an action.
    Sentences,
}

impl Source {
    /// The source in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Subtasks => "its own subtasks",
            Self::NumberedLines => "the numbered lines of its description",
            Self::BulletedLines => "the bulleted lines of its description",
            Self::AcceptanceCriteria => "its acceptance criteria",
            Self::ListedLines => "the list lines of its description",
            Self::Sentences => "the sentences that open with an action",
        }
    }
}

/// A part of a task that could be delegated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subtask {
    /// The user's own id, or `<task>-sub-<n>`.
    pub id: String,
    /// What is to be done, in a line.
    pub title: String,
    /// All that the task says about this part, where that is more than the title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Estimated as for a task, from the part's own text, effort and dependencies.
    pub complexity: u32,
    /// Milliseconds it may take.
    pub estimated_duration: u64,
    /// Ids of the subtasks it waits for.
    pub dependencies: Vec<String>,
}

/// A task taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decomposition {
    /// Where the parts came from.
    pub source: Source,
    /// The parts: at least 2, at most [`MAX_SUBTASKS`].
    pub subtasks: Vec<Subtask>,
    /// What the user should know about it.
    pub notes: Vec<String>,
}

/// What a source says about one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) title: &'a str,
    /// The title and all that belongs to it; of a named subtask its description alone.
    pub(super) text: &'a str,
    /// Whether its place in a sentence puts it after the part before.
    pub(super) follows: bool,
    /// The subtask that the user named, if that is the source.
    pub(super) given: Option<&'a NamedSubtask>,
}

impl<'a> Part<'a> {
    pub(super) fn new(title: &'a str, text: &'a str) -> Self {
        Self { title, text, follows: false, given: None }
    }

    /// The same part, told to come after the one before it or not.
    pub(super) fn following(self, follows: bool) -> Self {
        Self { follows, ..self }
    }

    /// All that is said about it, once.
    pub(super) fn texts(&self) -> [&'a str; 2] {
        let apart = if self.given.is_some() { self.title } else { "" };
        [apart, self.text]
    }
}

/// The parts of a task and where they came from.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) source: Source,
    pub(super) parts: Vec<Part<'a>>,
    /// Entries left out because their box is checked.
    pub(super) done: usize,
}

/// How many subtasks a task has, estimated: those it names, else its criteria or list lines.
pub(super) fn subtask_estimate(task: &Task, list_lines: usize) -> usize {
    match task.subtasks.len() {
        0 => task.acceptance_criteria.len().max(list_lines),
        named => named,
    }
}

/// Takes a task apart; nothing if no source names two parts.
pub fn decompose(task: &Task, task_id: &str, thresholds: &Thresholds) -> Option<Decomposition> {
    let parts = parts(task, &lists::entries(&task.description))?;
    Some(parts.subtasks(task, task_id, thresholds))
}

/// The parts that the first source with at least two of them names.
pub(super) fn parts<'a>(task: &'a Task, entries: &[Entry<'a>]) -> Option<Parts<'a>> {
    let given = task.subtasks.iter().filter_map(|named| {
        let text = named.description.trim();
        let title = Some(named.title.trim()).filter(|title| !title.is_empty());
        let title = title.or_else(|| text.lines().next())?;
        let given = Some(named);
        Some(Part { given, ..Part::new(title, text) })
    });
    let found = |source, (parts, done): (Vec<Part<'a>>, usize)| {
        (parts.len() >= 2).then_some(Parts { source, parts, done })
    };
    let listed = |marker| lists::parts(&task.description, entries, marker);
    let criteria = || {
        let criteria = task.acceptance_criteria.iter().map(|criterion| criterion.trim());
        let criteria = criteria.filter(|criterion| !criterion.is_empty());
        criteria.map(|text| Part::new(first_line(text), text)).collect()
    };
    found(Source::Subtasks, (given.collect(), 0))
        .or_else(|| found(Source::NumberedLines, listed(Some(Marker::Number))))
        .or_else(|| found(Source::BulletedLines, listed(Some(Marker::Bullet))))
        .or_else(|| found(Source::AcceptanceCriteria, (criteria(), 0)))
        .or_else(|| found(Source::ListedLines, listed(None)))
        .or_else(|| found(Source::Sentences, (sentences::parts(&task.description), 0)))
        .or_else(|| found(Source::Sentences, (sentences::parts(&task.title), 0)))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end()
}

impl Parts<'_> {
    /// How many parts there are, before the rest is gathered.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }
}
