//! Whom an agent may delegate to.
//!
//! Depth, budgets and cycles are bounds on a tree and are checked elsewhere; this
//! asks only what was agreed in advance, in files and in the configuration.

use serde::Serialize;

use super::layer::{Because, Level, Source};
use super::{Roster, Subagents, Verdict, glob};
use crate::code::Code;
use crate::ids::AgentId;
use crate::text::nearest::nearest;

/// The first line of what is said when a delegation would lead back.
pub(crate) const CYCLE: &str = "Delegation cycle detected. Cannot delegate to avoid infinite loop.";

/// Why a delegation may not be, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// `AGENT_NOT_FOUND`, `AGENT_NOT_ALLOWED`, or `CYCLE_DETECTED` for an agent that names
    /// itself.
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

/// How freely the agent at the end of `path` may delegate to `child`: at once, or each time
/// after a human has said yes.
///
/// The path is the agents from the first below the root down to the caller, the root's own
/// name left out; an empty one is a root. A root may use every enabled agent. Anyone else
/// needs `subagents` that allow the child by name or by pattern and do not deny it, and no
/// layer above may deny the delegation: neither a rule about `delegate` nor the
/// `subagents.deny` of an ancestor, unless a grant lifts it.
pub fn may_delegate(roster: &Roster, path: &[AgentId], child: &AgentId) -> Result<Level, Refusal> {
    let caller = match path.last() {
        Some(caller) => Some((caller, roster.resolve(None, caller)?)),
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
    if let Some((caller, definition)) = caller {
        let itself = if caller == child { ", recursive: true" } else { "" };
        let Some(subagents) = &definition.subagents else {
            return Err(Refusal::not_allowed(
                format!("Agent `{caller}` may not delegate: it has no `subagents` key."),
                format!("add `subagents: {{allow: [{child}]{itself}}}` to the file of `{caller}`"),
            ));
        };
        listed(caller, subagents, child)?;
    }
    let tool = format!("delegate({child})");
    let verdict = roster.permissions(path, None)?.verdict(&tool);
    match verdict.level {
        Level::Ask | Level::Allow => Ok(verdict.level),
        Level::Deny => Err(denied(&verdict, path.last(), &tool)),
    }
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
        let hint = if itself && !subagents.recursive {
            "name another agent; for itself it would take its own name in `subagents.allow` \
             and `subagents.recursive: true`"
                .to_owned()
        } else {
            format!("add `{child}` to `subagents.allow` in the file of `{parent}`")
        };
        return refused("its `subagents.allow` does not name it".to_owned(), hint);
    }
    if itself && !subagents.recursive {
        return Err(Refusal {
            code: Code::CycleDetected,
            message: CYCLE.to_owned(),
            hint: format!(
                "name another agent, or set `subagents.recursive: true` in the file of `{parent}`"
            ),
        });
    }
    Ok(())
}

/// A rule that denies the tool `delegate` denies the delegation.
fn denied(verdict: &Verdict, caller: Option<&AgentId>, tool: &str) -> Refusal {
    let who = match (&verdict.decided_by, caller) {
        (Source::Ancestor(id), Some(caller)) => format!("Agent `{id}`, above `{caller}`,"),
        (Source::Ancestor(id) | Source::Agent(id), _) => format!("Agent `{id}`"),
        (Source::Global, _) => "The configuration".to_owned(),
        (Source::Call, _) => "The call".to_owned(),
        (Source::Grant(name), _) => format!("The grant `{name}`"),
    };
    let hint = match &verdict.because {
        Because::DeniedSubagent(rule) => {
            let file = &verdict.decided_by;
            format!(
                "take `{rule}` out of `subagents.deny` in the file of `{file}`, or name another agent"
            )
        }
        Because::Rule(_)
        | Because::Part(_)
        | Because::Unlisted
        | Because::Default
        | Because::NoSubagents
        | Because::Lifted => "change the rule about `delegate`, or name another agent".to_owned(),
    };
    Refusal::not_allowed(format!("{who} denies `{tool}`: {}.", verdict.because), hint)
}

/// No agent of that name, and which one was probably meant.
pub(super) fn not_found(roster: &Roster, id: &str) -> Refusal {
    if let Some(why) = roster.unusable(id) {
        let message = format!("Agent `{id}` cannot be used: {why}.");
        let hint = "correct that file; `legation agents check` looks at all of them".to_owned();
        return Refusal { code: Code::AgentNotFound, message, hint };
    }
    let hint = match nearest(id, roster.names()) {
        Some(near) => format!("did you mean `{near}`? `legation agents list` shows them all"),
        None => "`legation agents list` shows all agents".to_owned(),
    };
    Refusal { code: Code::AgentNotFound, message: format!("There is no agent `{id}`."), hint }
}
