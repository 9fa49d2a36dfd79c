//! A decision for people: the verdict first, then the figures, the parts and the reasons.

use std::fmt::Write as _;

use legation_core::decision::{Action, DelegationDecision, Source, Subtask};
use legation_core::task::Task;

use crate::page::{clipped, row, width};

/// Columns of a bar that is full.
const BAR: f64 = 20.0;
/// Columns of a subtask's title.
const TITLE: usize = 46;
const INDENT: &str = "  ";

/// The decision as text.
pub(super) fn text(task: &Task, decision: &DelegationDecision) -> String {
    let mut text = String::new();
    verdict(task, decision, &mut text);
    factors(decision, &mut text);
    if let Some(subtasks) = decision.subtasks.as_deref().filter(|all| !all.is_empty()) {
        parts(subtasks, decision, &mut text);
    }
    if !decision.reasoning.is_empty() {
        section("Why", decision.reasoning.lines(), &mut text);
    }
    if !decision.hints.is_empty() {
        section("Hints", decision.hints.iter().map(String::as_str), &mut text);
    }
    text
}

fn verdict(task: &Task, decision: &DelegationDecision, text: &mut String) {
    let head = match decision.action {
        Action::Delegate => "DELEGATE: go ahead",
        Action::Suggest => "DELEGATE: suggested, to be confirmed",
        Action::Direct => "DIRECT: do not delegate",
    };
    let title = if task.title.trim().is_empty() { &task.description } else { &task.title };
    let title = cut(title, width() - INDENT.len());
    let needed = decision.metadata.thresholds.delegation_score;
    let pattern = serde_json::to_value(decision.suggested_pattern).unwrap_or_default();
    let pattern = pattern.as_str().unwrap_or_default();
    let _ = writeln!(text, "{head}\n{INDENT}{title}\n");
    let _ = writeln!(text, "Score       {:>3}  (needed {needed})", decision.score);
    let _ = writeln!(
        text,
        "Confidence  {:>3}  (of {} within reach; unasked from {})",
        decision.confidence, decision.reachable_confidence, decision.required_confidence
    );
    let _ = writeln!(text, "Pattern     {pattern}");
    for veto in &decision.vetoes {
        text.push_str(&row("Veto        ", &veto.reason));
    }
    if decision.metadata.cached {
        let _ = writeln!(text, "Cached      answer of {}", decision.metadata.timestamp);
    }
}

fn factors(decision: &DelegationDecision, text: &mut String) {
    let (factors, points) = (&decision.factors, &decision.factor_contributions);
    let rows = [
        ("complexity", f64::from(factors.complexity), points.complexity, 30.0),
        ("context utilisation", factors.context_utilization, points.context_utilization, 20.0),
        ("subtasks", factors.subtask_count as f64, points.subtask_count, 15.0),
        ("agent confidence", factors.agent_confidence, points.confidence, 15.0),
        ("agent load", factors.agent_load, points.agent_load, 10.0),
        ("depth remaining", f64::from(factors.depth_remaining), points.depth_remaining, 10.0),
    ];
    let _ = writeln!(text, "\nFactor                  value   points");
    for (name, value, points, weight) in rows {
        let bar = "#".repeat((points / weight * BAR).round() as usize);
        let value = (value * 10.0).round() / 10.0;
        let _ = writeln!(
            text,
            "{INDENT}{name:<20} {value:>6}  {points:>5.1} of {weight:>2}  {bar:.<20}"
        );
    }
}

fn parts(subtasks: &[Subtask], decision: &DelegationDecision, text: &mut String) {
    let source = decision.subtask_source.map_or("", Source::words);
    let _ = writeln!(text, "\nSubtasks, from {source}");
    let _ = writeln!(text, "{INDENT}    {:<TITLE$}  complexity   time  after", "");
    for (index, subtask) in subtasks.iter().enumerate() {
        let title = cut(&subtask.title, TITLE);
        let time = span(subtask.estimated_duration);
        let row = format!(
            "{INDENT}{:>2}  {title:<TITLE$}  {:>10}  {time:>5}  {}",
            index + 1,
            subtask.complexity,
            after(subtask, subtasks)
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
}

/// The numbers of the subtasks that come before, runs of them as `1–3`.
fn after(subtask: &Subtask, subtasks: &[Subtask]) -> String {
    let number = |id: &String| subtasks.iter().position(|other| other.id == *id);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in subtask.dependencies.iter().filter_map(number) {
        match runs.last_mut() {
            Some((_, last)) if *last == place => *last = place + 1,
            Some(_) | None => runs.push((place + 1, place + 1)),
        }
    }
    let runs: Vec<String> = runs
        .into_iter()
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}–{last}") }
            },
        )
        .collect();
    runs.join(", ")
}

/// A span in hours and minutes.
fn span(ms: u64) -> String {
    let minutes = ms.div_ceil(60_000);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes}m"),
        (hours, 0) => format!("{hours}h"),
        (hours, minutes) => format!("{hours}h{minutes:02}m"),
    }
}

fn section<'a>(name: &str, lines: impl Iterator<Item = &'a str>, text: &mut String) {
    let _ = writeln!(text, "\n{name}");
    for line in lines {
        text.push_str(&row("  - ", line));
    }
}

/// Words of others on one line.
fn cut(text: &str, room: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clipped(&words.join(" "), room)
}
