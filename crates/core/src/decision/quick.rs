//! A first glance at a task: cheap, and no decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::complexity::{Estimate, Facts};
use super::decompose::subtask_estimate;
use super::lists;
use crate::config::{Config, Mode};
use crate::task::Task;
use crate::text::span::effort_hours;

/// Whether a decision about the task is worth asking for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DelegationHint {
    /// Whether it is.
    pub should_consider_delegation: bool,
    /// What the hint was made from.
    pub quick_factors: QuickFactors,
    /// The hint in words.
    pub hint: String,
}

/// What a hint is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuickFactors {
    /// Estimated complexity, 0–100.
    pub complexity: u32,
    /// Estimated number of subtasks.
    pub subtask_potential: usize,
}

/// Glances at a task: it may be worth delegating if it is complex or has enough parts.
pub fn quick_hint(task: &Task, config: &Config) -> DelegationHint {
    let effort = task.effort.as_deref().and_then(|text| effort_hours(text).ok());
    let complexity = Estimate::of(&Facts::of_task(task, effort, &config.thresholds)).total();
    let subtask_potential = subtask_estimate(task, lists::entries(&task.description).len());
    let is_complex = complexity >= config.thresholds.complexity_trigger;
    let has_parts = subtask_potential >= config.thresholds.min_subtasks as usize;
    let own_mode = task.delegation_config.as_ref().and_then(|own| own.mode);
    let is_off = !config.enabled || own_mode.unwrap_or(config.mode) == Mode::Disabled;
    let (consider, hint) = if is_off {
        (false, "Delegation is switched off")
    } else if !task.child_task_ids.is_empty() {
        (false, "The task was split already; follow its child tasks")
    } else if has_parts {
        (true, "The task may benefit from delegation")
    } else if is_complex {
        (true, "The task is complex; name its parts, and it can be delegated")
    } else {
        (false, "The task is small enough to be done directly")
    };
    DelegationHint {
        should_consider_delegation: consider,
        quick_factors: QuickFactors { complexity, subtask_potential },
        hint: hint.to_owned(),
    }
}
