//! A task: a unit of work somebody wants done.
//!
//! The form is that of an entry of `tasks.json`. Plain text is a task too: its
//! first line is the title, the rest the description.

mod read;
mod sound;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Mode;
use crate::ids::TaskId;

pub use sound::Unsound;

/// A unit of work, as a user or an agent states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Task {
    /// The user's own id; made from the text if absent.
    pub id: Option<TaskId>,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, at length.
    pub description: String,
    /// What must hold for the task to be done.
    pub acceptance_criteria: Vec<String>,
    /// Ids of tasks that come before this one.
    pub dependencies: Vec<String>,
    /// How long a person would take: `90m`, `1.5h`, `2d`, `1h30m`.
    pub effort: Option<String>,
    /// Where in a project the task stands.
    pub phase: Option<String>,
    /// Parts the user has already named.
    pub subtasks: Vec<NamedSubtask>,
    /// Tasks that were already split off from this one.
    pub child_task_ids: Vec<String>,
    /// Settings for this task alone; they may only tighten the bounds.
    pub delegation_config: Option<TaskConfig>,
}

/// A part of a task that the user has named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedSubtask {
    /// The user's own id for the part.
    #[serde(default)]
    pub id: Option<String>,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, at length.
    #[serde(default)]
    pub description: String,
    /// Ids of parts that come before this one.
    #[serde(default, alias = "dependsOn", alias = "depends_on")]
    pub dependencies: Vec<String>,
    /// How long a person would take.
    #[serde(default)]
    pub effort: Option<String>,
}

/// The `delegationConfig` of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskConfig {
    /// Overrides the mode.
    pub mode: Option<Mode>,
    /// Tightens the depth.
    pub max_depth: Option<u32>,
    /// Forces the pattern.
    pub pattern: Option<crate::config::Pattern>,
    /// Tightens the token budget of the tree.
    pub token_budget: Option<u64>,
    /// Below this measured quality a completed subtask is retried once.
    pub quality_threshold: Option<u32>,
    /// Each subtask waits for a human before it starts.
    pub subtask_approval: Option<bool>,
    /// A failed delegation's result goes back to its base.
    pub rollback_on_failure: Option<bool>,
    /// Words that choose an agent, by agent.
    pub agent_hints: BTreeMap<String, Vec<String>>,
}

impl Task {
    /// Everything that is to be done, in words.
    pub fn in_words(&self) -> String {
        let mut text = self.title.trim().to_owned();
        let description = self.description.trim();
        if !description.is_empty() {
            text.push_str(&format!("\n{description}"));
        }
        for criterion in &self.acceptance_criteria {
            text.push_str(&format!("\nMust hold: {criterion}"));
        }
        text
    }

    /// A task from plain text: the first line is the title, the rest the description.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim();
        let (title, description) = text.split_once('\n').unwrap_or((text, ""));
        Self {
            title: title.trim().to_owned(),
            description: description.trim().to_owned(),
            ..Self::default()
        }
    }
}
