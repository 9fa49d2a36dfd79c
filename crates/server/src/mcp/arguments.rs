//! What tools are called with, and the calls and wishes it comes to.

use legation_core::Code;
use legation_core::agent::ContextMode;
use legation_core::call::Call;
use legation_core::config::Pattern;
use legation_core::ids::{AgentId, DelegationId, SubtaskId};
use legation_core::text::span;
use legation_core::tree::plan::{Plan, PlanSubtask};
use legation_engine::protocol::{Refused, Steer, To};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Reads the arguments of a tool; what is wrong is said by name.
pub(super) fn read<T: DeserializeOwned>(
    tool: &str,
    given: Option<JsonObject>,
) -> Result<T, Box<Refused>> {
    let given = given.unwrap_or_default();
    T::deserialize(&given).map_err(|problem| {
        let problem = problem.to_string();
        let field = culprit::<T>(&given, &problem).map(|field| format!("`{field}`: "));
        let field = field.unwrap_or_default();
        let message = format!("The arguments of `{tool}` cannot be used: {field}{problem}.");
        invalid(message, "Look at the tool's input schema and call it again.")
    })
}

/// The field that a problem is about: the one without which there is another, or none. Fields
/// are read in their order, so that only good ones are tried before it.
fn culprit<'a, T: DeserializeOwned>(given: &'a JsonObject, problem: &str) -> Option<&'a str> {
    let is_culprit = |field: &&String| {
        let mut others = given.clone();
        others.remove(*field);
        T::deserialize(&others).map_or_else(|other| other.to_string() != problem, |_| true)
    };
    let is_named = |field: &str| problem.contains(&format!("`{field}`"));
    given.keys().find(is_culprit).map(String::as_str).filter(|field| !is_named(field))
}

/// `delegate`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Delegate {
    task: String,
    agent: Option<AgentId>,
    context: Option<ContextMode>,
    timeout: Option<Span>,
    budget: Option<u64>,
    #[serde(default = "yes")]
    pub(super) wait: bool,
    #[serde(alias = "idempotency_key")]
    idempotency_key: Option<String>,
}

impl Delegate {
    pub(super) fn call(self) -> Result<Call, Box<Refused>> {
        Ok(Call {
            task: self.task,
            agents: self.agent.into_iter().collect(),
            context: self.context,
            timeout_ms: self.timeout.map(Span::some_milliseconds).transpose()?,
            budget: self.budget,
            idempotency_key: self.idempotency_key,
            detach: !self.wait,
            ..Call::default()
        })
    }
}

/// `delegate_batch`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Batch {
    #[serde(default, alias = "pattern")]
    mode: Pattern,
    subtasks: Vec<PlanSubtask>,
    #[serde(default = "yes")]
    pub(super) wait: bool,
}

impl Batch {
    pub(super) fn call(self) -> Result<Call, Box<Refused>> {
        if self.subtasks.is_empty() {
            let message = "There are no subtasks to hand over.".to_owned();
            return Err(invalid(message, "Name at least one in `subtasks`, with `id` and `task`."));
        }
        let words = |subtask: &PlanSubtask| subtask.title.clone().or_else(|| subtask.task.clone());
        let titles: Vec<String> = self.subtasks.iter().filter_map(words).collect();
        let plan = Plan { pattern: self.mode, subtasks: self.subtasks, ..Plan::default() };
        let (task, plan) = (titles.join("; "), Some(plan));
        Ok(Call { task, plan, detach: !self.wait, ..Call::default() })
    }
}

/// `delegate_wait`, and with no time `delegate_status`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Wait {
    #[serde(alias = "delegation_id")]
    pub(super) delegation_id: DelegationId,
    timeout: Option<Span>,
}

impl Wait {
    pub(super) fn limit_ms(&self) -> Result<Option<u64>, Box<Refused>> {
        self.timeout.clone().map(Span::milliseconds).transpose()
    }
}

/// `delegate_cancel`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Cancel {
    #[serde(alias = "delegation_id")]
    pub(super) delegation_id: DelegationId,
    #[serde(alias = "subtask_id")]
    subtask_id: Option<SubtaskId>,
    #[serde(default)]
    reason: String,
}

impl Cancel {
    pub(super) fn steer(self) -> Steer {
        let (subtask, reason) = (self.subtask_id, self.reason);
        let to = To::Cancel { subtask, reason, rollback: false };
        Steer { delegation: self.delegation_id, to, wait: true }
    }
}

/// `explain_permissions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    pub(super) child: AgentId,
    pub(super) parent: Option<AgentId>,
}

/// A tool that takes nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// A time, in words such as `30m` or as a number of seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "it has to be a time such as 90s, 30m or 2h, or a whole number of seconds"
)]
enum Span {
    Seconds(u64),
    Words(String),
}

impl Span {
    /// The same, where no time at all makes no sense.
    fn some_milliseconds(self) -> Result<u64, Box<Refused>> {
        match self.milliseconds()? {
            0 => Err(unusable("it leaves no time for the work")),
            some => Ok(some),
        }
    }

    fn milliseconds(self) -> Result<u64, Box<Refused>> {
        let words = match self {
            Self::Seconds(seconds) => format!("{seconds}s"),
            Self::Words(words) => words,
        };
        span::timeout_ms(&words).map_err(|problem| unusable(&problem.to_string()))
    }
}

fn unusable(problem: &str) -> Box<Refused> {
    let message = format!("`timeout` cannot be used: {problem}.");
    invalid(message, "Give it as 90s, 30m or 2h, or as a whole number of seconds.")
}

fn invalid(message: String, hint: &str) -> Box<Refused> {
    let (code, hint) = (Code::ValidationFailed.to_string(), hint.to_owned());
    Box::new(Refused { code, message, hint, ..Refused::default() })
}

fn yes() -> bool {
    true
}
