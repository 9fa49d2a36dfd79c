//! Trees of a given size to measure on, grown by real commands.

use std::collections::BTreeMap;

use legation_core::config::{Limits, Pattern, Recovery};
use legation_core::ids::{AgentId, AttemptId, DelegationId, SessionId, SubtaskId, TaskId};
use legation_core::money::Usd;
use legation_core::returns::{Metadata, Receipt, Return, ReturnStatus, Tokens};
use legation_core::time::Now;
use legation_core::tree::command::{
    CallLimits, Caller, Delegate, End, Habits, Said, Spawned, Start, Target, Timing, Usage,
};
use legation_core::tree::event::{Process, Settings};
use legation_core::tree::plan::Aggregate;
use legation_core::tree::{Command, Event, State, decide, evolve};

/// A tree and everything that was recorded on the way.
pub(crate) struct Grown {
    pub(crate) state: State,
    pub(crate) events: Vec<Event>,
    now: Now,
}

/// Bounds wide enough for any size.
pub(crate) fn settings() -> Settings {
    let limits = Limits {
        max_concurrent_agents: 100_000,
        max_delegations_per_task: 1_000_000,
        max_agents_per_tree: 1_000_000,
        max_total_tokens: 1_000_000_000_000,
        max_cost_usd: Usd::from_nanos(1_000_000_000_000_000),
        ..Limits::default()
    };
    Settings { limits, recovery: Recovery::default(), quality_threshold: None, enabled: true }
}

fn target(position: usize) -> Target {
    Target {
        id: SubtaskId::from(format!("part-{position}")),
        title: format!("Part {position}"),
        task: format!("Do part {position} of the work"),
        agent: AgentId::from("worker"),
        depends_on: Vec::new(),
        required: true,
        timeout_ms: None,
        tokens: None,
        files: Vec::new(),
        permitted: Ok(()),
        needs_approval: false,
        habits: Habits::default(),
        planned: false,
    }
}

impl Grown {
    /// A root with so many subtasks side by side, none of them started.
    pub(crate) fn wide(subtasks: usize) -> Self {
        let mut tree = Self { state: State::default(), events: Vec::new(), now: Now(1) };
        tree.apply(&Command::Delegate(Box::new(Delegate {
            id: DelegationId::from("del-1"),
            caller: Caller::Root { name: "user".into(), depth: 0 },
            settings: settings(),
            task_id: TaskId::from("task-1"),
            title: "All of it".to_owned(),
            task: "Do all of it".to_owned(),
            pattern: Pattern::Parallel,
            rounds: None,
            aggregate: Aggregate::Vote,
            judge: None,
            resolver: None,
            subtasks: (0..subtasks).map(target).collect(),
            call: CallLimits::default(),
            include_dirty: false,
            waits: true,
            idempotency_key: None,
        })));
        tree
    }

    /// Records what a command means, and what follows.
    pub(crate) fn apply(&mut self, command: &Command) {
        self.now = self.now.plus_ms(1);
        let mut next = decide(&self.state, command, self.now).unwrap_or_default();
        loop {
            for event in &next {
                evolve(&mut self.state, event);
            }
            self.events.append(&mut next);
            if !self.state.must_advance() {
                return;
            }
            next = decide(&self.state, &Command::Advance, self.now).unwrap_or_default();
        }
    }

    /// One subtask starts.
    pub(crate) fn start(&mut self, position: usize) -> AttemptId {
        let attempt = AttemptId::from(format!("exec-{position}"));
        self.apply(&Command::Start(Start {
            delegation: DelegationId::from("del-1"),
            subtask: SubtaskId::from(format!("part-{position}")),
            attempt: attempt.clone(),
            session: SessionId::from(format!("sess_{position}_abcdef")),
        }));
        self.apply(&Command::Spawned(Spawned {
            attempt: attempt.clone(),
            process: Some(Process { pid: 1, started: 1 }),
            workspace: None,
            base: None,
        }));
        attempt
    }

    /// One subtask works, and ends well.
    pub(crate) fn finish(&mut self, attempt: &AttemptId) {
        let tokens = Tokens { input: 900, output: 100, ..Tokens::default() };
        let cost = Usd::from_dollars(0.01);
        self.apply(&Command::Use(Usage { attempt: attempt.clone(), tokens, cost, context: None }));
        let metadata = Metadata {
            session_id: SessionId::from("sess_1_abcdef"),
            agent_type: AgentId::from("worker"),
            delegation_depth: 1,
            delegation_path: Vec::new(),
            duration_seconds: None,
        };
        self.apply(&Command::End(Box::new(End {
            attempt: attempt.clone(),
            said: Said::Return(Return {
                status: ReturnStatus::Completed,
                summary: "Did it.".to_owned(),
                artifacts: Vec::new(),
                metadata,
                errors: Vec::new(),
                next_steps: None,
                data: None,
            }),
            receipt: Receipt {
                exit_code: Some(0),
                tool_calls: BTreeMap::from([("shell".to_owned(), 3)]),
                ..Receipt::default()
            },
            quality: None,
            hold_until: None,
            raw: None,
            timing: Timing::default(),
        })));
    }

    /// A tree that has run to its end, with five events a subtask.
    pub(crate) fn run(subtasks: usize) -> Self {
        let mut tree = Self::wide(subtasks);
        let attempts: Vec<AttemptId> = (0..subtasks).map(|position| tree.start(position)).collect();
        for attempt in &attempts {
            tree.finish(attempt);
        }
        tree
    }
}
