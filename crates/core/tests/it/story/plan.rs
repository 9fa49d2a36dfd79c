//! Plans in a line: `a b@coder c<a,b d? e!` is five subtasks.
//!
//! `@` names the agent (else it is called like the subtask), `<` what comes
//! before, `?` marks one that may fail, `!` one that needs a human's yes. The
//! task of each is its name, short enough that its estimate is 5,000 tokens.

use legation_core::config::{Limits, Pattern, Recovery};
use legation_core::ids::AttemptId;
use legation_core::tree::command::{CallLimits, Caller, Candidate, Delegate, Habits, Target};
use legation_core::tree::event::Settings;
use legation_core::tree::plan::Aggregate;

use super::words::usd;

/// A delegate call that nobody has made yet.
#[derive(Clone)]
pub(crate) struct Plan(Delegate);

/// The bounds and habits of a tree where the configuration says nothing.
pub(crate) fn default_settings() -> Settings {
    Settings {
        limits: Limits::default(),
        recovery: Recovery::default(),
        quality_threshold: None,
        enabled: true,
    }
}

pub(crate) fn parallel(parts: &str) -> Plan {
    Plan::new(Pattern::Parallel, parts)
}

pub(crate) fn streaming(parts: &str) -> Plan {
    Plan::new(Pattern::ParallelStreaming, parts)
}

pub(crate) fn sequential(parts: &str) -> Plan {
    Plan::new(Pattern::Sequential, parts)
}

pub(crate) fn dag(parts: &str) -> Plan {
    Plan::new(Pattern::Dag, parts)
}

pub(crate) fn debate(agents: &str) -> Plan {
    Plan::new(Pattern::Debate, agents)
}

pub(crate) fn review(agents: &str) -> Plan {
    Plan::new(Pattern::Review, agents)
}

pub(crate) fn ensemble(agents: &str, aggregate: Aggregate) -> Plan {
    Plan::new(Pattern::Ensemble, agents).with(|call| call.aggregate = aggregate)
}

pub(crate) fn direct(agent: &str) -> Plan {
    Plan::new(Pattern::Direct, agent)
}

impl Plan {
    fn new(pattern: Pattern, parts: &str) -> Self {
        Self(Delegate {
            id: "unnamed".into(),
            caller: Caller::Root { name: "user".into(), depth: 0 },
            settings: default_settings(),
            task_id: "task-1".into(),
            title: "Work".to_owned(),
            task: "all".to_owned(),
            pattern,
            rounds: None,
            aggregate: Aggregate::Vote,
            judge: None,
            resolver: None,
            subtasks: parts.split_whitespace().map(part).collect(),
            call: CallLimits::default(),
            include_dirty: false,
            waits: true,
            idempotency_key: None,
        })
    }

    /// Anything about the call.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Delegate)) -> Self {
        change(&mut self.0);
        self
    }

    /// Anything about every subtask.
    pub(crate) fn each(mut self, change: impl FnMut(&mut Target)) -> Self {
        self.0.subtasks.iter_mut().for_each(change);
        self
    }

    /// Anything about one subtask.
    pub(crate) fn part(mut self, id: &str, change: impl FnOnce(&mut Target)) -> Self {
        let part = self.0.subtasks.iter_mut().find(|part| part.id.as_str() == id);
        change(part.expect("the plan has that part"));
        self
    }

    /// Who judges in the end.
    pub(crate) fn judged_by(self, agent: &str) -> Self {
        self.with(|call| call.judge = Some(candidate(agent)))
    }

    /// Who is handed conflicts.
    pub(crate) fn resolved_by(self, agent: &str) -> Self {
        self.with(|call| call.resolver = Some(candidate(agent)))
    }

    /// What each agent's definition says.
    pub(crate) fn habits(self, change: impl Fn(&mut Habits)) -> Self {
        self.each(|part| change(&mut part.habits))
    }

    /// What it is about: title and task.
    pub(crate) fn about(self, text: &str) -> Self {
        self.with(|call| {
            text.clone_into(&mut call.title);
            text.clone_into(&mut call.task);
        })
    }

    /// It asks for little, so that the caller has something left for other calls.
    pub(crate) fn modest(self) -> Self {
        self.with(|call| {
            call.call.tokens = Some(5_000 * call.subtasks.len() as u64);
            call.call.cost = Some(usd(0.10));
        })
    }

    /// The caller does not wait for the answer.
    pub(crate) fn detached(self) -> Self {
        self.with(|call| call.waits = false)
    }

    pub(super) fn settings(self, settings: Settings) -> Self {
        self.with(|call| call.settings = settings)
    }

    /// The call as the user makes it, or an attempt.
    pub(crate) fn call(mut self, id: &str, caller: Option<AttemptId>) -> Delegate {
        self.0.id = id.into();
        if let Some(attempt) = caller {
            self.0.caller = Caller::Attempt(attempt);
        }
        self.0
    }
}

/// An agent that may be used, with no habits of its own.
pub(crate) fn candidate(agent: &str) -> Candidate {
    let habits = Habits::default();
    Candidate { agent: agent.into(), permitted: Ok(()), needs_approval: false, habits }
}

fn part(text: &str) -> Target {
    let needs_approval = text.contains('!');
    let required = !text.contains('?');
    let text = text.replace(['!', '?'], "");
    let (name, needs) = text.split_once('<').unwrap_or((&text, ""));
    let (id, agent) = name.split_once('@').unwrap_or((name, name));
    Target {
        id: id.into(),
        title: format!("Do {id}"),
        task: id.to_owned(),
        agent: agent.into(),
        depends_on: needs.split(',').filter(|need| !need.is_empty()).map(Into::into).collect(),
        required,
        timeout_ms: None,
        tokens: None,
        files: Vec::new(),
        permitted: Ok(()),
        needs_approval,
        habits: Habits::default(),
        planned: false,
    }
}
