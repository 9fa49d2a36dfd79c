//! What a call would come to. Reads files, starts nothing and writes nothing.

use std::collections::BTreeMap;
use std::process::ExitCode;

use legation_core::call::{self, Asker, Call, Chosen, House, Planned};
use legation_core::config::{Limits, starting_depth};
use legation_core::ids::DelegationId;
use legation_core::tree::bounds::remaining_at_root;
use legation_core::tree::event::{Accepted, Body, Caller, NewSubtask};
use legation_core::tree::rejection::Refusal;
use legation_core::tree::view::{self, DelegationView};
use legation_core::tree::{Command, Rejection, State, decide, evolve};
use legation_engine::host::{Home, Host as _};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::host::Files;
use crate::look;
use crate::output::Output;
use crate::project::Project;
use crate::reach::environment;
use crate::show::plan;

/// The id of what will never be.
const NAME: &str = "del-dry-run";

pub(super) fn run(
    call: &Call,
    session: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<ExitCode, CommandError> {
    let mut env = environment();
    env.extend(session.clone());
    let home = Files::of(Project::current()?).home(&env)?;
    for warning in &home.warnings {
        output.note(&format!("warning: {warning}"));
    }
    let depth = starting_depth(env.get("DELEGATION_DEPTH").map(String::as_str));
    let depth = depth.map_err(|problem| CommandError::usage(problem.to_string()))?;
    let asker = Asker { caller: Caller::Root { name: "user".into(), depth }, path: Vec::new() };
    let house = House { config: &home.config, roster: &home.roster };
    let refused = |refusal: &Refusal| refused(refusal, &home, depth);
    let planned = call::plan(call, house, &asker, DelegationId::new(NAME));
    let planned = planned.map_err(|refusal| refused(&refusal))?;
    let foreseen = foresee(&planned).map_err(|rejection| match rejection {
        Rejection::Refused(refusal) => refused(&refusal),
        // A first delegation has none before it that it could be the same as.
        Rejection::Same(_) | Rejection::Stale => CommandError::usage("nothing would come of it"),
    })?;
    let mut value = foreseen.value(&planned, depth);
    let warnings = &planned.warnings;
    for warning in warnings {
        output.note(&format!("warning: {warning}"));
    }
    if let Some(answer) = value.as_object_mut().filter(|_| !warnings.is_empty()) {
        answer.insert("warnings".to_owned(), json!(warnings));
    }
    output.answer(&value, || plan::page(&value));
    Ok(ExitCode::SUCCESS)
}

fn refused(refusal: &Refusal, home: &Home, depth: u32) -> CommandError {
    let limits = &home.config.limits;
    let remaining = remaining_at_root(limits, depth, limits.max_concurrent_total);
    let remaining = serde_json::to_value(remaining).unwrap_or_default();
    CommandError::from(refusal).remaining(remaining)
}

/// What would be accepted, and the tree as it would then be.
struct Foreseen {
    accepted: Box<Accepted>,
    limits: Limits,
    view: DelegationView,
}

/// Asks the rules, as the engine would.
fn foresee(planned: &Planned) -> Result<Foreseen, Rejection> {
    let now = look::now();
    let command = Command::Delegate(Box::new(planned.delegate.clone()));
    let events = decide(&State::default(), &command, now)?;
    let mut state = State::default();
    for event in &events {
        evolve(&mut state, event);
    }
    let accepted = events.into_iter().find_map(|event| {
        let Body::DelegationAccepted(accepted) = event.body else { return None };
        Some(accepted)
    });
    let no = state.find(&planned.delegate.id);
    let limits = state.settings.as_ref().map(|settings| settings.limits.clone());
    match (accepted, no, limits) {
        (Some(accepted), Some(no), Some(limits)) => {
            Ok(Foreseen { accepted, limits, view: view::status(&state, no, now) })
        }
        (_, _, _) => Err(Rejection::Stale),
    }
}

impl Foreseen {
    fn value(&self, planned: &Planned, depth: u32) -> Value {
        let accepted = &self.accepted;
        let subtasks: Vec<Value> = accepted
            .subtasks
            .iter()
            .zip(&self.view.subtasks)
            .map(|(new, seen)| {
                json!({
                    "id": new.id, "title": new.title, "task": new.task, "agent": new.agent,
                    "reason": reason(new, &planned.chosen), "role": new.role,
                    "dependsOn": seen.depends_on, "timeoutMs": new.timeout_ms,
                    "tokens": new.reserved.tokens, "costUsd": new.reserved.cost,
                    "required": new.required, "path": seen.path,
                })
            })
            .collect();
        let count = self.limits.max_delegations_per_task.min(self.limits.max_agents_per_tree);
        json!({
            "dryRun": true, "taskId": accepted.task_id, "title": accepted.title,
            "task": accepted.task, "pattern": accepted.pattern, "rounds": accepted.rounds,
            "subtasks": subtasks, "agents": planned.chosen,
            "bounds": {
                "depth": accepted.max_depth.saturating_sub(depth), "width": accepted.width,
                "count": count, "tokens": self.limits.max_total_tokens,
                "costUsd": self.limits.max_cost_usd, "timeMs": accepted.timeout_ms,
            },
        })
    }
}

/// Why this agent: by subtask, or by agent where the pattern makes the subtasks.
fn reason<'a>(new: &NewSubtask, chosen: &'a [Chosen]) -> &'a str {
    let same = chosen.iter().find(|chosen| chosen.subtask == new.id);
    let same = same.or_else(|| chosen.iter().find(|chosen| chosen.agent == new.agent));
    same.map_or("the pattern asks for it", |chosen| chosen.reason.as_str())
}
