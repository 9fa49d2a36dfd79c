//! Trying again on request, and doing without.

use expect_test::expect;
use legation_core::agent::Operation;
use legation_core::tree::command::Habits;

use crate::story::{Plan, ROOT, Story, blocked, completed, dag, failed, parallel, sequential, usd};

/// Without automatic retries, so that a failure is the end of a subtask.
fn once(plan: Plan) -> Story {
    Story::bounded(plan, |s| s.recovery.auto_retry = false)
}

#[test]
fn a_retry_is_a_new_attempt_that_knows_the_note() {
    let mut story = once(parallel("a b"));
    story.run("a b").returns("a", failed("broke")).so_far();
    story.retry_with_note("a", "use the other port").events(expect![[r#"
        a is tried again (request) at +0s, told "The attempt before this one ended failed: broke\nuse the other port"
    "#]]);
    story.run("a").events(expect![[r#"
        a starts, until +600s
        a#2 runs
    "#]]);
    let subtask = &story.state.subtasks[story.subtask("a")];
    assert_eq!(subtask.ended_at, None);
    let note = "The attempt before this one ended failed: broke\nuse the other port";
    assert_eq!(subtask.note.as_deref(), Some(note));
    assert_eq!(subtask.attempts.len(), 2);
}

#[test]
fn a_retry_may_go_to_another_agent_with_its_own_habits_and_time() {
    let mut story = once(parallel("a b"));
    story.run("a b").returns("a", failed("broke")).so_far();
    let habits = Habits { operation: Some(Operation::Simple), ..Habits::default() };
    story.retry_by("a", "helper", habits).run("a").events(expect![[r#"
        a is tried again (request) at +0s, by helper, told "The attempt before this one ended failed: broke"
        a starts, until +300s
        a#2 runs
    "#]]);
    let attempt = &story.state.attempts[story.attempt_no("a")];
    let path: Vec<&str> = attempt.path.iter().map(|step| step.as_str()).collect();
    assert_eq!(path, ["user", "helper"]);
    let first = &story.state.attempts[story.attempt_no("a#1")];
    assert_eq!(first.agent.as_str(), "a");
}

#[test]
fn the_time_a_call_asked_for_holds_for_another_agent_too() {
    let mut story = once(parallel("a b").with(|call| call.call.timeout_ms = Some(100_000)));
    story.run("a b").returns("a", failed("broke"));
    let habits = Habits { timeout_ms: Some(5_000), ..Habits::default() };
    story.retry_by("a", "helper", habits).so_far().start("a").events(expect![[r#"
        a starts, until +100s
    "#]]);
}

#[test]
fn an_agent_that_reports_nothing_cannot_take_over_under_a_cap() {
    let mut story = once(parallel("a b"));
    story.run("a b").returns("a", failed("broke")).so_far();
    let habits = Habits { unmetered: true, ..Habits::default() };
    story.retry_by("a", "helper", habits).events(expect![[r#"
        ! BUDGET_EXCEEDED `helper` reports neither tokens nor cost. It cannot be held to a budget.
    "#]]);
}

#[test]
fn a_retry_of_an_ended_delegation_opens_it_again() {
    let mut story = once(sequential("a b"));
    story.run("a").returns("a", failed("broke")).go().so_far();
    story.after(100_000).retry("a").events(expect![[r#"
        del-1 reopened
        a is tried again (request) at +100000s, told "The attempt before this one ended failed: broke"
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a queued
          b pending
    "#]]);
    story.accounts(expect![[r#"
        tree: 0 tokens and $0.00 of 2000000 tokens and $20.00 used, 400000 tokens and $20.00 reserved
        a: 0 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved
        b: 0 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved
    "#]]);
    story.run("a").returns("a", completed("done")).run("b").returns("b", completed("done"));
    story.so_far().owed(expect!["deliver del-1"]);
    assert_eq!(story.status(), "completed");
}

#[test]
fn a_reopened_delegation_has_its_whole_time_again() {
    let mut story = once(parallel("a"));
    story.run("a").returns("a", failed("broke")).after(100_000).retry("a").start("a");
    story.owed(expect!["spawn a#2, wake +100600s"]);
    let root = &story.state.delegations[story.delegation(ROOT)];
    assert_eq!(root.deadline.unwrap().since_ms(crate::story::DAWN), 103_600_000);
}

#[test]
fn a_retry_reserves_from_what_is_left() {
    let plan = parallel("a").with(|call| call.call.cost = Some(usd(1.0)));
    let mut story = once(plan);
    story.run("a").pays("a", 0.75).returns("a", failed("broke")).retry("a");
    story.accounts(expect![[r#"
        tree: 0 tokens and $0.75 of 2000000 tokens and $1.00 used, 200000 tokens and $0.25 reserved
        a: 0 tokens and $0.00 of 200000 tokens and $0.25 used, 0 tokens and $0.00 reserved
    "#]]);
}

#[test]
fn a_retry_that_cannot_be_paid_is_refused() {
    let plan = parallel("a").with(|call| call.call.cost = Some(usd(1.0)));
    let mut story = once(plan);
    story.run("a").pays("a", 1.0).returns("a", failed("broke")).so_far().retry("a");
    story.refusal(expect![[r#"
        Cost budget exceeded: $0.00 left.

        Remaining: $0.00

        Suggestion: Ask for less, or raise limits.maxCostUsd.
    "#]]);
    assert_eq!(story.status(), "failed");
}

#[test]
fn what_is_done_is_not_done_again() {
    let mut story = once(parallel("a b c"));
    story.run("a").returns("a", completed("done")).skip("b").so_far();
    story.retry("a").refusal(expect![[r#"
        Subtask `a` is completed.

        Suggestion: Start a new delegation to change its work.
    "#]]);
    story.retry("b").refusal(expect![[r#"
        Subtask `b` is skipped.

        Suggestion: Start a new delegation to change its work.
    "#]]);
    story.retry("c").refusal(expect![[r#"
        Subtask `c` has not ended (queued).

        Suggestion: Retry what it waits for, or wait for its end.
    "#]]);
}

#[test]
fn what_needs_others_waits_for_them_to_be_put_right() {
    let mut story = once(dag("a b<a c<b"));
    story.run("a").returns("a", failed("broke")).so_far();
    story.retry("b").refusal(expect![[r#"
        Subtask `b` has not ended (blocked).

        Suggestion: Retry what it waits for, or wait for its end.
    "#]]);
    // One that was cancelled while it waited has ended, and still needs what it needs.
    let mut story = once(dag("a b<a x"));
    story.cancel_one("b").run("a").returns("a", failed("broke")).retry("b").refusal(expect![[r#"
        Subtask `b` needs others that have not ended well.

        Suggestion: Retry or skip those first.
    "#]]);
}

#[test]
fn a_blocked_subtask_moves_on_with_a_note() {
    let mut story = once(parallel("a"));
    story.run("a").returns("a", blocked("no key")).tree(expect![[r#"
        del-1 blocked
          a blocked
    "#]]);
    story.so_far().retry_with_note("a", "the key is in the vault").events(expect![[r#"
        del-1 reopened
        a is tried again (request) at +0s, told "The attempt before this one ended blocked: no key\nthe key is in the vault"
    "#]]);
}

#[test]
fn a_retry_below_a_parent_that_has_ended_is_refused() {
    let mut story = once(parallel("a x"));
    story.run("a").nested("a", parallel("b")).run("b").returns("b", failed("broke"));
    story.delivered("del-a").returns("a", completed("without it")).so_far().retry("b");
    story.refusal(expect![[r#"
        `del-a` was cancelled, or the agent that asked has ended.

        Suggestion: Start a new delegation.
    "#]]);
}

#[test]
fn a_nested_retry_tells_the_parent_again() {
    let mut story = once(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").returns("b", failed("broke"));
    story.delivered("del-a").retry("b").run("b").returns("b", completed("done"));
    story.owed(expect!["deliver del-a, wake +600s"]);
}

#[test]
fn a_retry_before_the_answer_was_told_keeps_the_parent_waiting() {
    let mut story = once(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").returns("b", failed("broke")).retry("b");
    story.owed(expect!["start b, wake +600s"]);
    story.run("b").returns("b", completed("done")).delivered("del-a").tree(expect![[r#"
        del-1 running
          a running
            del-a completed
              b completed
    "#]]);
}

#[test]
fn a_skip_lets_the_dependents_run() {
    let mut story = once(dag("a b<a"));
    story.run("a").returns("a", failed("broke")).so_far().skip("a").events(expect![[r#"
        del-1 reopened
        a is skipped: not needed
    "#]]);
    story.owed(expect!["start b"]);
    story.run("b").returns("b", completed("made do")).tree(expect![[r#"
        del-1 completed
          a skipped: not needed
          b completed
    "#]]);
}

#[test]
fn a_skip_of_what_has_not_started_needs_no_stop() {
    let mut story = once(dag("a b<a"));
    story.so_far().skip("a").events(expect![[r#"
        a is skipped: not needed
    "#]]);
    story.owed(expect!["start b"]);
}

#[test]
fn a_blocked_dependent_may_be_skipped_itself() {
    let mut story = once(dag("a b<a c<b"));
    story.run("a").returns("a", failed("broke")).so_far().skip("b").events(expect![[r#"
        del-1 reopened
        b is skipped: not needed
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a failed
          b skipped: not needed
          c queued
    "#]]);
}

#[test]
fn what_runs_or_is_done_cannot_be_skipped() {
    let mut story = once(parallel("a b"));
    story.run("a b").returns("b", completed("done")).skip("a").refusal(expect![[r#"
        Subtask `a` cannot be skipped: it is running.

        Suggestion: Cancel the subtask first if it runs.
    "#]]);
    story.skip("b").refusal(expect![[r#"
        Subtask `b` cannot be skipped: it is completed.

        Suggestion: Cancel the subtask first if it runs.
    "#]]);
}

#[test]
fn a_skip_without_a_reason_has_one_all_the_same() {
    use legation_core::tree::command::Command;
    let mut story = once(parallel("a b"));
    let (delegation, subtask) = (ROOT.into(), "a".into());
    story.so_far().tell(Command::Skip { delegation, subtask, reason: String::new() });
    story.events(expect![[r#"
        a is skipped: skipped on request
    "#]]);
}

#[test]
fn a_skip_of_the_last_obstacle_ends_the_delegation() {
    let mut story = once(parallel("a b"));
    story.run("a b").returns("a", completed("done")).returns("b", blocked("no key")).so_far();
    story.skip("b").events(expect![[r#"
        del-1 reopened
        b is skipped: not needed
        del-1 ended completed
    "#]]);
}

#[test]
fn what_was_skipped_is_named_in_the_result_and_its_words_are_not() {
    let mut story = once(parallel("a b"));
    let words = blocked("no key").data(serde_json::json!({"tried": 1}));
    story.run("a b").returns("a", completed("done")).returns("b", words);
    story.skip("b").result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "a: done\nb: skipped: not needed",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
    let mut alone = once(parallel("a"));
    alone.run("a").returns("a", failed("broke"));
    alone.skip("a").result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "skipped: not needed",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
    let mut chain = once(sequential("a b"));
    chain.run("a").returns("a", completed("one")).run("b").returns("b", blocked("no key"));
    chain.skip("b").result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "one",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
}
