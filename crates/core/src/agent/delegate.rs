//! Whom an agent may delegate to.
//!
//! Depth, budgets and cycles are bounds on a tree and are checked elsewhere; this
//! asks only what was agreed in advance, in files and in the configuration.

use serde::Serialize;

use super::layer::{Level, Parts};
use super::tool::Tool;
use super::{Layer, Roster, Subagents, glob};
use crate::code::Code;
use crate::ids::AgentId;
use crate::text::nearest::nearest;

/// Why a delegation may not be, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// `AGENT_NOT_FOUND` or `AGENT_NOT_ALLOWED`.
    pub code: Code,
    /// What is refused and why.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

impl Refusal {
    fn not_allowed(message: String, hint: String) -> Self {
        Self { code: Code::AgentNotAllowed, message, hint }
    }
}

/// Whether `parent` may delegate to `child`; no parent means a root.
///
/// A root may use every enabled agent. Anyone else needs `subagents` that allow the
/// child by name or by pattern and do not deny it.
pub fn may_delegate(
    roster: &Roster,
    parent: Option<&AgentId>,
    child: &AgentId,
) -> Result<(), Refusal> {
    let caller = match parent {
        Some(parent) => Some((parent, roster.resolve(None, parent)?)),
        None => None,
    };
    if !roster.contains(child.as_str()) {
        return Err(not_found(roster, child.as_str()));
    }
    if !roster.is_enabled(child.as_str()) {
        return Err(Refusal::not_allowed(
            format!("Agent `{child}` is disabled."),
            disabled_hint(roster, child),
        ));
    }
    let Some((parent, definition)) = caller else {
        return unless_denied(&roster.global_layer(), "The configuration", child);
    };
    let Some(subagents) = &definition.subagents else {
        return Err(Refusal::not_allowed(
            format!("Agent `{parent}` may not delegate: it has no `subagents` key."),
            format!("add `subagents: {{allow: [{child}]}}` to the file of `{parent}`"),
        ));
    };
    listed(parent, subagents, child)?;
    unless_denied(&roster.global_layer(), "The configuration", child)?;
    let rules = Layer::agent(parent.clone(), &definition);
    unless_denied(&rules, &format!("Agent `{parent}`"), child)
}

/// What switches an agent on again: the configuration, or else its own file.
fn disabled_hint(roster: &Roster, child: &AgentId) -> String {
    match roster.disabled_by(child.as_str()) {
        Some(rule) => format!(
            "take `{rule}` out of `agents.disabled` in the configuration, or name another agent"
        ),
        None => format!("take `disabled` out of the file of `{child}`, or name another agent"),
    }
}

/// Whether the lists of `subagents` let the child through.
fn listed(parent: &AgentId, subagents: &Subagents, child: &AgentId) -> Result<(), Refusal> {
    let refused = |why: String, hint: String| {
        let message = format!("Agent `{parent}` may not delegate to `{child}`: {why}.");
        Err(Refusal::not_allowed(message, hint))
    };
    let denied = subagents.deny.iter();
    if let Some(rule) = denied.clone().find(|rule| glob::matches(rule, child.as_str())) {
        let hint = format!("take `{rule}` out of `subagents.deny` in the file of `{parent}`");
        return refused(format!("its `subagents.deny` names `{rule}`"), hint);
    }
    let itself = parent == child;
    let means_child = |rule: &&String| {
        let by_name = rule.as_str() == child.as_str();
        // A pattern never means the agent that wrote it.
        by_name || (!itself && glob::matches(rule, child.as_str()))
    };
    if !subagents.allow.iter().any(|rule| means_child(&rule)) {
        let hint = format!("add `{child}` to `subagents.allow` in the file of `{parent}`");
        return refused("its `subagents.allow` does not name it".to_owned(), hint);
    }
    if itself && !subagents.recursive {
        let hint = format!("set `subagents.recursive: true` in the file of `{parent}`");
        return refused("it is not recursive".to_owned(), hint);
    }
    Ok(())
}

/// A rule that denies the tool `delegate` denies the delegation.
fn unless_denied(layer: &Layer, who: &str, child: &AgentId) -> Result<(), Refusal> {
    let tool = format!("delegate({child})");
    match layer.opinion(&Tool::new(&tool), Parts::Bind) {
        Some((Level::Deny, because)) => Err(Refusal::not_allowed(
            format!("{who} denies `{tool}`: {because}."),
            "change the rule about `delegate`, or name another agent".to_owned(),
        )),
        Some((Level::Ask | Level::Allow, _)) | None => Ok(()),
    }
}

/// No agent of that name, and which one was probably meant.
pub(super) fn not_found(roster: &Roster, id: &str) -> Refusal {
    let hint = match nearest(id, roster.names()) {
        Some(near) => format!("did you mean `{near}`? `legation agents list` shows them all"),
        None => "`legation agents list` shows all agents".to_owned(),
    };
    Refusal { code: Code::AgentNotFound, message: format!("There is no agent `{id}`."), hint }
}
