//! References from agent to agent, checked before anything runs.
//!
//! Only names that are written out are followed. A pattern names nobody in
//! particular, so it can neither be wrong nor close a cycle.

use serde::Serialize;

use super::{Roster, cycles, glob};
use crate::ids::AgentId;
use crate::text::nearest::nearest;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot work.
    Error,
    /// It is probably not what was meant.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// The severity as it is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Something wrong with a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The agent whose definition has the reference.
    pub agent: AgentId,
    /// The key it stands under.
    pub key: &'static str,
    /// The name as it is written there.
    pub reference: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// Checks every reference that is written out by name: the agent exists, is another
/// one, is enabled, and does not lead back.
pub fn check_references(roster: &Roster) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, definition) in roster.iter() {
        let Some(subagents) = &definition.subagents else {
            continue;
        };
        for name in written_out(&subagents.allow) {
            findings.extend(allowed(roster, id, name));
        }
        for name in written_out(&subagents.deny).filter(|name| !roster.contains(name)) {
            findings.push(Finding {
                severity: Severity::Warning,
                key: "subagents.deny",
                ..missing(roster, id, name)
            });
        }
    }
    findings.extend(cycles::find(roster));
    findings
}

pub(super) fn written_out(rules: &[String]) -> impl Iterator<Item = &str> {
    rules.iter().map(String::as_str).filter(|rule| !glob::is_pattern(rule))
}

fn allowed(roster: &Roster, id: &AgentId, name: &str) -> Option<Finding> {
    if !roster.contains(name) {
        return Some(missing(roster, id, name));
    }
    let finding = |severity, message, hint| Finding {
        severity,
        agent: id.clone(),
        key: "subagents.allow",
        reference: name.to_owned(),
        message,
        hint,
    };
    if name == id.as_str() && !roster.is_recursive(name) {
        return Some(finding(
            Severity::Error,
            format!("`{id}` names itself in `subagents.allow`"),
            "take the name out, or set `subagents.recursive: true`".to_owned(),
        ));
    }
    if !roster.is_enabled(name) {
        return Some(finding(
            Severity::Warning,
            format!("`{id}` may delegate to `{name}`, which is disabled"),
            format!("enable `{name}`, or take the name out"),
        ));
    }
    None
}

fn missing(roster: &Roster, id: &AgentId, name: &str) -> Finding {
    Finding {
        severity: Severity::Error,
        agent: id.clone(),
        key: "subagents.allow",
        reference: name.to_owned(),
        message: format!("`{id}` names `{name}`, and there is no such agent"),
        hint: match nearest(name, roster.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "correct the name, or write the agent".to_owned(),
        },
    }
}
