//! The words of refusal: a stable first line, the figures, one suggestion.

use serde_json::json;

use super::Standing;
use crate::agent::CYCLE;
use crate::code::Code;
use crate::config::Limits;
use crate::ids::AgentId;
use crate::money::Usd;
use crate::tree::rejection::{Refusal, separated, thousands};

pub(super) fn depth(caller: &Standing<'_>, title: &str) -> Refusal {
    Refusal::new(
        Code::MaxDepthExceeded,
        format!("Delegation depth limit ({}) reached. Cannot delegate further.", caller.max_depth),
        "Complete this task at the current level, or simplify it.",
    )
    .with(
        json!({"currentDepth": caller.depth, "maxDepth": caller.max_depth, "attempted": title}),
        &[format!("Current depth: {}", caller.depth), format!("Attempted delegation: {title}")],
    )
}

pub(super) fn cycle(caller: &Standing<'_>, agent: &AgentId, same_call: bool) -> Refusal {
    let steps: Vec<&str> = caller.path.iter().map(AgentId::as_str).collect();
    let path = format!("{} → {agent} (attempted)", steps.join(" → "));
    let hint = if same_call {
        "Give it a different task: the same one already stands on the path."
    } else {
        "Delegate to an agent that is not on the path, or do the work here."
    };
    Refusal::new(Code::CycleDetected, CYCLE, hint)
        .with(json!({"path": steps, "attempted": agent}), &[format!("Cycle path: {path}")])
}

pub(super) fn count(limit: &str, so_far: u64, asked: u64, most: u64) -> Refusal {
    Refusal::new(
        Code::TooManyDelegations,
        format!("Delegation count limit ({}) exceeded. Nothing was started.", separated(most)),
        "Ask for fewer subtasks, or put several into one.",
    )
    .with(
        json!({"limit": limit, "soFar": so_far, "asked": asked, "max": most}),
        &[
            format!("So far: {}", separated(so_far)),
            format!("Asked for: {}", separated(asked)),
            format!("Maximum allowed: {} ({limit})", separated(most)),
        ],
    )
}

pub(super) fn context(limits: &Limits, caller: &Standing<'_>, needed: u64) -> Refusal {
    let most = limits.max_context_per_agent;
    let context = caller.context.unwrap_or(0);
    let total = context.saturating_add(needed);
    let known = if caller.context.is_some() { "" } else { " (not reported; taken as 0)" };
    Refusal::new(
        Code::ContextExceeded,
        format!("Agent context budget ({} tokens) exceeded. Simplify subtask.", thousands(most)),
        "Break the subtask into smaller pieces, or reduce the parent's context.",
    )
    .with(
        json!({"context": caller.context, "estimate": needed, "total": total, "max": most}),
        &[
            format!("Current context: {} tokens{known}", separated(context)),
            format!("Subtask estimate: {} tokens", separated(needed)),
            format!("Total would be: {} tokens", separated(total)),
            format!("Maximum allowed: {} tokens", separated(most)),
        ],
    )
}

pub(super) fn tokens(title: &str, available: u64, needed: u64, remainder: u64) -> Refusal {
    Refusal::new(
        Code::BudgetExceeded,
        format!("Token budget exceeded: {} tokens for a subtask that needs {}.", separated(available), separated(needed)),
        "Ask for fewer subtasks at once, give the call a larger budget, or raise limits.maxTotalTokens.",
    )
    .with(
        json!({"kind": "tokens", "available": available, "estimate": needed, "remaining": remainder, "attempted": title}),
        &[
            format!("Available for it: {} tokens", separated(available)),
            format!("Subtask estimate: {} tokens", separated(needed)),
            format!("Caller's remainder: {} tokens", separated(remainder)),
            format!("Attempted delegation: {title}"),
        ],
    )
}

pub(super) fn unmetered(agent: &AgentId) -> Refusal {
    Refusal::new(
        Code::BudgetExceeded,
        format!("`{agent}` reports neither tokens nor cost. It cannot be held to a budget."),
        "Use another runner, or set limits.unmetered = \"time\" to bound it by time alone.",
    )
    .with(json!({"kind": "unmetered", "agent": agent}), &[])
}

pub(super) fn cost(remainder: Usd, needed: Usd) -> Refusal {
    let mut figures = vec![format!("Remaining: {remainder}")];
    if needed > Usd::ZERO {
        figures.push(format!("Asked for: {needed}"));
    }
    Refusal::new(
        Code::BudgetExceeded,
        format!("Cost budget exceeded: {remainder} left."),
        "Ask for less, or raise limits.maxCostUsd.",
    )
    .with(json!({"kind": "cost", "remainingUsd": remainder, "askedUsd": needed}), &figures)
}
