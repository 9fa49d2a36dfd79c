//! The bound in tokens: reserve, settle, release.

use expect_test::expect;
use legation_core::returns::Tokens;

use crate::story::{Story, completed, failed, parallel};

fn reserved(story: &Story, name: &str) -> u64 {
    let subtask = &story.state.subtasks[story.subtask(name)];
    story.state.ledger.get(subtask.account).ceiling.tokens
}

#[test]
fn each_subtask_reserves_the_smallest_of_call_child_and_equal_share() {
    // (per child, tree, call, subtask's own, subtasks, reserved)
    let cases = [
        (200_000, 2_000_000, None, None, 1, 200_000),
        (200_000, 300_000, None, None, 2, 150_000),
        (200_000, 300_001, None, None, 2, 150_000),
        (50_000, 2_000_000, None, None, 2, 50_000),
        (200_000, 2_000_000, Some(60_000), None, 2, 30_000),
        (200_000, 2_000_000, None, Some(7_000), 2, 7_000),
        (200_000, 2_000_000, Some(60_000), Some(40_000), 2, 30_000),
    ];
    for (per_child, tree, call, own, parts, expected) in cases {
        let names = ["a", "b"][..parts].join(" ");
        let plan = parallel(&names).with(|c| c.call.tokens = call).each(|p| p.tokens = own);
        let story = Story::bounded(plan, |s| {
            s.limits.token_budget_per_child = per_child;
            s.limits.max_total_tokens = tree;
        });
        assert_eq!(reserved(&story, "a"), expected, "{per_child} {tree} {call:?} {own:?} {parts}");
    }
}

#[test]
fn a_share_equal_to_the_estimate_passes_and_one_less_does_not() {
    let tree = |tokens| Story::bounded(parallel("a b"), |s| s.limits.max_total_tokens = tokens);
    assert_eq!(reserved(&tree(10_000), "a"), 5_000);
    tree(9_999).refusal(expect![[r#"
        Token budget exceeded: 4,999 tokens for a subtask that needs 5,000.

        Available for it: 4,999 tokens
        Subtask estimate: 5,000 tokens
        Caller's remainder: 9,999 tokens
        Attempted delegation: Do a

        Suggestion: Ask for fewer subtasks at once, give the call a larger budget, or raise limits.maxTotalTokens.
    "#]]);
}

#[test]
fn a_subtasks_own_budget_below_its_estimate_is_refused_by_name() {
    let plan = parallel("a b").part("b", |part| part.tokens = Some(4_999));
    let mut story = Story::new(plan);
    expect![[r#"{"kind":"tokens","available":4999,"estimate":5000,"remaining":2000000,"attempted":"Do b"}"#]].assert_eq(&story.refusal_details().to_string());
}

#[test]
fn zero_tokens_means_zero() {
    for change in [
        |limits: &mut legation_core::config::Limits| limits.max_total_tokens = 0,
        |limits: &mut legation_core::config::Limits| limits.token_budget_per_child = 0,
    ] {
        let mut story = Story::bounded(parallel("a"), |s| change(&mut s.limits));
        assert_eq!(story.refusal_details()["available"], 0);
        assert!(story.log.is_empty());
    }
    Story::new(parallel("a").with(|call| call.call.tokens = Some(0))).events(expect![[r#"
        ! BUDGET_EXCEEDED Token budget exceeded: 0 tokens for a subtask that needs 5,000.
    "#]]);
}

#[test]
fn small_figures_that_a_configuration_sets_are_honoured() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 1_000);
    story.events(expect![[r#"
        ! BUDGET_EXCEEDED Token budget exceeded: 1,000 tokens for a subtask that needs 5,000.
    "#]]);
}

#[test]
fn a_child_shares_what_its_parent_reserved() {
    let mut story = Story::new(parallel("a"));
    story.run("a").uses("a", 50_000).nested("a", parallel("b c"));
    story.accounts(expect![[r#"
        tree: 50000 tokens and $0.00 of 2000000 tokens and $20.00 used, 200000 tokens and $20.00 reserved
        a: 50000 tokens and $0.00 of 200000 tokens and $20.00 used, 150000 tokens and $20.00 reserved
        b: 0 tokens and $0.00 of 75000 tokens and $10.00 used, 0 tokens and $0.00 reserved
        c: 0 tokens and $0.00 of 75000 tokens and $10.00 used, 0 tokens and $0.00 reserved
    "#]]);
    story.remaining(
        "a",
        expect![[r#"{"depth":2,"width":5,"count":8,"tokens":0,"costUsd":0.0,"timeMs":600000}"#]],
    );
}

#[test]
fn a_call_below_a_root_may_set_its_own_budget() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b c").with(|call| call.call.tokens = Some(20_000)));
    assert_eq!(reserved(&story, "b"), 10_000);
}

#[test]
fn use_is_settled_turn_by_turn() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().uses("a", 10_000).uses("a", 25_000).events(expect![[r#"
        a#1 has used 10000 tokens
        a#1 has used 25000 tokens
    "#]]);
    story.accounts(expect![[r#"
        tree: 25000 tokens and $0.00 of 2000000 tokens and $20.00 used, 200000 tokens and $20.00 reserved
        a: 25000 tokens and $0.00 of 200000 tokens and $20.00 used, 0 tokens and $0.00 reserved
    "#]]);
}

#[test]
fn cache_reads_are_recorded_and_not_counted() {
    let mut story = Story::new(parallel("a"));
    let tokens =
        Tokens { input: 100, output: 20, reasoning: 3, cache_read: 1_000_000, cache_write: 4_000 };
    story.run("a").reports("a", |usage| usage.tokens = tokens);
    let attempt = story.attempt_no("a");
    assert_eq!(story.state.attempts[attempt].tokens, Some(tokens));
    assert_eq!(story.state.ledger.accounts()[0].used.tokens, 4_123);
}

#[test]
fn an_attempt_at_its_ceiling_goes_on_and_one_beyond_is_stopped() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 10_000);
    story.run("a").so_far().uses("a", 10_000).uses("a", 10_001).events(expect![[r#"
        a#1 has used 10000 tokens
        a#1 has used 10001 tokens
        a#1 has to stop: budget
    "#]]);
    story.owed(expect!["stop a#1 (budget), wake +3600s"]);
}

#[test]
fn one_stopped_at_its_ceiling_ends_partial_with_what_it_made() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 10_000);
    story.run("a").uses("a", 12_000).so_far();
    story.returns("a", completed("all done, honestly").files(&["half.txt"])).events(expect![[r#"
        a#1 ended partial: Operation was stopped at its budget
        a is partial
        del-1 ended partial
    "#]]);
    story.result(
        "del-1",
        expect![[r#"
        partial {
          "summary": "Operation was stopped at its budget",
          "data": null,
          "artifacts": [
            {
              "type": "partial",
              "path": "half.txt"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn what_is_in_flight_counts_against_everything_after_it() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.limits.max_total_tokens = 40_000;
        s.limits.max_concurrent_agents = 1;
    });
    story.run("a").uses("a", 45_000).so_far();
    story.stops("a").start("b").events(expect![[r#"
        a#1 ended partial: Operation was stopped at its budget
        a is partial
        b is failed: The budget was used up before this subtask could start.
        del-1 ended partial
    "#]]);
    story.accounts(expect![[r#"
        tree: 45000 tokens and $0.00 of 40000 tokens and $20.00 used, 0 tokens and $0.00 reserved
        a: 45000 tokens and $0.00 of 20000 tokens and $10.00 used, 0 tokens and $0.00 reserved, closed
        b: 0 tokens and $0.00 of 20000 tokens and $10.00 used, 0 tokens and $0.00 reserved, closed
    "#]]);
    let error = story.state.subtasks[story.subtask("b")].error.clone();
    expect![[r#"
        {
          "type": "budget",
          "message": "The budget was used up before this subtask could start.",
          "code": "BUDGET_EXCEEDED",
          "recoverable": false,
          "recommendation": "Raise the budget and retry it."
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&error).unwrap());
}

#[test]
fn a_report_after_the_stop_is_still_booked_and_stops_nothing_twice() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 10_000);
    story.run("a").uses("a", 12_000).so_far().uses("a", 15_000).events(expect![[r#"
        a#1 has used 15000 tokens
    "#]]);
    assert_eq!(story.state.ledger.accounts()[0].used.tokens, 15_000);
}

#[test]
fn a_childs_overrun_takes_from_its_parent_and_stops_the_sibling_that_hits_the_bound() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 20_000);
    story.run("a").nested("a", parallel("b c")).run("b c").so_far();
    story.uses("b", 14_000).uses("c", 6_000).uses("c", 6_001).events(expect![[r#"
        b#1 has used 14000 tokens
        b#1 has to stop: budget
        c#1 has used 6000 tokens
        c#1 has used 6001 tokens
        c#1 has to stop: budget
    "#]]);
}

#[test]
fn a_finished_subtask_releases_exactly_what_it_did_not_use() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").uses("a", 1_234).returns("a", completed("done"));
    story.accounts(expect![[r#"
        tree: 1234 tokens and $0.00 of 2000000 tokens and $20.00 used, 200000 tokens and $10.00 reserved
        a: 1234 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved, closed
        b: 0 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved
    "#]]);
    story.remaining(
        "root",
        expect![[
            r#"{"depth":3,"width":5,"count":8,"tokens":1798766,"costUsd":10.0,"timeMs":3600000}"#
        ]],
    );
}

#[test]
fn the_figures_of_the_last_report_and_of_the_receipt_are_not_added() {
    let mut story = Story::new(parallel("a"));
    story.run("a").uses("a", 5_000).returns("a", completed("done").tokens(6_000));
    assert_eq!(story.state.ledger.accounts()[0].used.tokens, 6_000);
}

#[test]
fn automatic_retries_live_on_what_the_subtask_first_reserved() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 10_000);
    story.run("a").uses("a", 6_000).returns("a", failed("broke")).tick(3).run("a").so_far();
    story.uses("a", 4_001).events(expect![[r#"
        a#2 has used 4001 tokens
        a#2 has to stop: budget
    "#]]);
}

#[test]
fn a_retry_on_request_reserves_anew_within_the_subtasks_own_budget() {
    let plan = parallel("a b").part("a", |part| part.tokens = Some(8_000));
    let mut story = Story::bounded(plan, |s| s.recovery.auto_retry = false);
    story.run("a b").uses("a", 3_000).returns("a", failed("broke")).retry("a");
    assert_eq!(reserved(&story, "a"), 8_000);
}

#[test]
fn a_retry_never_takes_what_the_calls_budget_has_promised_to_others() {
    let mut story = Story::bounded(parallel("a"), |s| s.recovery.auto_retry = false);
    story.run("a").nested("a", parallel("b c").with(|call| call.call.tokens = Some(40_000)));
    story.run("b c").uses("b", 6_000).returns("b", failed("broke")).retry("b");
    story.accounts(expect![[r#"
        tree: 6000 tokens and $0.00 of 2000000 tokens and $20.00 used, 200000 tokens and $20.00 reserved
        a: 6000 tokens and $0.00 of 200000 tokens and $20.00 used, 34000 tokens and $20.00 reserved
        b: 0 tokens and $0.00 of 14000 tokens and $10.00 used, 0 tokens and $0.00 reserved
        c: 0 tokens and $0.00 of 20000 tokens and $10.00 used, 0 tokens and $0.00 reserved
    "#]]);
}

#[test]
fn an_agent_that_reports_nothing_is_refused_under_a_cap() {
    let mut story = Story::new(parallel("a").habits(|habits| habits.unmetered = true));
    story.refusal(expect![[r#"
        `a` reports neither tokens nor cost. It cannot be held to a budget.

        Suggestion: Use another runner, or set limits.unmetered = "time" to bound it by time alone.
    "#]]);
}

#[test]
fn an_agent_that_reports_nothing_may_be_bounded_by_time_alone() {
    let plan = parallel("a").habits(|habits| habits.unmetered = true);
    let mut story = Story::bounded(plan, |s| {
        s.limits.unmetered = legation_core::config::Unmetered::Time;
    });
    story.events(expect![[r#"
        tree opened
        del-1 accepted: parallel a
    "#]]);
}

#[test]
fn the_budget_of_a_roots_call_is_that_of_the_whole_tree_and_only_tightens() {
    for (asked, granted) in [(60_000, 60_000), (5_000_000, 2_000_000)] {
        let story = Story::new(parallel("a").with(|call| call.call.tokens = Some(asked)));
        assert_eq!(story.state.ledger.accounts()[0].ceiling.tokens, granted);
    }
}
