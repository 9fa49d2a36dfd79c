//! The first bound: how deep a tree may go.

use expect_test::expect;
use legation_core::config::Limits;
use legation_core::tree::bounds;
use legation_core::tree::command::Caller;

use crate::story::{Story, completed, parallel};

/// A chain of delegations, each by the one agent of the one above; the last runs.
fn chain(max_depth: u32, names: &[&str]) -> Story {
    let (first, rest) = names.split_first().expect("a chain has a first link");
    let mut story = Story::bounded(parallel(first), |s| s.limits.max_depth = max_depth);
    story.run(first);
    let mut above = *first;
    for name in rest {
        story.nested(above, parallel(name)).run(name);
        above = name;
    }
    story
}

#[test]
fn a_child_at_the_maximum_runs() {
    let mut story = chain(2, &["a", "b"]);
    story.tree(expect![[r#"
        del-1 running
          a running
            del-a running
              b running
    "#]]);
    let depths = ["a", "b"].map(|name| story.state.attempts[story.attempt_no(name)].depth);
    assert_eq!(depths, [1, 2]);
}

#[test]
fn one_level_deeper_is_refused_with_all_its_lines() {
    let mut story = chain(2, &["a", "b"]);
    story.nested("b", parallel("c").about("Add a cache in front of the store"));
    story.refusal(expect![[r#"
        Delegation depth limit (2) reached. Cannot delegate further.

        Current depth: 2
        Attempted delegation: Add a cache in front of the store

        Suggestion: Complete this task at the current level, or simplify it.
    "#]]);
    assert_eq!(story.state.delegations.len(), 2);
}

#[test]
fn a_depth_refusal_names_its_figures_for_programs() {
    let mut story = chain(1, &["a"]);
    story.nested("a", parallel("b").about("More"));
    expect![[r#"{"currentDepth":1,"maxDepth":1,"attempted":"More"}"#]]
        .assert_eq(&story.refusal_details().to_string());
}

#[test]
fn the_default_depth_is_three_levels() {
    let mut story = chain(3, &["a", "b", "c"]);
    story.so_far().nested("c", parallel("d"));
    story.events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (3) reached. Cannot delegate further.
    "#]]);
}

#[test]
fn every_configured_depth_holds_exactly() {
    let names = ["a", "b", "c", "d", "e", "f"];
    for max_depth in 1..=5u32 {
        let mut story = chain(max_depth, &names[..max_depth as usize]);
        assert_eq!(story.state.delegations.len() as u32, max_depth);
        story.nested(names[max_depth as usize - 1], parallel("x"));
        assert_eq!(story.refusal_details()["currentDepth"], max_depth);
    }
}

#[test]
fn a_refused_call_records_nothing_and_costs_nothing() {
    let mut story = chain(1, &["a"]);
    let (state, log) = (story.state.clone(), story.log.len());
    story.nested("a", parallel("b"));
    assert_eq!((&story.state, story.log.len()), (&state, log));
    story.returns("a", completed("alone")).tree(expect![[r#"
        del-1 completed
          a completed
    "#]]);
}

#[test]
fn a_depth_given_with_a_root_call_only_tightens() {
    for (asked, granted) in [(1, 1), (3, 3), (9, 3)] {
        let plan = parallel("a").with(|call| call.call.max_depth = Some(asked));
        let story = Story::new(plan);
        assert_eq!(story.state.delegations[story.delegation("del-1")].max_depth, granted);
    }
}

#[test]
fn a_depth_given_with_a_nested_call_counts_from_the_caller_and_only_tightens() {
    for (asked, granted) in [(1, 2), (2, 3), (9, 3)] {
        let mut story = chain(3, &["a"]);
        story.nested("a", parallel("b").with(|call| call.call.max_depth = Some(asked)));
        assert_eq!(story.state.delegations[story.delegation("del-a")].max_depth, granted);
    }
}

#[test]
fn a_tightened_depth_holds_for_everything_below() {
    let mut story = chain(3, &["a"]);
    story.nested("a", parallel("b").with(|call| call.call.max_depth = Some(1))).run("b");
    story.so_far().nested("b", parallel("c")).events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (2) reached. Cannot delegate further.
    "#]]);
}

#[test]
fn a_call_that_allows_no_depth_is_refused() {
    let plan = parallel("a").with(|call| call.call.max_depth = Some(0));
    Story::new(plan).refusal(expect![[r#"
        Delegation depth limit (0) reached. Cannot delegate further.

        Current depth: 0
        Attempted delegation: Work

        Suggestion: Complete this task at the current level, or simplify it.
    "#]]);
}

#[test]
fn a_root_that_says_it_stands_deeper_has_less_depth_left() {
    let deeper = |depth| {
        parallel("a").with(|call| call.caller = Caller::Root { name: "user".into(), depth })
    };
    let mut story = Story::new(deeper(2));
    story.run("a").so_far().nested("a", parallel("b")).events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (1) reached. Cannot delegate further.
    "#]]);
    Story::new(deeper(3)).events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (3) reached. Cannot delegate further.
    "#]]);
    Story::new(deeper(u32::MAX)).events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (3) reached. Cannot delegate further.
    "#]]);
}

#[test]
fn what_remains_says_how_many_levels_are_left() {
    let mut story = chain(3, &["a", "b"]);
    story.remaining(
        "root",
        expect![[
            r#"{"depth":3,"width":5,"count":9,"tokens":1800000,"costUsd":0.0,"timeMs":3600000}"#
        ]],
    );
    story.remaining(
        "a",
        expect![[r#"{"depth":2,"width":5,"count":9,"tokens":0,"costUsd":0.0,"timeMs":600000}"#]],
    );
    story.remaining(
        "b",
        expect![[
            r#"{"depth":1,"width":5,"count":10,"tokens":200000,"costUsd":20.0,"timeMs":600000}"#
        ]],
    );
}

#[test]
fn a_root_that_was_refused_is_told_what_the_configuration_allows() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.max_total_tokens = 100);
    let caller = Caller::Root { name: "user".into(), depth: 1 };
    assert_eq!(bounds::remaining(&story.state, &caller, story.now, 20), None);
    let limits = Limits { max_total_tokens: 100, ..Limits::default() };
    let remaining = bounds::remaining_at_root(&limits, 1, 4);
    expect![[r#"{"depth":2,"width":4,"count":10,"tokens":100,"costUsd":20.0,"timeMs":3600000}"#]]
        .assert_eq(&serde_json::to_string(&remaining).unwrap());
    assert_eq!(story.refusal_details()["remaining"], 100);
}
