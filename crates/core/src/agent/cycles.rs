//! Agents that name each other in a cycle.
//!
//! The way that is walked is a list and not the call stack, so a chain of a hundred
//! thousand agents is walked like one of three. A cycle with a recursive agent on
//! it is wanted and is not reported.

use rustc_hash::FxHashMap;

use super::references::written_out;
use super::{Definition, Finding, Roster, Severity, glob};
use crate::ids::AgentId;

/// Names of a cycle that are shown before the rest is only counted.
const SHOWN_NAMES: usize = 8;

/// Where the search stands with an agent.
enum Mark {
    /// On the way that is being walked, at this place.
    Open(usize),
    /// Everything that it leads to has been walked.
    Closed,
}

/// One step of the way: an agent, and which of its references are still to follow.
struct Step<'a> {
    id: &'a AgentId,
    left: Vec<&'a AgentId>,
    reported: bool,
}

impl<'a> Step<'a> {
    fn new(roster: &'a Roster, id: &'a AgentId, definition: &'a Definition) -> Self {
        let subagents = definition.subagents.iter();
        let mut left: Vec<_> = subagents
            .flat_map(|subagents| {
                let denied =
                    |name: &&str| subagents.deny.iter().any(|rule| glob::matches(rule, name));
                written_out(&subagents.allow).filter(move |name| !denied(name))
            })
            .filter(|name| !roster.is_recursive(name))
            .filter_map(|name| roster.entry(name))
            .map(|(name, _)| name)
            // Naming oneself is a finding of its own.
            .filter(|name| *name != id)
            .collect();
        left.reverse();
        Self { id, left, reported: false }
    }
}

/// One finding for each agent with a reference that closes a cycle.
pub(super) fn find(roster: &Roster) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut marks: FxHashMap<&AgentId, Mark> = FxHashMap::default();
    for (start, definition) in roster.iter() {
        if marks.contains_key(start) || roster.is_recursive(start.as_str()) {
            continue;
        }
        marks.insert(start, Mark::Open(0));
        let mut way = vec![Step::new(roster, start, definition)];
        while let Some(current) = way.last_mut() {
            let Some(next) = current.left.pop() else {
                marks.insert(current.id, Mark::Closed);
                way.pop();
                continue;
            };
            match marks.get(next) {
                Some(Mark::Closed) => {}
                Some(Mark::Open(_)) if current.reported => {}
                Some(Mark::Open(place)) => {
                    current.reported = true;
                    findings.extend(closed(way.get(*place..).unwrap_or_default(), next));
                }
                None => {
                    marks.insert(next, Mark::Open(way.len()));
                    let definition = roster.get(next.as_str());
                    way.extend(definition.map(|definition| Step::new(roster, next, definition)));
                }
            }
        }
    }
    findings
}

/// The finding about a cycle: the way from `back` to the agent that names `back` again.
fn closed(cycle: &[Step<'_>], back: &AgentId) -> Option<Finding> {
    let last = cycle.last()?.id;
    let mut path = String::new();
    for step in cycle.iter().take(SHOWN_NAMES) {
        path.push_str(step.id.as_str());
        path.push_str(" → ");
    }
    if let Some(more) = cycle.len().checked_sub(SHOWN_NAMES).filter(|more| *more > 0) {
        path.push_str(&format!("({more} more) → "));
    }
    path.push_str(back.as_str());
    Some(Finding {
        severity: Severity::Error,
        agent: last.clone(),
        key: "subagents.allow",
        reference: back.to_string(),
        message: format!("`{last}` names `{back}` and closes a cycle: {path}"),
        hint: "take one of the names out, or make one of the agents `recursive`".to_owned(),
    })
}
