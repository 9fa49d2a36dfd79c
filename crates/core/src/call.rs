//! A delegate call: what somebody asks for, and the command it becomes.
//!
//! Whoever asks, by the command line, a tool or the API, says it in one form.
//! Here it is held against the configuration and the agents there are: which
//! pattern, which parts, who does what. Nothing is started and nothing bounded;
//! that is decided where the tree is known.

mod entries;
mod parts;
mod targets;

use serde::{Deserialize, Serialize};

use crate::agent::{ContextMode, Roster};
use crate::code::Code;
use crate::config::{Config, Pattern};
use crate::decision;
use crate::ids::{AgentId, DelegationId};
use crate::money::Usd;
use crate::task::Task;
use crate::tree::command::{CallLimits, Caller, Delegate};
use crate::tree::event::Settings;
use crate::tree::plan::{Aggregate, Plan};
use crate::tree::rejection::Refusal;

pub use entries::{class_of_hours, of_entries};
pub use parts::Parts;
pub use targets::{Chosen, candidate};

/// How many characters a task may have.
pub const MAX_TASK_CHARS: usize = 100_000;

/// What somebody asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Call {
    /// The task, in words.
    pub task: String,
    /// The subtasks, where the caller has planned them.
    pub plan: Option<Plan>,
    /// How the subtasks are run.
    pub pattern: Option<Pattern>,
    /// Who does it, in turn.
    pub agents: Vec<AgentId>,
    /// How an ensemble comes to one answer.
    pub aggregate: Option<Aggregate>,
    /// Rounds of a debate or review.
    pub rounds: Option<u32>,
    /// Levels that may lie below.
    pub depth: Option<u32>,
    /// Attempts that may run at once.
    pub width: Option<u32>,
    /// Tokens.
    pub budget: Option<u64>,
    /// Dollars.
    pub max_cost: Option<Usd>,
    /// Milliseconds for each subtask.
    pub timeout_ms: Option<u64>,
    /// What the children are handed beside their task.
    pub context: Option<ContextMode>,
    /// Whether the caller's uncommitted files come along.
    pub include_dirty: bool,
    /// The same key gives the same delegation.
    pub idempotency_key: Option<String>,
    /// Whether the caller goes on without waiting.
    pub detach: bool,
}

/// The rules and the agents of the place where it is asked.
#[derive(Clone, Copy, Debug)]
pub struct House<'a> {
    /// The configuration in force.
    pub config: &'a Config,
    /// The agents there are.
    pub roster: &'a Roster,
}

/// Who asks, as it was looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Asker {
    /// The start of a path, or an attempt of a tree.
    pub caller: Caller,
    /// The agents from the first below the root to the caller itself; empty for a root.
    pub path: Vec<AgentId>,
}

/// What a call comes to before any bound is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// What to ask of the tree.
    pub delegate: Delegate,
    /// Who was chosen for each subtask, and why.
    pub chosen: Vec<Chosen>,
}

/// Turns a call into the command that asks the tree for it.
pub fn plan(
    call: &Call,
    house: House<'_>,
    asker: &Asker,
    id: DelegationId,
) -> Result<Planned, Refusal> {
    let task = Task::from_text(&call.task);
    check(call, &task)?;
    let parts = parts::parts(call, &task, house.config)?;
    let (subtasks, chosen) = targets::targets(call, &parts, house, asker)?;
    let judge = house.config.agents.judge.as_deref();
    let limits = CallLimits {
        max_depth: call.depth,
        width: call.width,
        tokens: call.budget,
        cost: call.max_cost,
        timeout_ms: call.timeout_ms,
    };
    let delegate = Delegate {
        id,
        caller: asker.caller.clone(),
        settings: settings(house.config),
        task_id: decision::task_id(&task),
        title: task.title.clone(),
        task: call.task.trim().to_owned(),
        pattern: parts.pattern,
        rounds: call.rounds.or(call.plan.as_ref().and_then(|plan| plan.rounds)),
        aggregate: call
            .aggregate
            .or(call.plan.as_ref().and_then(|plan| plan.aggregate))
            .unwrap_or_default(),
        judge: judge.map(|agent| candidate(AgentId::new(agent), house.roster, &asker.path)),
        subtasks,
        call: limits,
        include_dirty: call.include_dirty,
        waits: !call.detach,
        idempotency_key: call.idempotency_key.clone(),
    };
    Ok(Planned { delegate, chosen })
}

/// The bounds and habits that a configuration gives a new tree.
pub fn settings(config: &Config) -> Settings {
    Settings {
        limits: config.limits.clone(),
        recovery: config.recovery.clone(),
        quality_threshold: None,
        enabled: config.enabled,
    }
}

fn check(call: &Call, task: &Task) -> Result<(), Refusal> {
    if task.title.is_empty() {
        return Err(bad("The task is empty.", "Say in a line what is to be done."));
    }
    if call.task.chars().count() > MAX_TASK_CHARS {
        let message = format!("The task has more than {MAX_TASK_CHARS} characters.");
        return Err(bad(&message, "Put the details into a file and name it in the task."));
    }
    if call.width == Some(0) {
        return Err(bad("No agent may run at once.", "Allow at least one with `--agents`."));
    }
    Ok(())
}

fn bad(message: &str, hint: &str) -> Refusal {
    Refusal::new(Code::ValidationFailed, message, hint)
}
