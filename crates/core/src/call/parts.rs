//! Into which parts a call falls, and how they are run.

use super::{Call, Told, bad};
use crate::config::{Config, Pattern};
use crate::decision::{self, Include, Inputs, Known, Request, Stamp, decide_task};
use crate::task::Task;
use crate::text::span;
use crate::tree::plan::{Plan, PlanSubtask};
use crate::tree::rejection::Refusal;

/// The parts of a call and how they are run.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// How they are run.
    pub pattern: Pattern,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// One part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Its id.
    pub id: String,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, in full.
    pub task: String,
    /// Who the plan says does it.
    pub agent: Option<String>,
    /// Which others come before it.
    pub depends_on: Vec<String>,
    /// Milliseconds the plan allows it.
    pub timeout_ms: Option<u64>,
    /// Tokens the plan allows it.
    pub tokens: Option<u64>,
    /// Whether it may fail without the whole failing.
    pub optional: bool,
    /// Files it means to change.
    pub files: Vec<String>,
    /// Whether the caller's plan says all this.
    pub planned: bool,
}

/// The parts: as the caller planned them; one for each agent that has a part in the
/// pattern; the task as a whole where one agent is named; else as it falls apart.
pub(super) fn parts(call: &Call, told: &Told, config: &Config) -> Result<Parts, Refusal> {
    let task = &told.task;
    if let Some(plan) = &call.plan {
        return planned(call, plan);
    }
    let whole = |n: usize| Part {
        id: format!("{}-sub-{n}", decision::task_id(task)),
        title: task.title.clone(),
        task: told.text.clone(),
        ..Part::default()
    };
    let wanted = call.pattern.or(told.own.pattern);
    match wanted {
        Some(pattern @ (Pattern::Debate | Pattern::Review | Pattern::Ensemble)) => {
            let parts = (1..=call.agents.len().max(1)).map(whole).collect();
            Ok(Parts { pattern, parts })
        }
        Some(Pattern::Direct) => Ok(Parts { pattern: Pattern::Direct, parts: vec![whole(1)] }),
        Some(
            Pattern::Parallel | Pattern::ParallelStreaming | Pattern::Sequential | Pattern::Dag,
        )
        | None => {
            let alone = call.agents.len() == 1 && wanted.is_none();
            let found = if alone { None } else { fallen_apart(wanted, task, config) };
            let pattern = wanted.unwrap_or_default();
            Ok(found.unwrap_or_else(|| Parts { pattern, parts: vec![whole(1)] }))
        }
    }
}

/// The parts that the text itself names, if there are two.
fn fallen_apart(wanted: Option<Pattern>, task: &Task, config: &Config) -> Option<Parts> {
    let decision = decide_task(&Inputs {
        task,
        config,
        known: Known::default(),
        request: Request::Delegate,
        include: Include { subtasks: true, reasoning: false },
        stamp: Stamp::default(),
    });
    let subtasks = decision.subtasks.filter(|parts| parts.len() > 1)?;
    let linked = subtasks.iter().any(|subtask| !subtask.dependencies.is_empty());
    let cast = |pattern: &Pattern| {
        matches!(pattern, Pattern::Debate | Pattern::Review | Pattern::Ensemble | Pattern::Direct)
    };
    // Those give everyone the whole task; this text has parts, so it is split.
    let suggested = Some(decision.suggested_pattern).filter(|pattern| !cast(pattern));
    let suggested = suggested.unwrap_or_default();
    // Order between some parts is more than a plain list says.
    let ordered = linked && suggested == Pattern::Parallel;
    let suggested = if ordered { Pattern::Dag } else { suggested };
    let pattern = wanted.unwrap_or(suggested);
    Some(Parts { pattern, parts: subtasks.into_iter().map(part).collect() })
}

fn part(subtask: decision::Subtask) -> Part {
    let task = if subtask.description.is_empty() {
        subtask.title.clone()
    } else {
        format!("{}\n{}", subtask.title, subtask.description)
    };
    Part {
        id: subtask.id,
        title: subtask.title,
        task,
        depends_on: subtask.dependencies,
        ..Part::default()
    }
}

fn planned(call: &Call, plan: &Plan) -> Result<Parts, Refusal> {
    let parts = plan.subtasks.iter().map(planned_part);
    let parts: Result<Vec<Part>, Refusal> = parts.collect();
    Ok(Parts { pattern: call.pattern.unwrap_or(plan.pattern), parts: parts? })
}

fn planned_part(subtask: &PlanSubtask) -> Result<Part, Refusal> {
    let text = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).unwrap_or_default();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let (title, task) = (text(&subtask.title), text(&subtask.task));
    let first = task.as_deref().and_then(|task| task.lines().next()).map(str::to_owned);
    let shown = title.clone().or(first).unwrap_or_else(|| subtask.id.clone());
    let timeout = subtask.timeout.as_deref().map(|text| {
        let why = match span::timeout_ms(text) {
            Ok(0) => "it is no time at all".to_owned(),
            Ok(ms) => return Ok(ms),
            Err(problem) => problem.to_string(),
        };
        let message = format!("Subtask `{}` has a bad timeout `{text}`: {why}.", subtask.id);
        Err(bad(&message, "Write it like `90s`, `30m` or `2h`."))
    });
    Ok(Part {
        id: subtask.id.clone(),
        task: match (title, task) {
            (Some(title), Some(task)) => format!("{title}\n{task}"),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => subtask.id.clone(),
        },
        title: shown,
        agent: subtask.agent.clone(),
        depends_on: subtask.depends_on.clone(),
        timeout_ms: timeout.transpose()?,
        tokens: subtask.budget,
        optional: !subtask.required,
        files: subtask.files.clone(),
        planned: true,
    })
}
