//! The bound in money.

use expect_test::expect;

use crate::story::{Story, completed, parallel, usd};

#[test]
fn a_cap_of_fifty_cents_and_a_turn_of_sixty_stops_after_the_first() {
    let mut story = Story::new(parallel("a").with(|call| call.call.cost = Some(usd(0.50))));
    story.run("a").so_far().pays("a", 0.60).events(expect![[r#"
        a#1 has used 0 tokens, $0.60
        a#1 has to stop: budget
    "#]]);
    story.stops("a").events(expect![[r#"
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
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn exactly_the_cap_is_within_it() {
    let mut story = Story::new(parallel("a").with(|call| call.call.cost = Some(usd(0.50))));
    story.run("a").so_far().pays("a", 0.50).events(expect![[r#"
        a#1 has used 0 tokens, $0.50
    "#]]);
}

#[test]
fn twelve_cents_left_and_ten_calls_that_need_five_run_two() {
    let mut story = Story::new(parallel("a").with(|call| call.call.cost = Some(usd(0.12))));
    story.run("a");
    for n in 1..=10 {
        let plan = parallel(&format!("c{n}")).modest().detached();
        story.nested("a", plan.with(|call| call.call.cost = Some(usd(0.05))));
    }
    assert_eq!(story.state.delegations.len(), 3);
    story.refusal(expect![[r#"
        Cost budget exceeded: $0.02 left.

        Remaining: $0.02
        Asked for: $0.05

        Suggestion: What you delegated before holds the rest until it ends: wait for it, ask for all of it in one batch, or give each call a budget and a cost of its own.
    "#]]);
    story.remaining(
        "a",
        expect![[
            r#"{"depth":2,"width":5,"count":8,"tokens":190000,"costUsd":0.02,"timeMs":600000}"#
        ]],
    );
}

#[test]
fn twelve_cents_left_and_ten_subtasks_that_turn_out_to_need_five_run_two() {
    let mut story = Story::bounded(parallel("a b c d e f g h i j"), |s| {
        s.limits.max_cost_usd = usd(0.12);
        s.limits.max_concurrent_agents = 1;
    });
    for name in ["a", "b"] {
        story.run(name).returns(name, completed("done").cost(0.05)).merged(name);
    }
    story.so_far().start("c").events(expect![[r#"
        c is failed: $0.02 is left, and another subtask has cost $0.05, more than its share.
    "#]]);
    for name in ["d", "e", "f", "g", "h", "i", "j"] {
        story.start(name);
    }
    assert_eq!(story.state.attempts.len(), 2);
    assert_eq!(story.state.ledger.accounts()[0].used.cost, usd(0.10));
}

#[test]
fn what_runs_beside_is_expected_to_cost_as_much() {
    let mut story = Story::bounded(parallel("a b c"), |s| s.limits.max_cost_usd = usd(0.12));
    story.run("a b").returns("a", completed("done").cost(0.05)).merged("a");
    // Seven cents are left, and five of them are spoken for by the one that runs.
    story.so_far().start("c").events(expect![[r#"
        c is failed: $0.07 is left, and another subtask has cost $0.05, more than its share.
    "#]]);
}

#[test]
fn what_stayed_within_its_share_says_nothing_about_others() {
    let mut story = Story::bounded(parallel("a b c"), |s| s.limits.max_cost_usd = usd(0.12));
    story.run("a").returns("a", completed("done").cost(0.04)).merged("a");
    story.run("b").returns("b", completed("done").cost(0.04)).merged("b");
    story.so_far().start("c").events(expect![[r#"
        c starts, until +600s
    "#]]);
}

#[test]
fn who_has_delegated_all_it_has_is_told_what_holds_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b").detached()).nested("a", parallel("c"));
    story.refusal(expect![[r#"
        Cost budget exceeded: $0.00 left.

        Remaining: $0.00

        Suggestion: What you delegated before holds the rest until it ends: wait for it, ask for all of it in one batch, or give each call a budget and a cost of its own.
    "#]]);
}

#[test]
fn zero_dollars_means_zero() {
    Story::bounded(parallel("a"), |s| s.limits.max_cost_usd = usd(0.0)).refusal(expect![[r#"
        Cost budget exceeded: $0.00 left.

        Remaining: $0.00

        Suggestion: Ask for less, or raise limits.maxCostUsd.
    "#]]);
    Story::new(parallel("a").with(|call| call.call.cost = Some(usd(0.0)))).events(expect![[r#"
        ! BUDGET_EXCEEDED Cost budget exceeded: $0.00 left.
    "#]]);
}

#[test]
fn a_roots_cap_only_tightens() {
    let mut story = Story::new(parallel("a").with(|call| call.call.cost = Some(usd(50.0))));
    story.remaining(
        "root",
        expect![[
            r#"{"depth":3,"width":5,"count":9,"tokens":1800000,"costUsd":0.0,"timeMs":3600000}"#
        ]],
    );
    assert_eq!(story.state.ledger.accounts()[0].ceiling.cost, usd(20.0));
}

#[test]
fn each_subtask_of_a_batch_reserves_an_equal_share_of_the_money() {
    let mut story = Story::bounded(parallel("a b c"), |s| s.limits.max_cost_usd = usd(1.0));
    story.accounts(expect![[r#"
        tree: 0 tokens and $0.00 of 2000000 tokens and $1.00 used, 600000 tokens and $1.00 reserved
        a: 0 tokens and $0.00 of 200000 tokens and $0.33 used, 0 tokens and $0.00 reserved
        b: 0 tokens and $0.00 of 200000 tokens and $0.33 used, 0 tokens and $0.00 reserved
        c: 0 tokens and $0.00 of 200000 tokens and $0.33 used, 0 tokens and $0.00 reserved
    "#]]);
}

#[test]
fn money_that_was_not_spent_can_be_reserved_again() {
    let mut story = Story::new(parallel("a").with(|call| call.call.cost = Some(usd(0.12))));
    let need =
        |name: &str, dollars| parallel(name).with(move |call| call.call.cost = Some(usd(dollars)));
    story.run("a").nested("a", need("b", 0.10)).run("b").pays("b", 0.04);
    story.returns("b", completed("cheap")).delivered("del-a").so_far();
    story.nested("a", need("c", 0.08)).events(expect![[r#"
        del-a-2 accepted: parallel c
    "#]]);
    story.accounts(expect![[r#"
        tree: 0 tokens and $0.04 of 2000000 tokens and $0.12 used, 200000 tokens and $0.12 reserved
        a: 0 tokens and $0.04 of 200000 tokens and $0.12 used, 200000 tokens and $0.08 reserved
        b: 0 tokens and $0.04 of 200000 tokens and $0.10 used, 0 tokens and $0.00 reserved, closed
        c: 0 tokens and $0.00 of 200000 tokens and $0.08 used, 0 tokens and $0.00 reserved
    "#]]);
}

#[test]
fn a_child_is_stopped_when_the_tree_is_at_its_cap_though_its_own_is_not() {
    let mut story = Story::new(parallel("a").with(|call| call.call.cost = Some(usd(1.0))));
    story.run("a").nested("a", parallel("b").with(|call| call.call.cost = Some(usd(0.50))));
    // The parent spends what it had promised to its child: that was in flight.
    story.run("b").pays("a", 0.80).so_far().pays("b", 0.30).events(expect![[r#"
        b#1 has used 0 tokens, $0.30
        b#1 has to stop: budget
    "#]]);
}

#[test]
fn dollars_are_booked_exactly() {
    let mut story = Story::new(parallel("a b c"));
    story.run("a b c");
    for (name, dollars) in [("a", 0.1), ("b", 0.2), ("c", 0.3)] {
        story.pays(name, dollars);
    }
    assert_eq!(story.state.ledger.accounts()[0].used.cost, usd(0.6));
}

#[test]
fn a_cost_that_shrinks_is_an_old_report() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pays("a", 0.50).so_far().pays("a", 0.20).events(expect![[r#"
        ! stale
    "#]]);
    assert_eq!(story.state.attempts[story.attempt_no("a")].cost, Some(usd(0.5)));
}

#[test]
fn the_runners_own_figure_counts_even_where_the_table_said_more_on_the_way() {
    let mut story = Story::new(parallel("a b").with(|call| call.call.cost = Some(usd(1.00))));
    story.run("a b").pays("a", 0.40).returns("a", completed("done").own_cost(0.30));
    let ended = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    assert_eq!(ended.receipt.cost_usd, Some(usd(0.30)));
    story.accounts(expect![[r#"
        tree: 0 tokens and $0.30 of 2000000 tokens and $1.00 used, 200000 tokens and $0.50 reserved
        a: 0 tokens and $0.30 of 200000 tokens and $0.50 used, 0 tokens and $0.00 reserved, closed
        b: 0 tokens and $0.00 of 200000 tokens and $0.50 used, 0 tokens and $0.00 reserved
    "#]]);
}

#[test]
fn a_figure_of_who_has_not_heard_all_takes_nothing_back() {
    let mut story = Story::new(parallel("a b").with(|call| call.call.cost = Some(usd(1.00))));
    story.run("a b").uses("a", 50).pays("a", 0.40);
    story.returns("a", completed("done").own_cost(0.30).tokens(40));
    let ended = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    assert_eq!(ended.receipt.cost_usd, Some(usd(0.40)));
}

#[test]
fn an_estimate_that_is_less_in_the_end_takes_nothing_back() {
    let mut story = Story::new(parallel("a b").with(|call| call.call.cost = Some(usd(1.00))));
    story.run("a b").pays("a", 0.40).returns("a", completed("done").cost(0.30));
    let ended = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    assert_eq!(ended.receipt.cost_usd, Some(usd(0.40)));
}
