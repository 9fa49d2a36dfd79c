//! Random agents, bounds and delegations.

use fastrand::Rng;
use legation_core::Code;
use legation_core::agent::{ContextMode, Operation, Refusal};
use legation_core::config::{Limits, Pattern, Recovery, Unmetered};
use legation_core::ids::{AgentId, DelegationId, SubtaskId, TaskId};
use legation_core::money::Usd;
use legation_core::tree::bounds::Remaining;
use legation_core::tree::command::{
    CallLimits, Caller, Candidate, Delegate, Habits, Permitted, Target,
};
use legation_core::tree::event::Settings;
use legation_core::tree::plan::Aggregate;

/// How many different agents there are: enough that most paths have no circle.
const AGENTS: usize = 24;
/// How many of them are asked for again and again, so that some paths have one.
const FAVOURITES: usize = 3;

/// One in `n`.
pub(crate) fn one_in(rng: &mut Rng, n: u32) -> bool {
    rng.u32(0..n) == 0
}

fn maybe<T>(rng: &mut Rng, value: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    rng.bool().then(|| value(rng))
}

/// Bounds that leave room for a large tree in one world out of two; in the others some are
/// tight, and sometimes there is nothing at all.
pub(crate) fn settings(rng: &mut Rng) -> Settings {
    let roomy = rng.bool();
    let tight = |rng: &mut Rng, range: std::ops::Range<u32>, generous: u32| {
        if !roomy && one_in(rng, 4) { rng.u32(range) } else { generous }
    };
    let depths = if roomy { 3..=5 } else { 1..=5 };
    let limits = Limits {
        max_depth: rng.u32(depths),
        max_concurrent_agents: rng.u32(1..=4),
        max_concurrent_total: rng.u32(1..=8),
        max_delegations_per_task: tight(rng, 1..12, 20),
        max_agents_per_tree: tight(rng, 1..30, 100),
        token_budget_per_child: u64::from(tight(rng, 5_000..100_000, 200_000_000)),
        max_total_tokens: u64::from(tight(rng, 0..200_000, 4_000_000_000)),
        max_cost_usd: Usd::from_nanos(u64::from(tight(rng, 0..5_000, 500_000_000)) * 1_000_000),
        max_context_per_agent: u64::from(tight(rng, 5_000..100_000, 200_000)),
        unmetered: if rng.bool() { Unmetered::Refuse } else { Unmetered::Time },
        subtask_timeout: u64::from(tight(rng, 1_000..60_000, 3_000_000)),
        delegation_timeout: u64::from(tight(rng, 1_000..100_000, 3_600_000)),
    };
    let recovery = Recovery {
        auto_retry: rng.u32(0..3) > 0,
        max_retries: rng.u32(0..3),
        rollback_on_failure: rng.bool(),
        continue_on_partial_failure: rng.u32(0..3) > 0,
    };
    Settings {
        limits,
        recovery,
        quality_threshold: one_in(rng, 5).then(|| rng.u32(0..100)),
        enabled: !one_in(rng, 100),
    }
}

/// Up to `most` thousandths of a dollar.
pub(crate) fn usd(rng: &mut Rng, most: u64) -> Usd {
    Usd::from_nanos(rng.u64(0..most.max(1)) * 1_000_000)
}

fn habits(rng: &mut Rng) -> Habits {
    let classes = [Operation::Simple, Operation::Implement, Operation::Review];
    Habits {
        recursive: one_in(rng, 4),
        unmetered: one_in(rng, 80),
        operation: maybe(rng, |rng| rng.choice(classes).unwrap_or(Operation::Simple)),
        timeout_ms: one_in(rng, 25).then(|| rng.u64(500..300_000)),
        max_retries: maybe(rng, |rng| rng.u32(0..3)),
        backoff_ms: maybe(rng, |rng| rng.u64(0..5_000)),
        max_concurrent: maybe(rng, |rng| rng.u32(1..4)),
        context: ContextMode::TaskOnly,
    }
}

fn permitted(rng: &mut Rng) -> Permitted {
    if !one_in(rng, 100) {
        return Ok(());
    }
    let (message, hint) = ("not this one".to_owned(), "another".to_owned());
    Err(Refusal { code: Code::AgentNotAllowed, message, hint })
}

fn agent(rng: &mut Rng) -> AgentId {
    let among = if one_in(rng, 12) { FAVOURITES } else { AGENTS };
    AgentId::from(format!("agent-{}", rng.usize(0..among)))
}

/// An agent for a part that no subtask names.
pub(crate) fn candidate(rng: &mut Rng) -> Candidate {
    Candidate {
        agent: agent(rng),
        permitted: permitted(rng),
        needs_approval: one_in(rng, 20),
        habits: habits(rng),
    }
}

fn target(rng: &mut Rng, position: usize) -> Target {
    let id = |n: usize| SubtaskId::from(format!("s{n}"));
    let mut depends_on = Vec::new();
    if position > 0 && rng.bool() {
        depends_on.push(id(rng.usize(0..position)));
    }
    if one_in(rng, 120) {
        // Sometimes a circle, or something that is not there.
        depends_on.push(id(rng.usize(0..position + 3)));
    }
    Target {
        id: id(position),
        title: format!("part {position}"),
        task: format!("do part {position} of {}", rng.u32(0..20)),
        agent: agent(rng),
        depends_on,
        required: !one_in(rng, 5),
        timeout_ms: one_in(rng, 25).then(|| rng.u64(500..300_000)),
        tokens: one_in(rng, 25).then(|| rng.u64(0..100_000)),
        files: Vec::new(),
        permitted: permitted(rng),
        needs_approval: one_in(rng, 20),
        habits: habits(rng),
        planned: false,
    }
}

/// A delegation somebody might ask for.
pub(crate) fn delegate(rng: &mut Rng, n: u64, caller: Caller, settings: &Settings) -> Delegate {
    // Those that grow by themselves come up more often than the plain ones.
    let patterns = [
        Pattern::Parallel,
        Pattern::ParallelStreaming,
        Pattern::Sequential,
        Pattern::Dag,
        Pattern::Debate,
        Pattern::Debate,
        Pattern::Review,
        Pattern::Review,
        Pattern::Ensemble,
        Pattern::Ensemble,
        Pattern::Direct,
    ];
    let aggregates = [Aggregate::Vote, Aggregate::Best, Aggregate::Best, Aggregate::Merge];
    let parts = rng.usize(1..=4);
    Delegate {
        id: DelegationId::from(format!("del-{n}")),
        caller,
        settings: settings.clone(),
        task_id: TaskId::from("task-1"),
        title: format!("task {n}"),
        task: format!("the whole of task {}", rng.u32(0..40)),
        pattern: rng.choice(patterns).unwrap_or_default(),
        rounds: maybe(rng, |rng| rng.u32(1..4)),
        aggregate: rng.choice(aggregates).unwrap_or_default(),
        judge: (rng.u32(0..4) > 0).then(|| candidate(rng)),
        resolver: rng.bool().then(|| candidate(rng)),
        subtasks: (0..parts).map(|position| target(rng, position)).collect(),
        call: CallLimits {
            max_depth: one_in(rng, 12).then(|| rng.u32(0..4)),
            width: one_in(rng, 4).then(|| rng.u32(0..4)),
            tokens: one_in(rng, 12).then(|| rng.u64(0..1_000_000)),
            cost: one_in(rng, 12).then(|| usd(rng, 30_000)),
            timeout_ms: one_in(rng, 20).then(|| rng.u64(1..600_000)),
        },
        include_dirty: false,
        waits: rng.u32(0..4) > 0,
        idempotency_key: one_in(rng, 8).then(|| format!("key-{}", rng.u32(0..4))),
    }
}

/// Most callers leave themselves something: whoever gives all away can ask only once.
pub(crate) fn spare(rng: &mut Rng, call: &mut CallLimits, left: &Remaining) {
    if one_in(rng, 4) {
        return;
    }
    let part = rng.u64(2..5);
    call.tokens = Some(left.tokens / part);
    call.cost = Some(Usd::from_nanos(left.cost_usd.nanos() / part));
}
