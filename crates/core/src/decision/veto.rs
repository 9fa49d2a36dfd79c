//! What forbids delegating, whatever the score is.

use super::answer::{Rule, Veto};
use super::inputs::{Inputs, Request};
use super::resolve::Resolved;
use crate::config::{Mode, Pattern};

/// From so many child agents on, no more are started.
const MAX_CHILD_AGENTS: u32 = 7;

/// What a veto depends on, besides the inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Parts that were found; 0 stands for fewer than two.
    pub(super) parts: usize,
    /// Subtasks as estimated.
    pub(super) estimate: usize,
    /// The pattern that the task would get.
    pub(super) pattern: Pattern,
}

/// Every veto that holds, in the order of the rules.
pub(super) fn vetoes(inputs: &Inputs<'_>, resolved: &Resolved<'_>, facts: Facts) -> Vec<Veto> {
    let rules = [
        Rule::SwitchedOff,
        Rule::ModeDisabled,
        Rule::AskedForDirect,
        Rule::NoDepthLeft,
        Rule::HasChildren,
        Rule::FewerThanTwoSubtasks,
        Rule::TooManyChildAgents,
        Rule::PatternIsDirect,
    ];
    let asked = inputs.request == Request::Delegate;
    let held = rules.into_iter().filter(|rule| !asked || rule.is_bound());
    held.filter_map(|rule| {
        let reason = reason(rule, inputs, resolved, facts)?;
        Some(Veto { rule, reason })
    })
    .collect()
}

impl Rule {
    /// Whether nobody's wish overrides the rule.
    fn is_bound(self) -> bool {
        match self {
            Self::SwitchedOff | Self::NoDepthLeft | Self::TooManyChildAgents => true,
            Self::ModeDisabled
            | Self::AskedForDirect
            | Self::PatternIsDirect
            | Self::HasChildren
            | Self::FewerThanTwoSubtasks => false,
        }
    }
}

/// Why the rule forbids delegating here, if it does.
fn reason(
    rule: Rule,
    inputs: &Inputs<'_>,
    resolved: &Resolved<'_>,
    facts: Facts,
) -> Option<String> {
    let Resolved { depth, max_depth, child_agents, .. } = *resolved;
    let children = inputs.task.child_task_ids.len();
    let says = |holds: bool, reason: &str| holds.then(|| reason.to_owned());
    match rule {
        Rule::SwitchedOff => says(!inputs.config.enabled, "delegation is switched off"),
        Rule::ModeDisabled => says(inputs.mode() == Mode::Disabled, "the mode is disabled"),
        Rule::AskedForDirect => {
            says(inputs.request == Request::Direct, "direct execution was asked for")
        }
        Rule::NoDepthLeft => (depth >= max_depth).then(|| {
            format!("no depth is left: the agent stands at {depth} and the maximum is {max_depth}")
        }),
        Rule::HasChildren => (children > 0).then(|| {
            let tasks = if children == 1 { "child task" } else { "child tasks" };
            format!("the task already has {children} {tasks}")
        }),
        // Steps that were read out of prose are proposed; nothing is delegated because of them.
        Rule::FewerThanTwoSubtasks => match facts.estimate {
            0 => Some("it lists no subtasks, and delegating needs at least 2".to_owned()),
            1 => Some("it lists 1 subtask, and delegating needs at least 2".to_owned()),
            n => (facts.parts < 2)
                .then(|| format!("{n} subtasks were estimated, but no source names at least 2")),
        },
        Rule::TooManyChildAgents => (child_agents >= MAX_CHILD_AGENTS).then(|| {
            format!("the agent has {child_agents} child agents, and {MAX_CHILD_AGENTS} are enough")
        }),
        Rule::PatternIsDirect => {
            says(facts.pattern == Pattern::Direct, "its pattern is direct: no delegation")
        }
    }
}
