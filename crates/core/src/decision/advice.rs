//! Hints: what to do, or to know, about a decision.

use super::answer::Rule;
use super::complexity::UNKNOWN_EFFORT_HOURS;
use super::decompose::{Decomposition, Source};
use super::inputs::Request;
use super::resolve::Effort;
use super::{Weighed, pattern};
use crate::config::{Mode, Pattern};

/// Child tasks that are named one by one.
const MAX_NAMED: usize = 5;

/// The hints that go with a decision.
pub(super) fn hints(weighed: &Weighed<'_>, decomposition: Option<&Decomposition>) -> Vec<String> {
    let mut hints = weighed.resolved.notes.clone();
    if let Effort::NotUnderstood(text) = weighed.resolved.effort {
        let text: String = text.chars().take(40).collect();
        hints.push(format!(
            "Effort \"{text}\" was not understood and counted as {UNKNOWN_EFFORT_HOURS} h; write \
             it like 90m, 1.5h, 2d or 1h30m."
        ));
    }
    for veto in &weighed.vetoes {
        hints.extend(against(veto.rule, weighed));
    }
    if weighed.vetoes.is_empty() {
        about_score(weighed, &mut hints);
    }
    about_subtasks(weighed, decomposition, &mut hints);
    for hint in &weighed.pattern.phrases.unusable {
        hints.push(format!(
            "The configured hint \"{hint}\" can never be found: a hint is 1 to 16 words of a–z, \
             0–9 and _."
        ));
    }
    hints
}

/// What can be done about a veto.
fn against(rule: Rule, weighed: &Weighed<'_>) -> Option<String> {
    let children = &weighed.inputs.task.child_task_ids;
    let hint = match rule {
        Rule::SwitchedOff => "Set `enabled = true` in the configuration to delegate.".to_owned(),
        Rule::ModeDisabled => {
            "Set the mode to suggest, auto or smart, or ask for delegation with /delegate."
                .to_owned()
        }
        Rule::AskedForDirect => return None,
        Rule::PatternIsDirect => {
            "Set another pattern for the task, or another default pattern, to delegate it."
                .to_owned()
        }
        Rule::NoDepthLeft => {
            "Do it here, or delegate from higher up; limits.maxDepth goes up to 5.".to_owned()
        }
        Rule::HasChildren => {
            let named: Vec<&str> = children.iter().take(MAX_NAMED).map(String::as_str).collect();
            let more = if children.len() > MAX_NAMED { ", …" } else { "" };
            format!("Follow the child tasks it was split into: {}{more}.", named.join(", "))
        }
        // Where steps were found in prose, there is a better hint.
        Rule::FewerThanTwoSubtasks if weighed.parts.is_some() => return None,
        Rule::FewerThanTwoSubtasks => {
            "Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria."
                .to_owned()
        }
        Rule::TooManyChildAgents => "Wait until some of the child agents have ended.".to_owned(),
    };
    Some(hint)
}

/// What would change a score or a confidence that is too low.
fn about_score(weighed: &Weighed<'_>, hints: &mut Vec<String>) {
    let threshold = weighed.inputs.config.thresholds.delegation_score;
    let supplied = weighed.resolved.supplied;
    let unknown = match (supplied.context, supplied.confidence) {
        (true, true) => None,
        (false, true) => Some("context utilisation"),
        (true, false) => Some("the agent's confidence"),
        (false, false) => Some("context utilisation and the agent's confidence"),
    };
    if !weighed.should_delegate() {
        let missing = threshold.saturating_sub(weighed.score);
        let points = if missing == 1 { "point" } else { "points" };
        hints.push(match unknown {
            Some(what) => format!("{missing} {points} short: {what} could change that, if known."),
            None => format!("{missing} {points} short; /delegate delegates it all the same."),
        });
    } else if weighed.inputs.request == Request::Decide
        && matches!(weighed.inputs.mode(), Mode::Auto | Mode::Smart)
        && !weighed.is_sure()
    {
        hints.push("Not sure enough to go ahead unasked: confirm it, or use /delegate.".to_owned());
    }
}

fn about_subtasks(
    weighed: &Weighed<'_>,
    decomposition: Option<&Decomposition>,
    hints: &mut Vec<String>,
) {
    if let Some(parts) = &weighed.parts
        && parts.source == Source::Sentences
        && weighed.factors.subtask_count < parts.len()
    {
        hints.push(format!(
            "{} steps were read out of its sentences; list them as lines to have them counted, or \
             use /delegate.",
            parts.len()
        ));
    }
    if weighed.parts.is_none() && weighed.should_delegate() {
        hints.push("It has no parts, so it is delegated in one piece.".to_owned());
    }
    let Some(decomposition) = decomposition else {
        return;
    };
    hints.extend_from_slice(&decomposition.notes);
    let waits = decomposition.subtasks.iter().any(|subtask| !subtask.dependencies.is_empty());
    if waits && weighed.should_delegate() {
        let chosen = weighed.choice.pattern;
        match chosen {
            Pattern::Parallel | Pattern::ParallelStreaming => hints.push(format!(
                "Some subtasks wait for others: the pattern dag keeps that order, {} does not.",
                pattern::name(chosen)
            )),
            Pattern::Sequential
            | Pattern::Dag
            | Pattern::Debate
            | Pattern::Review
            | Pattern::Ensemble
            | Pattern::Direct => {}
        }
    }
}
