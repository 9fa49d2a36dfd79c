//! Who does each part, whether the caller may ask them, and what their files say.

use serde::Serialize;

use super::parts::{Part, Parts};
use super::{Asker, Call, House};
use crate::agent::{Choice, Definition, Level, Roster, Wish, choose, may_delegate};
use crate::ids::{AgentId, SubtaskId};
use crate::task::TaskConfig;
use crate::tree::command::{Candidate, Habits, Target};

/// Who was chosen for a subtask, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chosen {
    /// The subtask.
    pub subtask: SubtaskId,
    /// What is to be done, in a line.
    pub title: String,
    /// The agent.
    pub agent: AgentId,
    /// Why this one.
    pub reason: String,
    /// What comes before it.
    pub depends_on: Vec<String>,
}

/// A target for each part, with who was chosen for it.
pub(super) fn targets(
    call: &Call,
    own: &TaskConfig,
    (parts, house, asker): (&Parts, House<'_>, &Asker),
) -> (Vec<Target>, Vec<Chosen>) {
    let mut targets = Vec::with_capacity(parts.parts.len());
    let mut all = Vec::with_capacity(parts.parts.len());
    for (index, part) in parts.parts.iter().enumerate() {
        let choice = match &part.agent {
            Some(agent) => {
                Choice { agent: AgentId::new(agent), reason: "the plan names it".to_owned() }
            }
            None => choose(
                house.roster,
                &Wish {
                    text: &part.task,
                    hints: &own.agent_hints,
                    agents: &call.agents,
                    index,
                    path: &asker.path,
                },
            ),
        };
        all.push(Chosen {
            subtask: SubtaskId::new(&part.id),
            title: part.title.clone(),
            agent: choice.agent.clone(),
            reason: choice.reason,
            depends_on: part.depends_on.clone(),
        });
        let mut target = target(call, part, choice.agent, (house, asker));
        // A root that says yes in advance need not be asked; nobody else can.
        let said_yes = call.yes && asker.path.is_empty();
        target.needs_approval |= own.subtask_approval.unwrap_or(false);
        target.needs_approval &= !said_yes;
        targets.push(target);
    }
    (targets, all)
}

fn target(call: &Call, part: &Part, agent: AgentId, (house, asker): (House<'_>, &Asker)) -> Target {
    let Candidate { agent, permitted, needs_approval, mut habits } =
        candidate(agent, house.roster, &asker.path);
    if let Some(context) = call.context {
        habits.context = context;
    }
    Target {
        id: SubtaskId::new(&part.id),
        title: part.title.clone(),
        task: part.task.clone(),
        agent,
        depends_on: part.depends_on.iter().map(SubtaskId::new).collect(),
        required: !part.optional,
        timeout_ms: part.timeout_ms,
        tokens: part.tokens,
        files: part.files.clone(),
        permitted,
        needs_approval,
        habits,
        planned: part.planned,
    }
}

/// An agent with what is known of it, for whoever stands at the end of a path.
pub fn candidate(agent: AgentId, roster: &Roster, path: &[AgentId]) -> Candidate {
    let level = may_delegate(roster, path, &agent);
    let definition = roster.resolve(path.last(), &agent).ok();
    Candidate {
        needs_approval: matches!(level, Ok(Level::Ask)),
        permitted: level.map(|_| ()),
        habits: definition.as_deref().map(habits).unwrap_or_default(),
        agent,
    }
}

/// What a definition says about running its agent.
fn habits(definition: &Definition) -> Habits {
    let legation = &definition.legation;
    let subagents = definition.subagents.as_ref();
    let retry = legation.retry.unwrap_or_default();
    Habits {
        recursive: subagents.is_some_and(|subagents| subagents.recursive),
        // A command may tell what it used; every other runner does.
        unmetered: false,
        operation: legation.operation,
        timeout_ms: legation.timeout_ms,
        max_retries: retry.max,
        backoff_ms: retry.backoff_ms,
        max_concurrent: subagents.and_then(|subagents| subagents.max_concurrent),
        context: legation.context.unwrap_or_default(),
    }
}
