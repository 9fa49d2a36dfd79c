//! The simulator itself: the same seed is the same world, and it can fail.

#![cfg(test)]

mod engine;

use legation_core::time::Now;
use legation_core::tree::event::{Body, Event, Outcome, Role};
use legation_core::tree::ledger::{Amount, Ledger};
use legation_core::tree::state::{Step, Subtask};
use legation_core::tree::{AttemptNo, DelegationNo, State, replay};
use legation_sim::{check, run};

fn log(seed: u64) -> Vec<String> {
    run(seed).unwrap_or_else(|(broken, _)| panic!("seed {seed}: {broken}")).log
}

fn read(lines: &[String]) -> Vec<Event> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The first seed whose log has what is looked for, and that log.
fn world(wanted: impl Fn(&[Event]) -> bool) -> (State, Vec<Event>) {
    let logs = (0..500).map(|seed| read(&log(seed)));
    let events = logs.into_iter().find(|events| wanted(events)).expect("one in 500 seeds has it");
    (replay(&events).unwrap(), events)
}

/// A world in which attempts ran, nested ones too.
fn busy() -> (State, Vec<Event>) {
    world(|events| {
        let used = |e: &Event| matches!(e.body, Body::UsageSettled { .. });
        let accepted = |e: &&Event| matches!(e.body, Body::DelegationAccepted(_));
        events.iter().any(used) && events.iter().filter(accepted).count() > 1
    })
}

/// The property that a doctored log breaks once all is over.
fn broken_by(state: &State, events: &[Event]) -> &'static str {
    check::log(state, events, true).expect_err("the log was doctored").property()
}

/// The property that a doctored state breaks.
fn broken_in(doctor: impl FnOnce(&mut State)) -> &'static str {
    let (mut state, _) = busy();
    assert_eq!(check::always(&state), Ok(()));
    doctor(&mut state);
    check::always(&state).expect_err("the state was doctored").property()
}

#[test]
fn the_same_seed_is_the_same_world() {
    for seed in 0..20 {
        assert_eq!(log(seed), log(seed), "seed {seed}");
    }
}

#[test]
fn two_seeds_are_two_worlds() {
    assert_ne!(log(1), log(2));
}

#[test]
fn fifty_seeds_hold_every_property() {
    let mut steps = 0;
    for seed in 0..50 {
        match run(seed) {
            Ok(outcome) => steps += outcome.steps,
            Err((broken, _)) => panic!("seed {seed}: {broken}"),
        }
    }
    assert!(steps > 1_000, "{steps} steps are no test");
}

#[test]
fn worlds_are_deep_and_patterns_grow_in_them() {
    let started = |state: &State, wanted: fn(&Subtask) -> bool| {
        state.subtasks.iter().any(|(_, s)| wanted(s) && !s.attempts.is_empty())
    };
    world(|events| replay(events).unwrap().attempts.iter().any(|(_, a)| a.depth >= 4));
    world(|events| started(&replay(events).unwrap(), |subtask| subtask.role == Role::Judge));
    world(|events| started(&replay(events).unwrap(), |subtask| subtask.role == Role::Resolver));
    let resolved = |s: &Subtask| s.resolver.is_some() && s.outcome() == Some(Outcome::Completed);
    world(|events| started(&replay(events).unwrap(), resolved));
    world(|events| started(&replay(events).unwrap(), |subtask| subtask.round >= 3));
    world(|events| replay(events).unwrap().attempts.len() >= 40);
}

#[test]
fn an_attempt_that_ends_twice_is_noticed() {
    let (state, mut events) = busy();
    let end = events.iter().find(|e| matches!(e.body, Body::AttemptEnded(_))).cloned();
    events.push(end.expect("an attempt ended"));
    assert_eq!(broken_by(&state, &events), "no attempt ends twice");
}

#[test]
fn an_attempt_that_never_ends_is_noticed() {
    let (state, mut events) = busy();
    let at = events.iter().position(|e| matches!(e.body, Body::AttemptEnded(_)));
    events.remove(at.expect("an attempt ended"));
    assert_eq!(broken_by(&state, &events), "every started attempt has exactly one end");
}

#[test]
fn a_start_after_a_cancel_is_noticed() {
    let (state, mut events) = busy();
    let (by, reason, rollback) = ("ana".to_owned(), String::new(), false);
    let delegation = DelegationNo(0);
    let body = Body::CancelRequested { delegation, by, reason, rollback };
    let start = events.iter().position(|e| matches!(e.body, Body::AttemptStarted(_)));
    events.insert(start.expect("an attempt started"), Event::new(Now(0), body));
    assert_eq!(broken_by(&state, &events), "nothing starts after cancel");
}

#[test]
fn an_answer_that_was_never_told_is_noticed() {
    let (mut state, events) = busy();
    state.delegations[DelegationNo(0)].told = false;
    assert_eq!(broken_by(&state, &events), "a finished child has a told parent");
}

#[test]
fn something_left_undone_is_noticed() {
    let (_, mut events) = world(|events| {
        let cleared = |e: &Event| matches!(e.body, Body::WorkspaceRemoved { .. });
        events.iter().any(cleared)
    });
    let cleared =
        |body: &Body| matches!(body, Body::WorkspaceRemoved { .. } | Body::WorkspaceLeft { .. });
    events.retain(|e| !cleared(&e.body));
    let state = replay(&events).unwrap();
    assert_eq!(broken_by(&state, &events), "nothing is owed when a tree has ended");
}

#[test]
fn a_log_that_says_something_else_than_the_state_is_noticed() {
    let (state, events) = busy();
    let mut lines: Vec<String> =
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(check::replayed(&state, &lines).is_ok());
    let last = lines.pop().expect("a log has lines");
    let broken = check::replayed(&state, &lines).unwrap_err();
    assert_eq!(broken.property(), "replay(log) = state");
    lines.push(last.replace("\"v\":1", "\"v\":99"));
    let broken = check::replayed(&state, &lines).unwrap_err();
    assert_eq!(broken.property(), "the log replays");
    lines.push("{".to_owned());
    let broken = check::replayed(&state, &lines).unwrap_err();
    assert_eq!(broken.property(), "every event reads back");
}

#[test]
fn money_that_does_not_add_up_is_noticed() {
    let (mut state, _) = busy();
    state.ledger = Ledger::new(Amount::ZERO);
    let broken = check::always(&state).unwrap_err();
    assert_eq!(broken.property(), "costs add up to the ledger");
}

#[test]
fn a_bound_that_is_not_held_is_noticed() {
    let attempt = AttemptNo(0);
    let root = DelegationNo(0);
    assert_eq!(broken_in(|s| s.delegations[root].slots += 1), "width is held");
    assert_eq!(broken_in(|s| s.attempts[attempt].slot = true), "width is held");
    assert_eq!(broken_in(|s| s.attempts[attempt].depth = 99), "depth is bounded");
    assert_eq!(broken_in(|s| s.count = u64::MAX), "the tree's count is bounded");
    assert_eq!(broken_in(|s| s.delegations[root].live += 1), "live subtasks are counted right");
    let step = |s: &mut State| {
        s.attempts[attempt].step = Step::Working;
        s.attempts[attempt].child_slots = 99;
        let subtask = s.attempts[attempt].subtask;
        s.subtasks[subtask].habits.max_concurrent = Some(1);
    };
    assert_eq!(broken_in(step), "an agent's own width is held");
    let unmet = |s: &mut State| {
        let subtask = s.attempts[attempt].subtask;
        s.subtasks[subtask].unmet += 1;
    };
    assert_eq!(broken_in(unmet), "needs are counted right");
}

#[test]
fn a_child_that_outlives_its_parent_is_noticed() {
    let nested = |state: &State| {
        let found = state
            .attempts
            .iter()
            .find(|(no, _)| state.delegations[state.delegation_of(*no)].parent.is_some());
        found.map(|(no, _)| no)
    };
    let (mut state, _) = world(|events| nested(&replay(events).unwrap()).is_some());
    let child = nested(&state).expect("there is one");
    state.attempts[child].step = Step::Working;
    state.attempts[child].deadline = Now(u64::MAX);
    let parent = state.delegations[state.delegation_of(child)].parent.expect("it is nested");
    state.attempts[parent].clock_stopped = None;
    let broken = check::always(&state).unwrap_err();
    assert_eq!(broken.property(), "no deadline is later than the parent's");
}
