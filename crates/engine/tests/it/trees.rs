//! Whole trees, from the call to the answer.

use std::sync::Arc;

use legation_core::agent::{Definition, Roster};
use legation_core::call::{self, Asker, Call, House};
use legation_core::config::{Config, Pattern};
use legation_core::ids::{AgentId, DelegationId};
use legation_core::tree::Command;
use legation_core::tree::command::{Cancel, Delegate};
use legation_core::tree::event::Caller;
use legation_core::tree::plan::{Plan, PlanSubtask};
use legation_engine::{Answer, Engine, Follow, Options};
use legation_store::{Journal as _, Memory};
use serde_json::Value;
use tokio::time::Instant;

use crate::scripted::{LIMITED_MS, Scripted};

/// An engine over a journal in memory.
fn engine(width: u32) -> (Engine<Memory, Scripted>, Arc<Scripted>) {
    let world = Arc::new(Scripted::default());
    (Engine::new(Memory::default(), world.clone(), Options { width, logs: None }), world)
}

/// A root's call as the command it becomes; agents are not checked.
fn planned(call: &Call, id: DelegationId, config: &Config) -> Delegate {
    let another = Definition { id: Some(AgentId::new("another")), ..Definition::default() };
    let roster = Roster::new([another], config);
    let house = House { config, roster: &roster };
    let caller = Caller::Root { name: AgentId::new("user"), depth: 0 };
    call::plan(call, house, &Asker { caller, path: Vec::new() }, id).unwrap().delegate
}

fn call(task: &str) -> Call {
    Call { task: task.to_owned(), agents: vec!["general-purpose".into()], ..Call::default() }
}

/// The answer as its caller is shown it.
fn shown(answer: &Answer) -> Value {
    serde_json::to_value(&*answer.view).unwrap()
}

fn plan(pattern: Pattern, tasks: &[(&str, &str, &[&str])]) -> Plan {
    let subtask = |(id, task, needs): &(&str, &str, &[&str])| PlanSubtask {
        id: (*id).to_owned(),
        task: Some((*task).to_owned()),
        agent: Some("general-purpose".to_owned()),
        depends_on: needs.iter().map(|need| (*need).to_owned()).collect(),
        required: true,
        ..PlanSubtask::default()
    };
    Plan { pattern, subtasks: tasks.iter().map(subtask).collect(), ..Plan::default() }
}

#[tokio::test]
async fn one_task_is_answered() {
    let (engine, _) = engine(20);
    let delegate = planned(&call("Make it"), engine.new_id(), &Config::default());
    let accepted = engine.delegate(delegate, None, Follow::Nothing).await.unwrap();
    let answer = engine.answer(&accepted.id, &accepted.id).await.unwrap();
    assert_eq!(answer.status, "completed");
    assert_eq!(shown(&answer)["subtasks"][0]["return"]["summary"], "did Make it");
    assert_eq!(shown(&answer)["remaining"]["depth"], 3);
}

#[tokio::test]
async fn a_failure_blocks_only_what_depends_on_it() {
    let (engine, _) = engine(20);
    let mut config = Config::default();
    config.recovery.max_retries = 0;
    let tasks: [(&str, &str, &[&str]); 4] =
        [("a", "work", &[]), ("b", "fail", &[]), ("c", "more", &["a"]), ("d", "rest", &["b"])];
    let mut graph = call("Graph");
    graph.plan = Some(plan(Pattern::Dag, &tasks));
    let delegate = planned(&graph, engine.new_id(), &config);
    let accepted = engine.delegate(delegate, None, Follow::Nothing).await.unwrap();
    let answer = engine.answer(&accepted.id, &accepted.id).await.unwrap();
    let statuses: Vec<_> =
        (0..4).map(|n| shown(&answer)["subtasks"][n]["status"].clone()).collect();
    assert_eq!(statuses, ["completed", "failed", "completed", "blocked"]);
    assert_eq!(answer.status, "partial");
}

#[tokio::test]
async fn a_cancel_stops_what_runs_and_a_second_one_is_refused() {
    let (engine, _) = engine(20);
    let delegate = planned(&call("hold on"), engine.new_id(), &Config::default());
    let accepted = engine.delegate(delegate, None, Follow::Nothing).await.unwrap();
    let cancel = Command::Cancel(Cancel {
        delegation: accepted.id.clone(),
        subtask: None,
        by: "user".to_owned(),
        reason: "enough".to_owned(),
        rollback: false,
    });
    engine.command(&accepted.id, cancel.clone()).await.unwrap();
    let answer = engine.answer(&accepted.id, &accepted.id).await.unwrap();
    assert_eq!(answer.status, "cancelled");
    assert!(engine.command(&accepted.id, cancel).await.is_err());
}

#[tokio::test]
async fn the_same_key_is_the_same_delegation() {
    let (engine, _) = engine(20);
    let mut keyed = call("Once");
    keyed.idempotency_key = Some("once".to_owned());
    let mut ids = Vec::new();
    for _ in 0..2 {
        let delegate = planned(&keyed, engine.new_id(), &Config::default());
        let accepted = engine.delegate(delegate, None, Follow::Nothing).await.unwrap();
        engine.answer(&accepted.id, &accepted.id).await.unwrap();
        ids.push((accepted.id.clone(), accepted.again));
    }
    assert_eq!(ids[0].0, ids[1].0);
    assert_eq!([ids[0].1, ids[1].1], [false, true]);
}

#[tokio::test]
async fn trees_share_the_slots_of_the_engine() {
    let (engine, _) = engine(2);
    let mut trees = Vec::new();
    for n in 0..20 {
        let delegate = planned(&call(&format!("Part {n}")), engine.new_id(), &Config::default());
        trees.push(engine.delegate(delegate, None, Follow::Nothing).await.unwrap().id);
    }
    for tree in &trees {
        assert_eq!(engine.answer(tree, tree).await.unwrap().status, "completed");
    }
    assert_eq!(engine.free_slots(), 2);
    assert!(!engine.is_busy());
}

#[tokio::test]
async fn a_wide_fan_starts_in_steps_and_runs_each_part_once() {
    const PARTS: u32 = 5000;
    let (engine, world) = engine(PARTS);
    let mut config = Config::default();
    config.limits.max_concurrent_agents = PARTS;
    config.limits.max_delegations_per_task = PARTS;
    config.limits.max_agents_per_tree = PARTS;
    config.limits.max_total_tokens = u64::from(PARTS) * 10_000;
    let ids: Vec<String> = (0..PARTS).map(|n| format!("s{n}")).collect();
    let tasks: Vec<(&str, &str, &[&str])> =
        ids.iter().map(|id| (id.as_str(), "work", [].as_slice())).collect();
    let mut fan = call("Fan");
    fan.plan = Some(plan(Pattern::Parallel, &tasks));
    let delegate = planned(&fan, engine.new_id(), &config);
    let accepted = engine.delegate(delegate, None, Follow::Nothing).await.unwrap();
    let answer = engine.answer(&accepted.id, &accepted.id).await.unwrap();
    assert_eq!(answer.status, "completed");
    assert_eq!(answer.view.progress.completed, PARTS);
    assert_eq!(world.started(), u64::from(PARTS));
}

#[tokio::test]
async fn without_a_history_a_tree_goes_once_it_was_told_and_not_before() {
    let (engine, _) = engine(20);
    engine.keep_history(false);
    let delegate = planned(&call("Make it"), engine.new_id(), &Config::default());
    let id = engine.delegate(delegate, None, Follow::Nothing).await.unwrap().id;
    assert_eq!(engine.answer(&id, &id).await.unwrap().status, "completed");
    while engine.journal().delegation(id.as_str()).await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
}

/// Begins a task of one agent without retries.
async fn begin(engine: &Engine<Memory, Scripted>, (task, agent): (&str, &str)) -> DelegationId {
    let mut config = Config::default();
    config.recovery.max_retries = 0;
    let call = Call { agents: vec![agent.into()], ..call(task) };
    let delegate = planned(&call, engine.new_id(), &config);
    engine.delegate(delegate, None, Follow::Nothing).await.unwrap().id
}

#[tokio::test(start_paused = true)]
async fn a_providers_limit_holds_everybody_who_asks_it_and_burns_no_retry() {
    // One slot: who is held gives it back, or nobody else would get on.
    let (engine, world) = engine(1);
    world.wait(1_000);
    let first = Instant::now();
    let limited = begin(&engine, ("limited", "general-purpose")).await;
    let same = begin(&engine, ("more of the same", "general-purpose")).await;
    let other = begin(&engine, ("something else", "another")).await;
    let mut seconds = Vec::new();
    for tree in [&other, &limited, &same] {
        let answer = engine.answer(tree, tree).await.unwrap();
        assert_eq!(answer.status, "completed", "{:?}", answer.view);
        seconds.push(first.elapsed().as_secs());
    }
    // Both who ask that provider go on when its time is up, one after the other, and
    // each takes a second.
    let held = LIMITED_MS / 1_000;
    assert_eq!(seconds, [2, held + 1, held + 2]);
    // The other was never begun while its provider was to be left alone.
    assert_eq!(world.started(), 4);
}
