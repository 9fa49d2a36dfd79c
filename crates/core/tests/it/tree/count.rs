//! The second bound: how many subtasks a caller and a tree may have.

use expect_test::expect;
use legation_core::tree::plan::Aggregate;

use crate::story::{Plan, Story, completed, debate, ensemble, failed, parallel, review};

fn numbered(count: usize) -> Plan {
    let names: Vec<String> = (1..=count).map(|n| format!("s{n}")).collect();
    parallel(&names.join(" "))
}

#[test]
fn ten_subtasks_fit_and_eleven_are_refused_whole() {
    assert_eq!(Story::new(numbered(10)).state.subtasks.len(), 10);
    let mut story = Story::new(numbered(11));
    story.refusal(expect![[r#"
        Delegation count limit (10) exceeded. Nothing was started.

        So far: 0
        Asked for: 11
        Maximum allowed: 10 (maxDelegationsPerTask)

        Suggestion: Ask for fewer subtasks, or put several into one.
    "#]]);
    assert!(story.log.is_empty());
}

#[test]
fn what_a_caller_asks_for_adds_up_over_its_calls() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", numbered(6).modest().detached());
    story.so_far().nested("a", parallel("x1 x2 x3 x4 x5").modest().detached()).events(expect![[
        r#"
        ! TOO_MANY_DELEGATIONS Delegation count limit (10) exceeded. Nothing was started.
    "#
    ]]);
    story.refusal(expect![[r#"
        Delegation count limit (10) exceeded. Nothing was started.

        So far: 6
        Asked for: 5
        Maximum allowed: 10 (maxDelegationsPerTask)

        Suggestion: Ask for fewer subtasks, or put several into one.
    "#]]);
    story.nested("a", parallel("x1 x2 x3 x4").modest().detached());
    assert_eq!(story.state.attempts[story.attempt_no("a")].asked, 10);
}

#[test]
fn the_count_of_one_caller_is_not_that_of_another() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", numbered(10)).nested("b", numbered(10));
    assert_eq!(story.state.subtasks.len(), 22);
}

#[test]
fn the_tree_is_counted_as_a_whole() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_agents_per_tree = 5);
    story.run("a b").nested("a", parallel("c d")).so_far();
    story.nested("b", parallel("e f")).events(expect![[r#"
        ! TOO_MANY_DELEGATIONS Delegation count limit (5) exceeded. Nothing was started.
    "#]]);
    story.refusal(expect![[r#"
        Delegation count limit (5) exceeded. Nothing was started.

        So far: 4
        Asked for: 2
        Maximum allowed: 5 (maxAgentsPerTree)

        Suggestion: Ask for fewer subtasks, or put several into one.
    "#]]);
    story.nested("b", parallel("e")).events(expect![[r#"
        del-b accepted: parallel e
    "#]]);
}

#[test]
fn an_automatic_retry_counts_in_the_tree_and_is_not_made_beyond_it() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.max_agents_per_tree = 2);
    story.run("a").returns("a", failed("broke")).tick(3).run("a").so_far();
    story.returns("a", failed("broke again")).events(expect![[r#"
        a#2 ended failed: broke again
        a is failed: Delegation count limit (2) exceeded. Nothing was started.
        del-1 ended failed
    "#]]);
}

#[test]
fn a_retry_on_request_beyond_the_tree_is_refused() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.limits.max_agents_per_tree = 2;
        s.recovery.auto_retry = false;
    });
    story.run("a b").returns("a", failed("broke")).so_far().retry("a").refusal(expect![[r#"
        Delegation count limit (2) exceeded. Nothing was started.

        So far: 2
        Asked for: 1
        Maximum allowed: 2 (maxAgentsPerTree)

        Suggestion: Ask for fewer subtasks, or put several into one.
    "#]]);
}

#[test]
fn a_subtask_that_never_ran_was_counted_already() {
    let mut story = Story::bounded(parallel("a! b"), |s| s.limits.max_agents_per_tree = 2);
    story.run("b").reject("a").so_far().retry("a").events(expect![[r#"
        a is tried again (request) at +0s, told "It ended failed before: Rejected by ana: too risky"
    "#]]);
    assert_eq!(story.state.count, 2);
}

#[test]
fn nodes_that_a_pattern_adds_count_in_the_tree_only() {
    let mut story = Story::bounded(debate("ann ben"), |s| s.limits.max_delegations_per_task = 2);
    story.go().returns("propose", completed("a draft"));
    assert_eq!(story.state.subtasks.len(), 2);
    assert_eq!(story.state.delegations[story.delegation("del-1")].asked, 2);
}

#[test]
fn members_of_an_ensemble_are_what_was_asked_for() {
    let mut story = Story::bounded(ensemble("ann ben cleo", Aggregate::Vote), |s| {
        s.limits.max_delegations_per_task = 2;
    });
    story.events(expect![[r#"
        ! TOO_MANY_DELEGATIONS Delegation count limit (2) exceeded. Nothing was started.
    "#]]);
}

#[test]
fn what_remains_is_the_smaller_of_the_tasks_and_the_trees_count() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_agents_per_tree = 8);
    story.run("a").nested("a", parallel("c"));
    story.remaining(
        "root",
        expect![[
            r#"{"depth":3,"width":5,"count":5,"tokens":1600000,"costUsd":0.0,"timeMs":3600000}"#
        ]],
    );
    story.remaining(
        "a",
        expect![[r#"{"depth":2,"width":5,"count":5,"tokens":0,"costUsd":0.0,"timeMs":600000}"#]],
    );
}

#[test]
fn one_text_with_one_agent_asks_for_one_whatever_the_pattern_makes_of_it() {
    for plan in [debate("ann"), review("ann"), ensemble("ann", Aggregate::Vote)] {
        let story = Story::bounded(plan, |s| s.limits.max_delegations_per_task = 1);
        assert_eq!(story.state.delegations[story.delegation("del-1")].asked, 1);
    }
}
