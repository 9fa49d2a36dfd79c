//! The reasoning: one line for the verdict, one for each factor, adjustment and choice.

use std::fmt::{self, Write as _};

use super::Weighed;
use super::complexity::UNKNOWN_EFFORT_HOURS;
use super::inputs::Request;
use super::resolve::Effort;
use super::words::Group;
use crate::config::Mode;

/// A figure with at most two decimals, and no more than it needs.
pub(super) struct Figure(pub(super) f64);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whole numbers are written far faster than fractions; figures are never negative.
        let hundredths = (self.0 * 100.0).round() as u64;
        let (whole, rest) = (hundredths / 100, hundredths % 100);
        match (rest / 10, rest % 10) {
            (0, 0) => write!(f, "{whole}"),
            (tenths, 0) => write!(f, "{whole}.{tenths}"),
            (tenths, last) => write!(f, "{whole}.{tenths}{last}"),
        }
    }
}

/// Writing to a string cannot fail, so its answer says nothing.
macro_rules! say {
    ($text:expr, $($words:tt)*) => {{ let _ = write!($text, $($words)*); }};
}

/// The reasons for a decision, line by line.
pub(super) fn reasoning(weighed: &Weighed<'_>) -> String {
    let mut text = String::with_capacity(2048);
    verdict(weighed, &mut text);
    complexity(weighed, &mut text);
    circumstances(weighed, &mut text);
    score(weighed, &mut text);
    confidence(weighed, &mut text);
    text.push_str(if weighed.should_delegate() { "Pattern " } else { "Its pattern would be " });
    weighed.pattern.explain(weighed.choice, &mut text);
    subtasks(weighed, &mut text);
    text
}

fn verdict(weighed: &Weighed<'_>, text: &mut String) {
    let threshold = weighed.inputs.config.thresholds.delegation_score;
    let score = weighed.score;
    if !weighed.vetoes.is_empty() {
        say!(text, "Do it directly, whatever the score of {score} says:");
        for (index, veto) in weighed.vetoes.iter().enumerate() {
            say!(text, "{} {}", if index == 0 { "" } else { ";" }, veto.reason);
        }
        text.push_str(".\n");
    } else if weighed.inputs.request == Request::Delegate {
        say!(text, "Delegate, as asked for, whatever the score of {score} says.\n");
    } else if weighed.should_delegate() {
        say!(text, "Delegate: the score of {score} reaches {threshold}.\n");
    } else {
        say!(text, "Do it directly: the score of {score} is below {threshold}.\n");
    }
}

fn complexity(weighed: &Weighed<'_>, text: &mut String) {
    let (estimate, facts) = (&weighed.estimate, &weighed.complexity);
    let full = weighed.inputs.config.thresholds.complexity_trigger;
    let points = Figure(weighed.contributions.complexity);
    say!(
        text,
        "Complexity {} (full at {full}) gives {points} of 30 points. It is the sum of",
        estimate.total()
    );
    let start = text.len();
    if estimate.length > 0 {
        say!(text, " {} for {} characters,", estimate.length, facts.characters);
    }
    for (points, group, name) in [
        (estimate.technical, Group::Technical, "technical"),
        (estimate.scope, Group::Scope, "scope"),
    ] {
        if points > 0 {
            say!(text, " {points} for {name} words (");
            for (index, word) in facts.found.list(group).enumerate() {
                say!(text, "{}{word}", if index == 0 { "" } else { " " });
            }
            text.push_str("),");
        }
    }
    for (points, count, name) in [
        (estimate.dependencies, facts.dependencies, "dependencies"),
        (estimate.criteria, facts.criteria, "acceptance criteria"),
    ] {
        if points > 0 {
            say!(text, " {points} for {name} ({count}),");
        }
    }
    match (estimate.effort, weighed.resolved.effort) {
        (0, _) => {}
        (points, Effort::Known(hours)) => {
            say!(text, " {points} for {} h of effort,", Figure(hours));
        }
        (points, Effort::Unknown | Effort::NotUnderstood(_)) => {
            say!(text, " {points} for an unknown effort, counted as {UNKNOWN_EFFORT_HOURS} h,");
        }
    }
    if text.len() == start {
        text.push_str(" nothing,");
    }
    text.pop();
    text.push_str(".\n");
}

fn circumstances(weighed: &Weighed<'_>, text: &mut String) {
    let (factors, given) = (&weighed.factors, &weighed.contributions);
    let resolved = &weighed.resolved;
    let thresholds = &weighed.inputs.config.thresholds;
    let assumed = |known: bool| if known { "" } else { "not known, so assumed; " };
    say!(
        text,
        "Context utilisation {} ({}full at {}) gives {} of 20 points.\n",
        Figure(factors.context_utilization),
        assumed(resolved.supplied.context),
        thresholds.context_utilization,
        Figure(given.context_utilization),
    );
    let counted = if weighed.inputs.task.subtasks.is_empty() { "estimated" } else { "as named" };
    say!(
        text,
        "Subtasks {} ({counted}; full at {}) give {} of 15 points.\n",
        factors.subtask_count,
        thresholds.min_subtasks,
        Figure(given.subtask_count),
    );
    say!(
        text,
        "Agent confidence {} ({}full at 60 and below) gives {} of 15 points.\n",
        Figure(factors.agent_confidence),
        assumed(resolved.supplied.confidence),
        Figure(given.confidence),
    );
    say!(
        text,
        "Agent load {} ({}full at 100) gives {} of 10 points.\n",
        Figure(factors.agent_load),
        assumed(resolved.load_is_known),
        Figure(given.agent_load),
    );
    say!(
        text,
        "Depth remaining {} of {} gives {} of 10 points.\n",
        factors.depth_remaining,
        resolved.max_depth,
        Figure(given.depth_remaining),
    );
}

fn score(weighed: &Weighed<'_>, text: &mut String) {
    say!(text, "Together {} points", Figure(weighed.contributions.sum()));
    let record = weighed.inputs.known.record.filter(|record| record.total() > 0);
    match (weighed.inputs.mode(), record) {
        (Mode::Smart, Some(record)) => say!(
            text,
            "; {} of {} earlier delegations of this kind succeeded, which adds {:+}",
            record.succeeded,
            record.total(),
            weighed.correction
        ),
        (Mode::Smart, None) => text.push_str("; no outcomes of this kind are recorded yet"),
        (Mode::Disabled | Mode::Suggest | Mode::Auto, _) => {}
    }
    say!(text, ": score {}.\n", weighed.score);
}

fn confidence(weighed: &Weighed<'_>, text: &mut String) {
    let (total, reachable) = (weighed.confidence.total(), weighed.confidence.reachable());
    say!(text, "Confidence {total} of the {reachable} within reach: 50");
    for bonus in weighed.confidence.earned() {
        say!(text, ", {} for {}", bonus.points, bonus.why);
    }
    text.push_str(".\n");
    if !weighed.should_delegate() || weighed.inputs.request == Request::Delegate {
        return;
    }
    let required = Figure(weighed.required_confidence());
    match weighed.inputs.mode() {
        Mode::Disabled => {}
        Mode::Suggest => text.push_str("Mode suggest: the decision is shown and somebody asked.\n"),
        Mode::Auto | Mode::Smart => {
            let (reaches, so) = if weighed.is_sure() {
                ("reaches", "it goes ahead")
            } else {
                ("is below", "somebody is asked")
            };
            let name = if weighed.inputs.mode() == Mode::Auto { "auto" } else { "smart" };
            say!(text, "Mode {name}: {total} {reaches} the {required} required, so {so}.\n");
        }
    }
}

fn subtasks(weighed: &Weighed<'_>, text: &mut String) {
    if let Some(parts) = &weighed.parts {
        say!(text, "\nSubtasks: {} found in {}.", parts.len(), parts.source.words());
    }
}
