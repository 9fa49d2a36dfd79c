//! Which pattern a task gets if it is delegated.

use std::fmt::Write as _;

use super::phrases::Phrases;
use super::words::{Found, Group};
use crate::config::Pattern;

/// Points for each hint that is found.
const HINT_POINTS: usize = 2;
/// From so many subtasks on their order matters to the choice.
const MANY_SUBTASKS: usize = 3;
/// Below this confidence of the agent a second opinion helps.
const UNSURE_BELOW: f64 = 50.0;

/// The patterns that are scored, in the order in which a tie goes.
const CANDIDATES: [(Pattern, Group); 5] = [
    (Pattern::Parallel, Group::Parallel),
    (Pattern::Sequential, Group::Sequential),
    (Pattern::Debate, Group::Debate),
    (Pattern::Review, Group::Review),
    (Pattern::Ensemble, Group::Ensemble),
];

/// What the choice is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    /// Built-in words of title and description.
    pub(super) found: Found,
    /// Configured hints of title and description.
    pub(super) phrases: &'a Phrases<'a>,
    /// Subtasks, as estimated.
    pub(super) subtasks: usize,
    /// Tasks that come before this one.
    pub(super) dependencies: usize,
    /// The confidence of the agent.
    pub(super) agent_confidence: f64,
    /// Where in a project the task stands.
    pub(super) phase: Option<Phase>,
    /// The pattern when nothing speaks for one.
    pub(super) default: Pattern,
    /// The pattern that the task itself asks for.
    pub(super) own: Option<Pattern>,
}

/// Phases that speak for a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Research,
    Planning,
    Design,
    Implementation,
    Validation,
}

impl Phase {
    /// The phase of that name, in any capitals.
    pub(super) fn named(name: &str) -> Option<Self> {
        let all =
            [Self::Research, Self::Planning, Self::Design, Self::Implementation, Self::Validation];
        let name = name.trim();
        all.into_iter().find(|phase| phase.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Planning => "planning",
            Self::Design => "design",
            Self::Implementation => "implementation",
            Self::Validation => "validation",
        }
    }
}

/// The pattern chosen, and by how many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) pattern: Pattern,
    points: usize,
}

/// Chooses the task's own pattern, else the one with the most points; a tie goes to the earlier.
pub(super) fn choose(facts: &Facts<'_>) -> Choice {
    if let Some(pattern) = facts.own {
        return Choice { pattern, points: 0 };
    }
    let mut best = Choice { pattern: facts.default, points: 0 };
    for (pattern, group) in CANDIDATES {
        let points = facts.points(group);
        if points > best.points {
            best = Choice { pattern, points };
        }
    }
    best
}

impl Facts<'_> {
    fn points(&self, group: Group) -> usize {
        let hints = self.found.list(group).count() + self.phrases.of(group).count();
        let bonuses = self.bonuses(group).into_iter().flatten();
        hints * HINT_POINTS + bonuses.map(|(points, _)| points).sum::<usize>()
    }

    /// What else than hints speaks for a pattern: points and why.
    fn bonuses(&self, group: Group) -> [Option<(usize, &'static str)>; 2] {
        let many = self.subtasks >= MANY_SUBTASKS;
        let unsure = self.agent_confidence < UNSURE_BELOW;
        let given = |yes: bool, points, why| yes.then_some((points, why));
        let in_phase = |phases: &[Phase], points, why| {
            given(self.phase.is_some_and(|phase| phases.contains(&phase)), points, why)
        };
        match group {
            Group::Parallel => [
                given(many && self.dependencies == 0, 3, "3 or more subtasks and no dependencies"),
                in_phase(&[Phase::Implementation], 1, "implementation phase"),
            ],
            Group::Sequential => [
                given(
                    many && self.dependencies > 0,
                    self.dependencies,
                    "3 or more subtasks and dependencies",
                ),
                in_phase(&[Phase::Implementation], 1, "implementation phase"),
            ],
            Group::Debate => [
                given(unsure, 2, "an unsure agent"),
                in_phase(&[Phase::Research, Phase::Planning], 2, "research or planning phase"),
            ],
            Group::Review => [
                in_phase(&[Phase::Design, Phase::Validation], 2, "design or validation phase"),
                None,
            ],
            Group::Ensemble => [given(unsure, 1, "an unsure agent"), None],
            Group::Technical | Group::Scope => [None, None],
        }
    }

    /// Says which patterns got points and what for.
    pub(super) fn explain(&self, choice: Choice, text: &mut String) {
        let _ = write!(text, "{}:", name(choice.pattern));
        if choice.points == 0 {
            let asked = self.own.is_some();
            text.push_str(if asked {
                " the task asks for it."
            } else {
                " the default; nothing speaks for any."
            });
            return;
        }
        let mut between = " ";
        for (pattern, group) in CANDIDATES {
            let points = self.points(group);
            if points == 0 {
                continue;
            }
            let _ = write!(text, "{between}{} {points} (", name(pattern));
            self.explain_group(group, text);
            text.push(')');
            between = "; ";
        }
        text.push('.');
    }

    fn explain_group(&self, group: Group, text: &mut String) {
        let mut between = "";
        let built_in = self.found.list(group).map(|word: &str| word);
        for hint in built_in.chain(self.phrases.of(group)) {
            let _ = write!(text, "{between}{hint} {HINT_POINTS}");
            between = ", ";
        }
        for (points, why) in self.bonuses(group).into_iter().flatten() {
            let _ = write!(text, "{between}{why} {points}");
            between = ", ";
        }
    }
}

/// The pattern as it is written in files and answers.
pub(super) fn name(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Parallel => "parallel",
        Pattern::ParallelStreaming => "parallel_streaming",
        Pattern::Sequential => "sequential",
        Pattern::Dag => "dag",
        Pattern::Debate => "debate",
        Pattern::Review => "review",
        Pattern::Ensemble => "ensemble",
        Pattern::Direct => "direct",
    }
}
