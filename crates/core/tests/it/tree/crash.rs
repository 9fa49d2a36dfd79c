//! The runtime may be killed at any instant.

use expect_test::expect;
use legation_core::tree::command::Command;

use crate::story::{ROOT, Story, completed, parallel, sequential};

#[test]
fn a_young_tree_starts_what_was_lost_again() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").after(599).so_far().crash(false).events(expect![[r#"
        del-1 paused: the runtime was down
        del-1 resumed
        a#1 ended failed: Operation was lost when the runtime stopped
        a is tried again (lost) at +599s
        b#1 ended failed: Operation was lost when the runtime stopped
        b is tried again (lost) at +599s
    "#]]);
    story.owed(expect!["start a, start b, wake +4199s"]);
}

#[test]
fn yesterdays_crash_spends_no_money_by_surprise() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").after(600).so_far().crash(false).events(expect![[r#"
        del-1 paused: the runtime stopped while it ran; `legation resume` continues it
        a#1 ended failed: Operation was lost when the runtime stopped
        a is tried again (lost) at +600s
    "#]]);
    story.owed(expect!["nothing"]);
    story.so_far().resume(ROOT).owed(expect!["start a, start b, wake +4200s"]);
}

#[test]
fn the_time_in_which_the_runtime_was_down_does_not_count() {
    for serving in [true, false] {
        let mut story = Story::new(sequential("a b"));
        story.run("a").after(100).returns("a", completed("done")).run("b").after(86_400);
        story.crash(serving).after(500).resume(ROOT).run("b").after(100).so_far();
        story.returns("b", completed("done"));
        assert_eq!(story.status(), "completed", "{serving}");
    }
}

#[test]
fn what_survived_the_crash_has_used_its_own_time() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(700).so_far().tell(Command::Recover { serving: true });
    story.tell(Command::Tick).events(expect![[r#"
        del-1 paused: the runtime was down
        del-1 resumed
        a#1 has to stop: timeout
    "#]]);
}

#[test]
fn an_old_tree_goes_on_where_somebody_keeps_the_engine_running() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(100_000).so_far().crash(true).events(expect![[r#"
        del-1 paused: the runtime was down
        del-1 resumed
        a#1 ended failed: Operation was lost when the runtime stopped
        a is tried again (lost) at +100000s
    "#]]);
    story.owed(expect!["start a, wake +103600s"]);
}

#[test]
fn a_paused_tree_stays_paused() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").pause(ROOT).after(100_000).so_far().crash(false).events(expect![[r#"
        a#1 ended failed: Operation was lost when the runtime stopped
        a is tried again (lost) at +100000s
    "#]]);
}

#[test]
fn a_tree_that_has_ended_is_left_alone() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done")).after(100_000).so_far();
    story.crash(false).events(expect![""]);
    story.owed(expect!["deliver del-1"]);
}

#[test]
fn a_crash_before_anything_happened_is_nothing() {
    let mut story = Story::blank();
    story.crash(false).events(expect![""]);
}

#[test]
fn a_lost_attempt_burns_no_retry() {
    let mut story = Story::bounded(parallel("a"), |s| s.recovery.auto_retry = false);
    for _ in 0..3 {
        story.run("a").crash(true);
    }
    assert_eq!(story.state.subtasks[story.subtask("a")].retries, 0);
    story.run("a").returns("a", completed("at last"));
    assert_eq!(story.status(), "completed");
}

#[test]
fn what_was_found_again_goes_on() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().tell(Command::Recover { serving: true }).spawned("a");
    story.events(expect![[r#"
        del-1 paused: the runtime was down
        del-1 resumed
        ! stale
    "#]]);
    story.returns("a", completed("survived")).tree(expect![[r#"
        del-1 completed
          a completed
    "#]]);
}

#[test]
fn what_a_lost_parent_had_delegated_is_lost_with_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").so_far().crash(true).events(expect![[r#"
        del-1 paused: the runtime was down
        del-1 resumed
        a#1 ended failed: Operation was lost when the runtime stopped
        del-a cancelled by legation: the attempt that asked has ended
        b#1 has to stop: cancelled
        b#1 ended failed: Operation was cancelled
        b is cancelled
        del-a ended cancelled
        a is tried again (lost) at +0s
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a queued
            del-a cancelled
              b cancelled
    "#]]);
}

#[test]
fn one_that_had_to_stop_when_the_runtime_died_is_not_started_again() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").cancel_one("a").tick(600).so_far().crash(true).events(expect![[r#"
        del-1 paused: the runtime was down
        del-1 resumed
        a#1 ended failed: Operation was cancelled
        a is cancelled
        b#1 ended partial: Operation timed out after 600s
        b is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn a_dependent_subtask_starts_after_a_crash() {
    let mut story = Story::new(sequential("a b"));
    story
        .run("a")
        .returns("a", completed("one").files(&["x"]))
        .crash(true)
        .owed(expect!["merge a#1, wake +3600s"]);
    story.merged("a").crash(true).owed(expect!["start b, wake +3600s"]);
}

#[test]
fn losing_twice_is_stale() {
    let mut story = Story::new(parallel("a"));
    story.run("a").crash(true);
    let attempt = story.attempt("a");
    story.so_far().tell(Command::Lose { attempt }).events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn the_same_thing_is_owed_before_and_after_a_crash() {
    let mut story = Story::new(parallel("a b c"));
    story.run("a").start("b").returns("a", completed("done").files(&["x"]));
    let state = legation_core::tree::replay(&story.log).unwrap();
    assert_eq!(legation_core::tree::owed(&state), legation_core::tree::owed(&story.state));
}
