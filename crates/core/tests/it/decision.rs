//! Whether a task should be delegated, how, and why.

mod boundaries;
mod decomposition;
mod explanations;
mod glance;
mod modes;
mod ordering;
mod patterns;
mod properties;
mod scale;
mod vectors;
mod vetoes;

use legation_core::config::Config;
use legation_core::decision::{
    DelegationDecision, Include, Inputs, Known, Request, Stamp, decide_task,
};
use legation_core::task::Task;

/// A question, to be changed where a test needs it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) task: Task,
    pub(crate) config: Config,
    pub(crate) known: Known,
    pub(crate) request: Request,
    pub(crate) include: Include,
}

impl Question {
    /// A question about a plain text.
    pub(crate) fn about(text: &str) -> Self {
        Self { task: Task::from_text(text), ..Self::default() }
    }

    /// The inputs, at a fixed time and under a fixed version.
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs {
            task: &self.task,
            config: &self.config,
            known: self.known.clone(),
            request: self.request,
            include: self.include,
            stamp: Stamp { timestamp: "2026-01-02T03:04:05Z", config_version: "0123456789ab" },
        }
    }

    /// The answer.
    pub(crate) fn ask(&self) -> DelegationDecision {
        decide_task(&self.inputs())
    }
}

/// So many strings.
pub(crate) fn strings(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("s{n}")).collect()
}

/// A task that anything would delegate: every factor is full.
pub(crate) fn strong() -> Question {
    let mut question = Question::about(
        "Rework the entire api\n- database security\n- async performance\n- integration",
    );
    question.task.effort = Some("3d".to_owned());
    question.known.context_utilization = Some(100.0);
    question.known.agent_confidence = Some(10.0);
    question.known.agent_load = Some(100.0);
    question
}
