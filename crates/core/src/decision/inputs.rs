//! What a decision is made from.

use serde::{Deserialize, Serialize};

use crate::config::{Config, Mode};
use crate::digest;
use crate::ids::{AgentId, TaskId};
use crate::task::Task;

/// Digits of the hash that names a task without an id.
const TASK_ID_DIGITS: usize = 12;

/// Everything that a decision reads.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// The task.
    pub task: &'a Task,
    /// The effective configuration.
    pub config: &'a Config,
    /// What is known about the agent and its place.
    pub known: Known,
    /// Whether somebody has said what they want.
    pub request: Request,
    /// Which parts of the answer are wanted.
    pub include: Include,
    /// The time and the configuration's version, for the answer alone.
    pub stamp: Stamp<'a>,
}

/// What is known about the agent that would delegate. What is absent is assumed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Known {
    /// The agent.
    pub agent: Option<AgentId>,
    /// How full its context is, 0–100.
    pub context_utilization: Option<f64>,
    /// How sure it is of itself, 0–100.
    pub agent_confidence: Option<f64>,
    /// How busy it is, 0–100.
    pub agent_load: Option<f64>,
    /// How deep it stands; a root stands at 0.
    pub depth: Option<i64>,
    /// How deep a tree may go, where that is not what the configuration says.
    pub max_depth: Option<i64>,
    /// How many child agents it has now.
    pub child_agents: Option<i64>,
    /// How earlier delegations by this agent of this kind of task ended; read in `smart` only.
    pub record: Option<Record>,
}

/// How earlier delegations ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Those that completed.
    pub succeeded: u32,
    /// Those that did not.
    pub failed: u32,
}

/// Whether somebody has said what they want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// Nobody has: decide.
    #[default]
    Decide,
    /// Delegate whatever the score is; only bounds can forbid it. Nobody is asked.
    Delegate,
    /// Do not delegate. Nobody is asked.
    Direct,
}

/// Which parts of the answer are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Include {
    /// The proposed subtasks.
    pub subtasks: bool,
    /// The reasoning.
    pub reasoning: bool,
}

impl Default for Include {
    fn default() -> Self {
        Self { subtasks: true, reasoning: true }
    }
}

/// What the answer repeats and the decision does not read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp<'a> {
    /// When the decision is made.
    pub timestamp: &'a str,
    /// Digits of the effective configuration's hash.
    pub config_version: &'a str,
}

impl Inputs<'_> {
    /// The mode that holds: the task's own before the configured one.
    pub fn mode(&self) -> Mode {
        let own = self.task.delegation_config.as_ref().and_then(|config| config.mode);
        own.unwrap_or(self.config.mode)
    }
}

/// The task's own id, or one made from its text.
pub fn task_id(task: &Task) -> TaskId {
    match &task.id {
        Some(id) if !id.as_str().trim().is_empty() => id.clone(),
        Some(_) | None => {
            let text = [task.title.as_str(), task.description.as_str()];
            TaskId::from(format!("task-{}", digest::hex(&text, TASK_ID_DIGITS)))
        }
    }
}

/// The kind of a task, under which outcomes are recorded: its phase, or `general`.
pub fn kind(task: &Task) -> String {
    let phase = task.phase.as_deref().map(str::trim).unwrap_or_default();
    if phase.is_empty() { "general".to_owned() } else { phase.to_lowercase() }
}

/// A name for everything that a decision reads: equal questions have equal keys.
///
/// The time of the question is not part of it. The version of the program is,
/// so that no answer outlives the rules it was made by.
pub fn cache_key(inputs: &Inputs<'_>) -> String {
    let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
    let Config { enabled, mode, thresholds, limits, patterns, .. } = inputs.config;
    let parts = [
        env!("CARGO_PKG_VERSION").to_owned(),
        json(serde_json::to_string(inputs.task)),
        json(serde_json::to_string(&(enabled, mode, thresholds, limits.max_depth, patterns))),
        // Numbers that JSON has no word for still differ from each other.
        format!("{:?}", inputs.known),
        json(serde_json::to_string(&(inputs.request, inputs.include))),
        inputs.stamp.config_version.to_owned(),
    ];
    digest::hex(&parts.each_ref().map(String::as_str), 64)
}
