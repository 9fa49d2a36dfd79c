//! What a delegation cost: the whole of it, failed and repeated attempts
//! included.

use serde::Serialize;

use crate::ids::AgentId;
use crate::money::Usd;
use crate::returns::Tokens;
use crate::tree::arena::{AttemptNo, DelegationNo};
use crate::tree::state::State;

/// The cost of a delegation or of an attempt, with everything below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// The delegation's or attempt's id.
    pub id: String,
    /// The subtask's id, for an attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtask: Option<String>,
    /// The agent, for an attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// What the attempt itself cost; absent where unknown.
    pub own_usd: Option<Usd>,
    /// That and everything below; absent where nothing is known.
    pub total_usd: Option<Usd>,
    /// Attempts below whose cost is unknown, so that the total is a lower bound.
    pub unknown: u64,
    /// Tokens by kind, everything below included.
    pub tokens: Tokens,
    /// What it is made of.
    pub children: Vec<Self>,
}

/// The cost of a delegation.
pub fn cost(state: &State, no: DelegationNo) -> Cost {
    let delegation = &state.delegations[no];
    let attempts = delegation.subtasks.iter().flat_map(|no| &state.subtasks[*no].attempts);
    let children: Vec<Cost> = attempts.map(|no| of_attempt(state, *no)).collect();
    let mut cost = Cost {
        id: delegation.id.to_string(),
        subtask: None,
        agent: None,
        own_usd: None,
        total_usd: None,
        unknown: 0,
        tokens: Tokens::default(),
        children,
    };
    add_up(&mut cost);
    cost
}

fn of_attempt(state: &State, no: AttemptNo) -> Cost {
    let attempt = &state.attempts[no];
    let mut cost = Cost {
        id: attempt.id.to_string(),
        subtask: Some(state.subtasks[attempt.subtask].id.to_string()),
        agent: Some(attempt.agent.clone()),
        own_usd: attempt.cost,
        total_usd: attempt.cost,
        unknown: u64::from(attempt.cost.is_none()),
        tokens: attempt.tokens.unwrap_or_default(),
        children: attempt.children.iter().map(|no| cost(state, *no)).collect(),
    };
    add_up(&mut cost);
    cost
}

fn add_up(cost: &mut Cost) {
    for child in &cost.children {
        cost.unknown += child.unknown;
        cost.tokens = cost.tokens.plus(&child.tokens);
        if let Some(below) = child.total_usd {
            cost.total_usd = Some(cost.total_usd.unwrap_or_default() + below);
        }
    }
}
