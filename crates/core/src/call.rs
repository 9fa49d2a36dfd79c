//! A delegate call: what somebody asks for, and the command it becomes.
//!
//! Whoever asks, by the command line, a tool or the API, says it in one form.
//! Here it is held against the configuration and the agents there are: which
//! pattern, which parts, who does what. Nothing is started and nothing bounded;
//! that is decided where the tree is known.

mod entries;
mod idle;
mod overlap;
mod parts;
mod targets;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agent::{ContextMode, Roster};
use crate::code::Code;
use crate::config::{Config, Pattern, Tightening};
use crate::decision;
use crate::ids::{AgentId, DelegationId};
use crate::money::Usd;
use crate::task::{Task, TaskConfig};
use crate::text::span::show_ms;
use crate::tree::command::{CallLimits, Caller, Candidate, Delegate};
use crate::tree::event::Settings;
use crate::tree::plan::{Aggregate, Plan};
use crate::tree::rejection::Refusal;

pub use entries::{class_of_hours, of_entries};
pub use overlap::overlaps;
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
    /// The task, where it is an entry of the user's list; its words are then its own.
    pub entry: Option<Box<Task>>,
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
    /// Whether a root's call is also its yes to what would be asked.
    pub yes: bool,
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
    /// What whoever asks should know: limits that do not count, subtasks that may collide.
    pub warnings: Vec<String>,
}

/// A task with its words, and what it says about delegating it.
struct Told {
    task: Task,
    text: String,
    own: TaskConfig,
}

impl Call {
    /// The task in words, whoever wrote them: the caller, or the user's list.
    pub fn text(&self) -> String {
        match self.entry.as_deref() {
            Some(entry) => entry.in_words(),
            None => self.task.trim().to_owned(),
        }
    }
}

impl Told {
    fn by(call: &Call) -> Self {
        let text = call.text();
        let Some(entry) = call.entry.as_deref() else {
            let mut task = Task::from_text(&text);
            if is_list_entry(&task.title) {
                // The first line is a title, and a part of the work like those below it.
                task.description.clone_from(&text);
            }
            return Self { task, text, own: TaskConfig::default() };
        };
        let own = entry.delegation_config.clone().unwrap_or_default();
        Self { text, task: entry.clone(), own }
    }
}

/// Whether a line is an entry of a list, so that leaving it out would leave out work.
fn is_list_entry(line: &str) -> bool {
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
    let marked = line.starts_with(['-', '*', '•']);
    let mut after = if numbered { rest.chars() } else { line.chars() };
    (numbered || marked) && after.nth(1).is_some_and(char::is_whitespace)
}

/// Turns a call into the command that asks the tree for it.
pub fn plan(
    call: &Call,
    house: House<'_>,
    asker: &Asker,
    id: DelegationId,
) -> Result<Planned, Refusal> {
    let told = Told::by(call);
    check(call, &told)?;
    let parts = parts::parts(call, &told, house.config)?;
    idle::check(call, parts.pattern)?;
    let (subtasks, chosen) = targets::targets(call, &told.own, (&parts, house, asker));
    let planned = call.plan.as_ref();
    let judge = house.config.agents.judge.as_deref();
    let delegate = Delegate {
        id,
        caller: asker.caller.clone(),
        settings: settings(house.config, &told.own),
        task_id: decision::task_id(&told.task),
        title: told.task.title.clone(),
        task: told.text.clone(),
        pattern: parts.pattern,
        rounds: call.rounds.or(planned.and_then(|plan| plan.rounds)),
        aggregate: call.aggregate.or(planned.and_then(|plan| plan.aggregate)).unwrap_or_default(),
        judge: judge.map(|agent| candidate(AgentId::new(agent), house.roster, &asker.path)),
        resolver: resolver(call, house, asker),
        subtasks,
        call: limits(call, &told.own),
        include_dirty: call.include_dirty,
        waits: !call.detach,
        idempotency_key: call.idempotency_key.clone(),
    };
    let mut warnings = looser(call, &told.own, (house, asker));
    warnings.extend(too_long(&delegate));
    warnings.extend(overlaps(&delegate));
    Ok(Planned { delegate, chosen, warnings })
}

/// Who is handed conflicts, as the configuration names them.
fn resolver(call: &Call, house: House<'_>, asker: &Asker) -> Option<Candidate> {
    let agent = AgentId::new(house.config.agents.resolver.as_deref()?);
    let mut resolver = candidate(agent, house.roster, &asker.path);
    // A root that says yes in advance need not be asked; nobody else can.
    resolver.needs_approval &= !(call.yes && asker.path.is_empty());
    Some(resolver)
}

/// What a call allows; the task's own word may only tighten it.
fn limits(call: &Call, own: &TaskConfig) -> CallLimits {
    fn tighter<T: Ord>(call: Option<T>, own: Option<T>) -> Option<T> {
        match (call, own) {
            (Some(call), Some(own)) => Some(call.min(own)),
            (call, own) => call.or(own),
        }
    }
    CallLimits {
        max_depth: tighter(call.depth, own.max_depth),
        width: call.width,
        tokens: tighter(call.budget, own.token_budget),
        cost: call.max_cost,
        timeout_ms: call.timeout_ms,
    }
}

/// Limits that the task or the call asks for and that do not count, since they are looser than
/// those that hold.
fn looser(call: &Call, own: &TaskConfig, (house, asker): (House<'_>, &Asker)) -> Vec<String> {
    let above = u32::try_from(asker.path.len()).unwrap_or(u32::MAX);
    let asked = Tightening {
        // Below a root the call's depth is counted from the caller.
        max_depth: call.depth.map(|below| below.saturating_add(above)),
        max_concurrent_agents: call.width,
        max_total_tokens: call.budget,
        max_cost_usd: call.max_cost,
        ..Tightening::default()
    };
    let both = [("delegationConfig", Tightening::from(own)), ("call", asked)];
    let notes = both.iter().flat_map(|(whose, asked)| {
        let (_, notes) = house.config.limits.tightened_by(asked);
        notes.into_iter().map(move |note| format!("{whose}: {note}"))
    });
    notes.collect()
}

/// Times that are asked for and beyond what the class of an agent's work allows. Each is told
/// once, however many subtasks it holds for.
fn too_long(delegate: &Delegate) -> BTreeSet<String> {
    let cut = delegate.subtasks.iter().filter_map(|target| {
        let asked_ms = target.timeout_ms.or(delegate.call.timeout_ms)?;
        let class = target.habits.operation.filter(|class| asked_ms > class.max_ms())?;
        let (asked, holds) = (show_ms(asked_ms), show_ms(class.max_ms()));
        let (class, agent) = (class.as_str(), &target.agent);
        Some(format!(
            "call: timeout: {asked} is more than `{class}` allows; {holds} holds for `{agent}`"
        ))
    });
    cut.collect()
}

/// The bounds and habits that a configuration, and the task itself, give a new tree.
fn settings(config: &Config, own: &TaskConfig) -> Settings {
    let mut recovery = config.recovery.clone();
    recovery.rollback_on_failure |= own.rollback_on_failure.unwrap_or(false);
    Settings {
        limits: config.limits.clone(),
        recovery,
        quality_threshold: own.quality_threshold,
        enabled: config.enabled,
    }
}

fn check(call: &Call, told: &Told) -> Result<(), Refusal> {
    if told.task.title.trim().is_empty() {
        return Err(bad("The task is empty.", "Say in a line what is to be done."));
    }
    if told.text.chars().count() > MAX_TASK_CHARS {
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
