//! Inputs made sound: what is absent is assumed, what is out of range is clamped, and both are said.

use super::inputs::Inputs;
use super::score::{Supplied, UNKNOWN_CONFIDENCE, UNKNOWN_CONTEXT};
use crate::text::span::effort_hours;

/// Inputs within their ranges.
#[derive(Debug)]
pub(super) struct Resolved<'a> {
    pub(super) context: f64,
    pub(super) confidence: f64,
    pub(super) load: f64,
    /// Which of the first two were known.
    pub(super) supplied: Supplied,
    pub(super) load_is_known: bool,
    pub(super) depth: u32,
    pub(super) max_depth: u32,
    pub(super) child_agents: u32,
    pub(super) effort: Effort<'a>,
    /// What was changed, in words.
    pub(super) notes: Vec<String>,
}

/// How long a person would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Effort<'a> {
    /// Hours.
    Known(f64),
    /// Nobody said.
    Unknown,
    /// What was said is no effort.
    NotUnderstood(&'a str),
}

impl Effort<'_> {
    pub(super) fn hours(self) -> Option<f64> {
        match self {
            Self::Known(hours) => Some(hours),
            Self::Unknown | Self::NotUnderstood(_) => None,
        }
    }
}

/// Makes the inputs sound.
pub(super) fn resolve<'a>(inputs: &Inputs<'a>) -> Resolved<'a> {
    let mut notes = Vec::new();
    let known = &inputs.known;
    let context = percent("Context utilisation", known.context_utilization, &mut notes);
    let confidence = percent("Agent confidence", known.agent_confidence, &mut notes);
    let load = percent("Agent load", known.agent_load, &mut notes);
    let effort = match inputs.task.effort.as_deref().map(str::trim) {
        None | Some("") => Effort::Unknown,
        Some(text) => effort_hours(text).map_or(Effort::NotUnderstood(text), Effort::Known),
    };
    Resolved {
        context: context.unwrap_or(UNKNOWN_CONTEXT),
        confidence: confidence.unwrap_or(UNKNOWN_CONFIDENCE),
        load: load.unwrap_or(0.0),
        supplied: Supplied { context: context.is_some(), confidence: confidence.is_some() },
        load_is_known: load.is_some(),
        depth: count("Depth", known.depth, &mut notes).unwrap_or(0),
        max_depth: max_depth(inputs, &mut notes),
        child_agents: count("The number of child agents", known.child_agents, &mut notes)
            .unwrap_or(0),
        effort,
        notes,
    }
}

fn percent(name: &str, value: Option<f64>, notes: &mut Vec<String>) -> Option<f64> {
    let value = value?;
    if value.is_nan() {
        notes.push(format!("{name} is not a number, so it was taken as not known."));
        return None;
    }
    let clamped = value.clamp(0.0, 100.0);
    if clamped != value {
        notes.push(format!("{name} {value} was taken as {clamped}: it goes from 0 to 100."));
    }
    Some(clamped)
}

fn count(name: &str, value: Option<i64>, notes: &mut Vec<String>) -> Option<u32> {
    let value = value?;
    let clamped = u32::try_from(value.max(0)).unwrap_or(u32::MAX);
    if i64::from(clamped) != value {
        notes.push(format!("{name} {value} was taken as {clamped}."));
    }
    Some(clamped)
}

/// The stated or configured maximum; the task's own may only make it smaller.
fn max_depth(inputs: &Inputs<'_>, notes: &mut Vec<String>) -> u32 {
    let configured = inputs.config.limits.max_depth;
    let stated = count("The maximum depth", inputs.known.max_depth, notes);
    if let Some(stated) = stated.filter(|stated| *stated > configured) {
        notes.push(format!(
            "The decision supposes a maximum depth of {stated}, but the configuration allows \
             {configured}: deeper delegations are refused until limits.maxDepth is raised."
        ));
    }
    let allowed = stated.unwrap_or(configured);
    let own = inputs.task.delegation_config.as_ref().and_then(|config| config.max_depth);
    if let Some(own) = own.filter(|own| *own > allowed) {
        notes.push(format!(
            "The task asks for a maximum depth of {own}; a task can only lower the {allowed} that \
             is allowed."
        ));
    }
    own.map_or(allowed, |own| own.min(allowed))
}
