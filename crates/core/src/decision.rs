//! Whether a task should be delegated, how, and why.
//!
//! A decision is a pure function of the task, the configuration and what is known
//! about the agent. It starts nothing and asks nobody: it answers, and explains
//! each factor, veto and adjustment.

mod advice;
mod answer;
mod complexity;
mod decompose;
mod explain;
mod inputs;
mod lists;
mod order;
mod outcomes;
mod pattern;
mod phrases;
mod quick;
mod resolve;
mod score;
mod sentences;
mod subtasks;
mod verbs;
mod veto;
mod words;

pub use answer::{Action, Contributions, DelegationDecision, Factors, Metadata, Rule, Veto};
pub use decompose::{Decomposition, MAX_SUBTASKS, Source, Subtask, decompose};
pub use inputs::{Include, Inputs, Known, Record, Request, Stamp, cache_key, kind, task_id};
pub use outcomes::MAX_CORRECTION;
pub use quick::{DelegationHint, QuickFactors, quick_hint};

use complexity::Estimate;
use decompose::Parts;
use pattern::{Choice, Phase};
use phrases::Phrases;
use resolve::Resolved;
use score::Confidence;

use crate::config::{Mode, Pattern};

/// All that was found out on the way to a decision.
struct Weighed<'a> {
    inputs: &'a Inputs<'a>,
    resolved: Resolved<'a>,
    complexity: complexity::Facts,
    estimate: Estimate,
    factors: Factors,
    contributions: Contributions,
    correction: i32,
    score: u32,
    confidence: Confidence,
    parts: Option<Parts<'a>>,
    pattern: pattern::Facts<'a>,
    choice: Choice,
    vetoes: Vec<Veto>,
}

/// Decides whether a task should be delegated, how, and why.
pub fn decide_task(inputs: &Inputs<'_>) -> DelegationDecision {
    let texts = [inputs.task.title.as_str(), inputs.task.description.as_str()];
    let phrases = Phrases::in_texts(&texts, &inputs.config.patterns.hints);
    let weighed = weigh(inputs, &phrases);
    let task_id = task_id(inputs.task);
    let decomposition = weighed
        .parts
        .as_ref()
        .filter(|_| inputs.include.subtasks)
        .map(|parts| parts.subtasks(inputs.task, task_id.as_str(), &inputs.config.thresholds));
    let hints = advice::hints(&weighed, decomposition.as_ref());
    let reasoning =
        if inputs.include.reasoning { explain::reasoning(&weighed) } else { String::new() };
    let should_delegate = weighed.should_delegate();
    let subtask_source = decomposition.as_ref().map(|decomposition| decomposition.source);
    let subtasks = decomposition.map(|decomposition| decomposition.subtasks);
    DelegationDecision {
        should_delegate,
        confidence: weighed.confidence.total(),
        score: weighed.score,
        factors: weighed.factors,
        factor_contributions: weighed.contributions,
        suggested_pattern: if should_delegate { weighed.choice.pattern } else { Pattern::Direct },
        reasoning,
        hints,
        subtasks: inputs.include.subtasks.then(|| subtasks.unwrap_or_default()),
        subtask_source,
        mode: inputs.mode(),
        action: weighed.action(),
        reachable_confidence: weighed.confidence.reachable(),
        required_confidence: weighed.required_confidence(),
        correction: weighed.correction,
        vetoes: weighed.vetoes,
        metadata: Metadata {
            task_id,
            agent_id: inputs.known.agent.clone(),
            timestamp: inputs.stamp.timestamp.to_owned(),
            config_version: inputs.stamp.config_version.to_owned(),
            thresholds: inputs.config.thresholds.clone(),
            cached: false,
        },
    }
}

/// Finds out all that a decision needs.
fn weigh<'a>(inputs: &'a Inputs<'a>, phrases: &'a Phrases<'a>) -> Weighed<'a> {
    let Inputs { task, config, .. } = *inputs;
    let resolved = resolve::resolve(inputs);
    let complexity = complexity::Facts::of_task(task, resolved.effort.hours(), &config.thresholds);
    let estimate = Estimate::of(&complexity);
    let entries = lists::entries(&task.description);
    let parts = decompose::parts(task, &entries);
    let factors = Factors {
        complexity: estimate.total(),
        context_utilization: resolved.context,
        subtask_count: decompose::subtask_estimate(task, entries.len()),
        agent_confidence: resolved.confidence,
        agent_load: resolved.load,
        depth_remaining: resolved.max_depth.saturating_sub(resolved.depth),
    };
    let contributions = score::contributions(&factors, &config.thresholds, resolved.max_depth);
    let is_smart = inputs.mode() == Mode::Smart;
    let record = inputs.known.record.filter(|_| is_smart).unwrap_or_default();
    let correction = record.correction();
    let score = contributions.score().saturating_add_signed(correction).min(100);
    // Who asks for delegation does not mean the pattern that has none.
    let may_be_direct = inputs.request != Request::Delegate;
    let sound = |pattern: &Pattern| may_be_direct || *pattern != Pattern::Direct;
    let own = task.delegation_config.as_ref().and_then(|own| own.pattern);
    let pattern = pattern::Facts {
        found: complexity.found,
        phrases,
        subtasks: factors.subtask_count,
        dependencies: task.dependencies.len(),
        agent_confidence: factors.agent_confidence,
        phase: task.phase.as_deref().and_then(Phase::named),
        default: Some(config.patterns.default).filter(sound).unwrap_or_default(),
        own: own.filter(sound),
    };
    let choice = pattern::choose(&pattern);
    let facts = veto::Facts {
        parts: parts.as_ref().map_or(0, Parts::len),
        estimate: factors.subtask_count,
        pattern: choice.pattern,
    };
    Weighed {
        confidence: Confidence::of(&factors, score, resolved.supplied),
        vetoes: veto::vetoes(inputs, &resolved, facts),
        inputs,
        resolved,
        complexity,
        estimate,
        factors,
        contributions,
        correction,
        score,
        parts,
        pattern,
        choice,
    }
}

impl Weighed<'_> {
    /// Whether the score is high enough, or need not be.
    fn is_wanted(&self) -> bool {
        match self.inputs.request {
            Request::Delegate => true,
            Request::Decide => self.score >= self.inputs.config.thresholds.delegation_score,
            Request::Direct => false,
        }
    }

    fn should_delegate(&self) -> bool {
        self.vetoes.is_empty() && self.is_wanted()
    }

    /// The confidence from which `auto` goes ahead: what is configured, as a share
    /// of what could be reached with what is known.
    fn required_confidence(&self) -> f64 {
        let configured = self.inputs.config.thresholds.auto_accept_confidence;
        f64::from(configured) * f64::from(self.confidence.reachable()) / 100.0
    }

    fn is_sure(&self) -> bool {
        f64::from(self.confidence.total()) >= self.required_confidence()
    }

    fn action(&self) -> Action {
        if !self.should_delegate() {
            return Action::Direct;
        }
        if self.inputs.request == Request::Delegate {
            return Action::Delegate;
        }
        match self.inputs.mode() {
            Mode::Disabled => Action::Direct,
            Mode::Suggest => Action::Suggest,
            Mode::Auto | Mode::Smart => {
                if self.is_sure() {
                    Action::Delegate
                } else {
                    Action::Suggest
                }
            }
        }
    }
}
