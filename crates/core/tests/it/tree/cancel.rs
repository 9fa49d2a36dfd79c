//! Cancelling: a wish first, a fact once everything has stopped.

use expect_test::expect;

use crate::story::{ROOT, Story, completed, dag, failed, parallel, sequential};

#[test]
fn a_cancel_reaches_grandchildren_first() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").nested("b", parallel("c d")).run("c");
    story.so_far().cancel(ROOT).events(expect![[r#"
        del-b cancelled by ana: enough
        c#1 has to stop: cancelled
        d is cancelled
        del-a cancelled by ana: enough
        b#1 has to stop: cancelled
        del-1 cancelled by ana: enough
        a#1 has to stop: cancelled
    "#]]);
    // Nobody is told before everything below has stopped.
    story.owed(expect!["stop c#1 (cancelled), wake +3600s"]);
    story.tree(expect![[r#"
        del-1 running
          a running
            del-a running
              b running
                del-b running
                  c running
                  d cancelled
    "#]]);
    story.stops("c").owed(expect!["stop b#1 (cancelled), deliver del-b, wake +3600s"]);
    story.stops("b").owed(expect!["stop a#1 (cancelled), deliver del-a, wake +3600s"]);
}

#[test]
fn a_delegation_is_cancelled_once_all_of_it_has_stopped() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").cancel(ROOT).so_far().stops("a").events(expect![[r#"
        a#1 ended failed: Operation was cancelled
        a is cancelled
    "#]]);
    story.stops("b").events(expect![[r#"
        b#1 ended failed: Operation was cancelled
        b is cancelled
        del-1 ended cancelled
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        cancelled {
          "summary": "a: Operation was cancelled\nb: Operation was cancelled",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn what_has_not_started_ends_at_once() {
    let mut story = Story::new(sequential("a b"));
    story.so_far().cancel(ROOT).events(expect![[r#"
        del-1 cancelled by ana: enough
        a is cancelled
        b is cancelled
        del-1 ended cancelled
    "#]]);
}

#[test]
fn cancelling_twice_is_an_answer_and_changes_nothing() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel(ROOT).so_far().cancel(ROOT).events(expect![[r#"
        ! CONFLICT `del-1` is already being cancelled.
    "#]]);
    story.refusal(expect![[r#"
        `del-1` is already being cancelled.

        Suggestion: It ends when everything in it has stopped.
    "#]]);
    story.stops("a").so_far().cancel(ROOT).refusal(expect![[r#"
        `del-1` has already ended (cancelled). It cannot be cancelled.

        Suggestion: `legation status del-1` shows how it ended.
    "#]]);
}

#[test]
fn nothing_starts_after_a_cancel() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").cancel(ROOT).so_far().start("b").retry("b").skip("b").events(expect![[r#"
        ! stale
        ! CONFLICT `del-1` was cancelled, or the agent that asked has ended.
        ! CONFLICT `del-1` was cancelled, or the agent that asked has ended.
    "#]]);
}

#[test]
fn a_failure_after_a_cancel_is_not_tried_again() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel(ROOT).so_far().returns("a", failed("broke")).events(expect![[r#"
        a#1 ended failed: Operation was cancelled
        a is cancelled
        del-1 ended cancelled
    "#]]);
}

#[test]
fn the_work_of_a_cancelled_attempt_is_kept_and_named() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel(ROOT).returns("a", completed("nearly").files(&["half.txt"]));
    let end = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    expect![[r#"
        [
          {
            "type": "partial",
            "path": "half.txt"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&end.answer.artifacts).unwrap());
    assert_eq!(end.answer.errors[0].message, "Somebody cancelled it: enough");
}

#[test]
fn a_cancel_in_a_pause_ends_the_pause_with_everything_else() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pause_now(ROOT).go().cancel(ROOT).owed(expect!["stop a#1 (cancelled)"]);
    story.stops("a").tree(expect![[r#"
        del-1 cancelled
          a cancelled
    "#]]);
}

#[test]
fn a_cancelled_child_leaves_its_parent_with_an_answer() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").cancel("del-a").stops("b").so_far();
    story.owed(expect!["deliver del-a, wake +600s"]);
    story.delivered("del-a").returns("a", completed("without it")).tree(expect![[r#"
        del-1 completed
          a completed
            del-a cancelled
              b cancelled
    "#]]);
}

#[test]
fn one_subtask_can_be_cancelled_alone_with_what_it_delegated() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", parallel("c")).run("c").so_far().cancel_one("a");
    story.events(expect![[r#"
        del-a cancelled by ana: enough
        c#1 has to stop: cancelled
        a#1 has to stop: cancelled
    "#]]);
    story.stops("c").stops("a").returns("b", completed("done")).events(expect![[r#"
        c#1 ended failed: Operation was cancelled
        c is cancelled
        del-a ended cancelled
        a#1 ended failed: Operation was cancelled
        a is cancelled
        b#1 ended completed: done
        b is completed
        del-1 ended partial
    "#]]);
}

#[test]
fn a_cancelled_subtask_blocks_what_depends_on_it_and_can_be_retried() {
    let mut story = Story::new(dag("a b<a"));
    story.run("a").cancel_one("a").so_far().stops("a").tree(expect![[r#"
        del-1 failed
          a cancelled
          b blocked
    "#]]);
    story.retry("a").run("a").returns("a", completed("done")).owed(expect!["start b, wake +3600s"]);
}

#[test]
fn a_queued_subtask_that_is_cancelled_never_starts() {
    let mut story = Story::new(parallel("a b"));
    story.so_far().cancel_one("b").events(expect![[r#"
        b is cancelled
    "#]]);
    story.owed(expect!["start a"]);
}

#[test]
fn a_subtask_that_has_ended_cannot_be_cancelled() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").returns("a", completed("done")).cancel_one("a").refusal(expect![[r#"
        Subtask `a` has already ended.

        Suggestion: `legation retry` or `legation skip` moves on.
    "#]]);
}

#[test]
fn a_subtask_that_is_about_to_end_is_not_cancelled_again() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").cancel_one("a").cancel_one("a").refusal(expect![[r#"
        Subtask `a` is about to end (running).

        Suggestion: Wait for its end.
    "#]]);
    story.returns("b", completed("done").files(&["b.txt"])).cancel_one("b").refusal(expect![[r#"
        Subtask `b` is about to end (merging).

        Suggestion: Wait for its end.
    "#]]);
}

#[test]
fn what_is_being_merged_is_not_torn_apart_by_a_cancel() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").returns("a", completed("done").files(&["a.txt"])).so_far();
    story
        .cancel(ROOT)
        .owed(expect!["stop b#1 (cancelled), merge a#1, break off the merge of a#1, wake +3600s"]);
    story.so_far().merged("a").stops("b").events(expect![[r#"
        a merged
        a is completed
        b#1 ended failed: Operation was cancelled
        b is cancelled
        del-1 ended cancelled
    "#]]);
}

#[test]
fn a_cancel_below_leaves_what_is_above_alone_and_still_ends_what_it_names() {
    let mut story = Story::new(parallel("a x"));
    story.run("a").nested("a", parallel("b c")).run("b").cancel("del-a").so_far();
    story.retry("c").nested("b", parallel("y")).start("x").events(expect![[r#"
        ! CONFLICT `del-a` was cancelled, or the agent that asked has ended.
        ! PERMISSION_DENIED This attempt has ended or has to stop. It cannot delegate any more.
        x starts, until +600s
    "#]]);
}

#[test]
fn a_rollback_takes_back_what_was_merged_once_all_has_stopped() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").returns("a", completed("done").files(&["a.txt"])).merged("a").so_far();
    story.cancel_with_rollback(ROOT).owed(expect!["stop b#1 (cancelled), wake +3600s"]);
    story.stops("b").owed(expect!["deliver del-1, roll back del-1"]);
    story.so_far().go().events(expect![[r#"
        del-1 told
        del-1 rolled back
    "#]]);
    story.owed(expect!["nothing"]);
}

#[test]
fn a_rollback_of_nothing_is_nothing() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel_with_rollback(ROOT).stops("a").owed(expect!["deliver del-1"]);
}

#[test]
fn a_parent_that_ends_cancels_what_nobody_waits_for_any_more() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b").detached()).run("b").so_far();
    story.returns("a", completed("done without it")).events(expect![[r#"
        a#1 ended partial: done without it
        del-a cancelled by legation: the attempt that asked has ended
        b#1 has to stop: cancelled
    "#]]);
    story.owed(expect!["stop b#1 (cancelled), wake +3600s"]);
    story.stops("b").events(expect![[r#"
        b#1 ended failed: Operation was cancelled
        b is cancelled
        del-a ended cancelled
        a is partial
        del-1 ended partial
    "#]]);
    let orphan = &story.state.delegations[story.delegation("del-a")];
    assert!(orphan.told, "nobody is left to be told");
}

#[test]
fn a_cancel_of_something_unknown_is_refused() {
    let mut story = Story::new(parallel("a"));
    story.so_far().cancel("del-9").events(expect![[r#"
        ! CONFLICT There is no delegation `del-9` here.
    "#]]);
    use legation_core::tree::command::{Cancel, Command};
    let (by, reason) = (String::new(), String::new());
    let (delegation, subtask) = (ROOT.into(), Some("z".into()));
    let cancel = Cancel { delegation, subtask, by, reason, rollback: false };
    story.tell(Command::Cancel(cancel)).events(expect![[r#"
        ! CONFLICT There is no subtask `z` in `del-1`.
    "#]]);
}

#[test]
fn one_that_was_already_being_stopped_when_the_cancel_came_is_cancelled_too() {
    let mut story = Story::new(parallel("a"));
    story.run("a").tick(600).cancel(ROOT).so_far().stops("a").events(expect![[r#"
        a#1 ended partial: Operation timed out after 600s
        a is cancelled
        del-1 ended cancelled
    "#]]);
}

#[test]
fn one_that_was_already_being_stopped_when_the_rest_had_to_stop_is_cancelled_too() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.recovery.auto_retry = false;
        s.recovery.continue_on_partial_failure = false;
    });
    story.run("a").after(1).run("b").tick(599).returns("b", failed("broke")).so_far();
    story.stops("a").events(expect![[r#"
        a#1 ended partial: Operation timed out after 600s
        a is cancelled
        del-1 ended failed
    "#]]);
}
