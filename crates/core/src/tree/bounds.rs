//! The five bounds, checked together before anything starts.
//!
//! Depth, width, count, tokens with cost, and time; and the rule against
//! cycles. A check looks only at the caller and its ancestors: its cost depends
//! on how deep the caller stands, never on how large the tree is.

mod refuse;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arena::AttemptNo;
use super::command::Habits;
use super::event::Caller;
use super::ledger::Amount;
use super::rejection::Refusal;
use super::state::{Delegation, State};
use crate::config::{Limits, Unmetered};
use crate::digest;
use crate::ids::AgentId;
use crate::money::Usd;
use crate::text::words::normalise;
use crate::time::Now;

/// What every child needs beside its task: instructions, tools, a first look around.
const ESTIMATE_BASE: u64 = 5_000;
/// Characters that make about one token.
const CHARS_PER_TOKEN: u64 = 4;
/// Digits of a call key: enough that two different calls never share one by chance.
const KEY_DIGITS: usize = 32;

/// What a caller may still ask for. Every answer to a delegate call carries it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remaining {
    /// Levels below the caller.
    pub depth: u32,
    /// Slots that are free now.
    pub width: u32,
    /// Subtasks: the smaller of what the task and the tree have left.
    pub count: u64,
    /// Tokens.
    pub tokens: u64,
    /// Dollars.
    pub cost_usd: Usd,
    /// Milliseconds.
    pub time_ms: u64,
}

impl Remaining {
    /// What nobody may ask for.
    pub const NOTHING: Self =
        Self { depth: 0, width: 0, count: 0, tokens: 0, cost_usd: Usd::ZERO, time_ms: 0 };
}

/// Where a caller stands in the tree. Looked up, never believed.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// How deep it stands.
    pub depth: u32,
    /// How deep the tree may go below it.
    pub max_depth: u32,
    /// The agents from the root to itself.
    pub path: &'a [AgentId],
    /// The call keys from the root to itself.
    pub keys: &'a [Arc<str>],
    /// Subtasks it has asked for.
    pub asked: u64,
    /// Tokens in its context; absent where unknown.
    pub context: Option<u64>,
    /// How many of its children may run at once, by its own agent's word.
    pub child_width: Option<u32>,
}

/// A subtask as the bounds see it.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// What is to be done, in a line.
    pub title: &'a str,
    /// What is to be done, in full.
    pub task: &'a str,
    /// Who would do it.
    pub agent: &'a AgentId,
    /// What must not repeat on a path.
    pub key: Arc<str>,
    /// What its agent's definition says.
    pub habits: &'a Habits,
    /// Tokens the call allows it.
    pub tokens: Option<u64>,
}

/// A batch of subtasks, as the bounds see it.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// The task, in a line.
    pub title: &'a str,
    /// What would start.
    pub asks: Vec<Ask<'a>>,
    /// Agents that the pattern would call on later, for the same task.
    pub later: Vec<Ask<'a>>,
    /// How many subtasks the caller asked for.
    pub asked: u64,
    /// What it may draw on.
    pub purse: Purse,
}

/// What a batch may draw on: the purse, and what the call allows of it.
#[derive(Clone, Copy, Debug)]
pub struct Purse {
    /// What is left in the caller's account.
    pub remainder: Amount,
    /// Tokens the call allows.
    pub tokens: Option<u64>,
    /// Dollars the caller says it needs; unlike a cap they must be there in full.
    pub cost: Option<Usd>,
}

/// Tokens a child will need at least: its task and what every child needs.
pub fn estimate(task: &str) -> u64 {
    task.chars().count() as u64 / CHARS_PER_TOKEN + ESTIMATE_BASE
}

/// What must not repeat on a path: the agent and the task it is given.
pub fn call_key(agent: &AgentId, task: &str) -> Arc<str> {
    Arc::from(digest::hex(&[agent.as_str(), &normalise(task)], KEY_DIGITS))
}

/// Checks a batch against every bound at once: what each subtask may spend, or the first bound
/// in the way. Width and time refuse nothing: the one makes wait, the other stops.
pub fn admit(
    state: &State,
    limits: &Limits,
    caller: &Standing<'_>,
    batch: &Batch<'_>,
) -> Result<Vec<Amount>, Refusal> {
    check_depth(caller, batch.title)?;
    for ask in batch.asks.iter().chain(&batch.later) {
        check_cycle(caller, ask)?;
        check_metered(limits, ask)?;
    }
    check_count(state, limits, caller, batch)?;
    for ask in &batch.asks {
        check_context(limits, caller, ask)?;
    }
    reserve(limits, &batch.purse, &batch.asks)
}

/// Where an attempt of the tree stands as a caller.
pub fn standing(state: &State, no: AttemptNo) -> Standing<'_> {
    let attempt = &state.attempts[no];
    Standing {
        depth: attempt.depth,
        max_depth: state.delegations[state.delegation_of(no)].max_depth,
        path: &attempt.path,
        keys: &attempt.keys,
        asked: attempt.asked,
        context: attempt.context,
        child_width: state.child_width(no),
    }
}

/// Where whoever asked for a delegation stands on the path.
pub(super) fn asker(delegation: &Delegation) -> Standing<'_> {
    Standing {
        depth: delegation.depth.saturating_sub(1),
        max_depth: delegation.max_depth,
        path: &delegation.path,
        keys: &delegation.keys,
        asked: 0,
        context: None,
        child_width: None,
    }
}

/// One level deeper than allowed is refused.
pub(super) fn check_depth(caller: &Standing<'_>, title: &str) -> Result<(), Refusal> {
    if caller.depth < caller.max_depth { Ok(()) } else { Err(refuse::depth(caller, title)) }
}

/// Refused: an agent that already stands on the path, unless it may recur; and
/// the same call again, always.
pub(super) fn check_cycle(caller: &Standing<'_>, ask: &Ask<'_>) -> Result<(), Refusal> {
    // The first step of a path is a person or a program outside, not an agent of ours.
    let recurs = caller.path.iter().skip(1).any(|step| step == ask.agent);
    let repeats = caller.keys.contains(&ask.key);
    let may_recur = recurs && ask.habits.recursive;
    if repeats || (recurs && !may_recur) {
        return Err(refuse::cycle(caller, ask.agent, may_recur));
    }
    Ok(())
}

/// An agent that names itself in its own file, and may not recur.
pub(super) fn names_itself(caller: &Standing<'_>, agent: &AgentId) -> Refusal {
    refuse::cycle(caller, agent, false)
}

/// What a caller asked for, all calls together, must fit; so must the tree.
fn check_count(
    state: &State,
    limits: &Limits,
    caller: &Standing<'_>,
    batch: &Batch<'_>,
) -> Result<(), Refusal> {
    let per_task = u64::from(limits.max_delegations_per_task);
    if caller.asked.saturating_add(batch.asked) > per_task {
        return Err(refuse::count("maxDelegationsPerTask", caller.asked, batch.asked, per_task));
    }
    check_tree_count(state, limits, batch.asks.len() as u64)
}

/// Nodes of patterns and retries count here too.
pub(super) fn check_tree_count(state: &State, limits: &Limits, nodes: u64) -> Result<(), Refusal> {
    let per_tree = u64::from(limits.max_agents_per_tree);
    if state.count.saturating_add(nodes) > per_tree {
        return Err(refuse::count("maxAgentsPerTree", state.count, nodes, per_tree));
    }
    Ok(())
}

/// The caller's context and the child's estimate must fit together.
fn check_context(limits: &Limits, caller: &Standing<'_>, ask: &Ask<'_>) -> Result<(), Refusal> {
    let (context, needed) = (caller.context.unwrap_or(0), estimate(ask.task));
    if context.saturating_add(needed) > limits.max_context_per_agent {
        return Err(refuse::context(limits, caller, needed));
    }
    Ok(())
}

/// An agent that can report neither tokens nor cost cannot be held to a budget; it is refused
/// unless the configuration says that its time bound is enough.
pub(super) fn check_metered(limits: &Limits, ask: &Ask<'_>) -> Result<(), Refusal> {
    if ask.habits.unmetered && limits.unmetered == Unmetered::Refuse {
        return Err(refuse::unmetered(ask.agent));
    }
    Ok(())
}

/// What each subtask of a batch reserves: the smallest of what the call, the
/// configuration and an equal share of the remainder allow. Below its estimate
/// a subtask is refused, and the batch with it.
pub(super) fn reserve(
    limits: &Limits,
    purse: &Purse,
    asks: &[Ask<'_>],
) -> Result<Vec<Amount>, Refusal> {
    let parts = asks.len() as u64;
    let tokens = purse.tokens.unwrap_or(u64::MAX).min(purse.remainder.tokens);
    let needed = purse.cost.unwrap_or(Usd::ZERO);
    if needed > purse.remainder.cost {
        return Err(refuse::cost(purse.remainder.cost, needed));
    }
    let cost = purse.cost.unwrap_or(Usd::MAX).min(purse.remainder.cost);
    let share = Amount { tokens, cost }.share(parts);
    if share.cost == Usd::ZERO {
        return Err(refuse::cost(cost, needed));
    }
    let per_child = limits.token_budget_per_child;
    let each = asks.iter().map(|ask| {
        let own = ask.tokens.unwrap_or(u64::MAX).min(per_child).min(share.tokens);
        let needed = estimate(ask.task);
        if own < needed {
            Err(refuse::tokens(ask.title, own, needed, purse.remainder.tokens))
        } else {
            Ok(Amount { tokens: own, cost: share.cost })
        }
    });
    each.collect()
}

/// The time a subtask's attempts get: the call's word, the agent's, its class's, the configuration's.
pub(in crate::tree) fn time_allowed(limits: &Limits, asked: Option<u64>, habits: &Habits) -> u64 {
    match (asked, habits.operation) {
        (Some(asked), Some(class)) => asked.min(class.max_ms()),
        (Some(asked), None) => asked,
        (None, class) => {
            let class = class.map(crate::agent::Operation::default_ms);
            habits.timeout_ms.or(class).unwrap_or(limits.subtask_timeout)
        }
    }
}

/// What a caller may still ask for.
pub fn remaining(state: &State, caller: &Caller, now: Now, free_slots: u32) -> Option<Remaining> {
    let limits = &state.settings.as_ref()?.limits;
    let parent = match caller {
        Caller::Attempt(id) => Some(state.find_attempt(id)?),
        Caller::Root { .. } => None,
    };
    let root = state.delegations.iter().next().map(|(_, root)| root)?;
    let (depth, asked, child_width, deadline) = match parent {
        Some(no) => {
            let caller = standing(state, no);
            let depth = caller.max_depth.saturating_sub(caller.depth);
            (depth, caller.asked, caller.child_width, Some(state.attempts[no].deadline))
        }
        None => {
            let depth = root.max_depth.saturating_sub(root.depth.saturating_sub(1));
            (depth, u64::from(root.asked), None, root.deadline)
        }
    };
    let left = state.ledger.get(state.purse_of(parent)).remainder();
    let per_task = u64::from(limits.max_delegations_per_task).saturating_sub(asked);
    let per_tree = u64::from(limits.max_agents_per_tree).saturating_sub(state.count);
    let width = limits.max_concurrent_agents.min(child_width.unwrap_or(u32::MAX));
    Some(Remaining {
        depth,
        width: width.min(free_slots),
        count: per_task.min(per_tree),
        tokens: left.tokens,
        cost_usd: left.cost,
        time_ms: deadline.map_or(root.timeout_ms, |at| at.since_ms(now)),
    })
}

/// What a root may ask for while it has no tree: part of the answer where its call was refused.
pub fn remaining_at_root(limits: &Limits, depth: u32, free_slots: u32) -> Remaining {
    let count = limits.max_delegations_per_task.min(limits.max_agents_per_tree);
    Remaining {
        depth: limits.max_depth.saturating_sub(depth),
        width: limits.max_concurrent_agents.min(free_slots),
        count: u64::from(count),
        tokens: limits.max_total_tokens,
        cost_usd: limits.max_cost_usd,
        time_ms: limits.delegation_timeout,
    }
}
