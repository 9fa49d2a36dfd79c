//! The form of a decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::decompose::{Source, Subtask};
use crate::config::{Mode, Pattern, Thresholds};
use crate::ids::{AgentId, TaskId};

/// Whether a task should be delegated, how, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DelegationDecision {
    /// The decision.
    pub should_delegate: bool,
    /// How sure it is, from 50 to 100.
    pub confidence: u32,
    /// How much speaks for delegating, from 0 to 100.
    pub score: u32,
    /// What the score was made from.
    pub factors: Factors,
    /// How many points each factor gave.
    pub factor_contributions: Contributions,
    /// How to run the subtasks; `direct` when not delegating.
    pub suggested_pattern: Pattern,
    /// Why, line by line; empty if it was not asked for.
    pub reasoning: String,
    /// What to do, or to know, about it.
    pub hints: Vec<String>,
    /// The proposed subtasks, empty if none could be found; absent if they were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtasks: Option<Vec<Subtask>>,
    /// Where the subtasks came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_source: Option<Source>,
    /// What forbids delegating whatever the score is.
    pub vetoes: Vec<Veto>,
    /// The mode that holds for the task.
    pub mode: Mode,
    /// What that mode makes of the decision.
    pub action: Action,
    /// The confidence that could have been reached with what was known.
    pub reachable_confidence: u32,
    /// The confidence from which `auto` and `smart` go ahead unasked.
    #[serde(serialize_with = "figure")]
    pub required_confidence: f64,
    /// By how many points recorded outcomes moved the score; 0 except in `smart`.
    pub correction: i32,
    /// What was asked, when, and by which rules.
    pub metadata: Metadata,
}

/// What a score is made from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Factors {
    /// Estimated complexity, 0–100.
    pub complexity: u32,
    /// How full the agent's context is, 0–100.
    #[serde(serialize_with = "figure")]
    pub context_utilization: f64,
    /// Estimated number of subtasks.
    pub subtask_count: usize,
    /// How sure the agent is of itself, 0–100.
    #[serde(serialize_with = "figure")]
    pub agent_confidence: f64,
    /// How busy the agent is, 0–100.
    #[serde(serialize_with = "figure")]
    pub agent_load: f64,
    /// Levels below the agent that may still be used.
    pub depth_remaining: u32,
}

/// Points that each factor gives, not rounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contributions {
    /// At most 30.
    #[serde(serialize_with = "figure")]
    pub complexity: f64,
    /// At most 20.
    #[serde(serialize_with = "figure")]
    pub context_utilization: f64,
    /// At most 15.
    #[serde(serialize_with = "figure")]
    pub subtask_count: f64,
    /// At most 15; an unsure agent gives more.
    #[serde(serialize_with = "figure")]
    pub confidence: f64,
    /// At most 10.
    #[serde(serialize_with = "figure")]
    pub agent_load: f64,
    /// At most 10.
    #[serde(serialize_with = "figure")]
    pub depth_remaining: f64,
}

/// Something that forbids delegating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Veto {
    /// Which rule.
    pub rule: Rule,
    /// The reason in words.
    pub reason: String,
}

/// Rules that forbid delegating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Rule {
    /// Delegation is switched off altogether.
    SwitchedOff,
    /// The mode is `disabled`.
    ModeDisabled,
    /// The caller asked for direct execution.
    AskedForDirect,
    /// The pattern that holds is `direct`.
    PatternIsDirect,
    /// One level deeper would be too deep.
    NoDepthLeft,
    /// The task was split before.
    HasChildren,
    /// There are not two parts to hand out.
    FewerThanTwoSubtasks,
    /// The agent has enough children as it is.
    TooManyChildAgents,
}

/// What a mode makes of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Go ahead and delegate.
    Delegate,
    /// Show the decision and ask.
    Suggest,
    /// The agent does the task itself.
    Direct,
}

/// What was asked, when, and by which rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The task.
    pub task_id: TaskId,
    /// The agent that would delegate, if one was named.
    pub agent_id: Option<AgentId>,
    /// When the decision was made, as it was passed in.
    pub timestamp: String,
    /// Digits of the effective configuration's hash, as they were passed in.
    pub config_version: String,
    /// What the factors were compared with.
    pub thresholds: Thresholds,
    /// Whether this is the answer to an earlier, equal question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// Whole figures are written without a decimal point.
fn figure<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 {
        // Figures lie between 0 and 100 or are counts: nothing is cut off.
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}
