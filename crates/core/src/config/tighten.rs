//! Limits that a task, an agent or a call asks for: they may only be tighter
//! than those that hold.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::model::{Limits, Unmetered};
use super::path::{KeyPath, put};
use super::problem::Note;
use super::value::{quoted, shortened};
use crate::money::Usd;
use crate::task::TaskConfig;

/// Limits somebody asks for; what is absent stays as it is. The names are those of the limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tightening {
    /// How deep the tree may go.
    pub max_depth: Option<u32>,
    /// How many attempts of the delegation may run at once.
    pub max_concurrent_agents: Option<u32>,
    /// How many attempts may run at once in the whole engine.
    pub max_concurrent_total: Option<u32>,
    /// How many subtasks may be asked for.
    pub max_delegations_per_task: Option<u32>,
    /// How many attempts the tree may start.
    pub max_agents_per_tree: Option<u32>,
    /// Tokens a child may use at most.
    pub token_budget_per_child: Option<u64>,
    /// Tokens the tree may use at most.
    pub max_total_tokens: Option<u64>,
    /// Dollars the tree may cost at most.
    pub max_cost_usd: Option<Usd>,
    /// Tokens of context that parent and child may have together.
    pub max_context_per_agent: Option<u64>,
    /// Milliseconds a subtask may take where nothing else says so.
    pub subtask_timeout: Option<u64>,
    /// Milliseconds the delegation may take.
    pub delegation_timeout: Option<u64>,
    /// What becomes of a runner that reports nothing.
    pub unmetered: Option<Unmetered>,
}

impl Tightening {
    /// The limits among checked settings.
    pub(super) fn of(leaves: &[(KeyPath, Value)]) -> Self {
        let mut whole = Value::Object(Map::new());
        for (path, value) in leaves {
            put(&mut whole, path, value.clone());
        }
        let limits = whole.get_mut("limits").map(Value::take).unwrap_or_default();
        // Checked settings always fit; nothing asked for is the safe answer if not.
        serde_json::from_value(limits).unwrap_or_default()
    }
}

impl From<&TaskConfig> for Tightening {
    fn from(task: &TaskConfig) -> Self {
        Self { max_depth: task.max_depth, max_total_tokens: task.token_budget, ..Self::default() }
    }
}

impl Limits {
    /// These limits, tightened. What would loosen them is ignored, with a note for each.
    pub fn tightened_by(&self, asked: &Tightening) -> (Self, Vec<Note>) {
        let mut limits = self.clone();
        let mut notes = Vec::new();
        let mut note = |refused: Option<Note>| notes.extend(refused);
        note(lower(&mut limits.max_depth, asked.max_depth, "maxDepth"));
        note(lower(
            &mut limits.max_concurrent_agents,
            asked.max_concurrent_agents,
            "maxConcurrentAgents",
        ));
        note(lower(
            &mut limits.max_concurrent_total,
            asked.max_concurrent_total,
            "maxConcurrentTotal",
        ));
        note(lower(
            &mut limits.max_delegations_per_task,
            asked.max_delegations_per_task,
            "maxDelegationsPerTask",
        ));
        note(lower(&mut limits.max_agents_per_tree, asked.max_agents_per_tree, "maxAgentsPerTree"));
        note(lower(
            &mut limits.token_budget_per_child,
            asked.token_budget_per_child,
            "tokenBudgetPerChild",
        ));
        note(lower(&mut limits.max_total_tokens, asked.max_total_tokens, "maxTotalTokens"));
        note(lower(&mut limits.max_cost_usd, asked.max_cost_usd, "maxCostUsd"));
        note(lower(
            &mut limits.max_context_per_agent,
            asked.max_context_per_agent,
            "maxContextPerAgent",
        ));
        note(lower(&mut limits.subtask_timeout, asked.subtask_timeout, "subtaskTimeout"));
        note(lower(&mut limits.delegation_timeout, asked.delegation_timeout, "delegationTimeout"));
        note(lower(&mut limits.unmetered, asked.unmetered, "unmetered"));
        (limits, notes)
    }

    /// Levels that are left below a root that already stands this deep.
    ///
    /// `DELEGATION_DEPTH` says so where something outside has delegated before;
    /// it can take levels away but never add one.
    pub fn depth_left(&self, starting_depth: u32) -> u32 {
        self.max_depth.saturating_sub(starting_depth)
    }
}

/// The depth at which a root starts, from the text of `DELEGATION_DEPTH`.
///
/// Absent or empty is 0. A figure too large for any limit leaves no depth at
/// all; what is not a whole number is an error, because guessing could loosen.
pub fn starting_depth(variable: Option<&str>) -> Result<u32, BadDepth> {
    let text = variable.unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(0);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadDepth(shortened(text)));
    }
    Ok(text.parse().unwrap_or(u32::MAX))
}

/// `DELEGATION_DEPTH` holds something that is no depth.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("DELEGATION_DEPTH = {0:?} is not a depth: it takes a whole number from 0")]
pub struct BadDepth(String);

/// Lowers one limit to what is asked for, or says why not.
fn lower<T: PartialOrd + Copy + Serialize>(
    limit: &mut T,
    asked: Option<T>,
    name: &str,
) -> Option<Note> {
    let asked = asked?;
    if asked <= *limit {
        *limit = asked;
        return None;
    }
    let shown = |figure: T| quoted(&serde_json::to_value(figure).unwrap_or_default());
    Some(Note { key: KeyPath::of(["limits", name]), asked: shown(asked), holds: shown(*limit) })
}
