//! Stopping for real: stalls, and what a stop leaves behind.

use expect_test::expect;
use legation_core::tree::command::Command;

use crate::story::{ROOT, Story, completed, parallel};

fn stalls(story: &mut Story, name: &str) {
    let attempt = story.attempt(name);
    story.tell(Command::Stall { attempt });
}

#[test]
fn one_that_makes_no_progress_is_stopped_and_salvaged() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(120).so_far();
    stalls(&mut story, "a");
    story.events(expect![[r#"
        a#1 has to stop: stalled
    "#]]);
    story.returns("a", completed("x").files(&["half.txt"])).events(expect![[r#"
        a#1 ended partial: Operation made no progress for 120s
        a is partial
        del-1 ended partial
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "Operation made no progress for 120s",
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
fn one_that_waits_for_others_does_not_stall() {
    let mut story = Story::new(parallel("a b c"));
    story.run("a b").start("c").nested("a", parallel("x")).asks("b", "web").so_far();
    for name in ["a", "b", "c"] {
        stalls(&mut story, name);
    }
    story.events(expect![[r#"
        ! stale
        ! stale
        ! stale
    "#]]);
}

#[test]
fn one_with_children_at_work_does_not_stall_though_it_does_not_wait() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("x").detached()).so_far();
    stalls(&mut story, "a");
    story.events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn the_first_reason_to_stop_stays_the_reason() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.token_budget_per_child = 10_000);
    story.run("a").uses("a", 10_001).so_far();
    stalls(&mut story, "a");
    story.tick(600).cancel_one("a").stops("a").events(expect![[r#"
        ! stale
        ! CONFLICT Subtask `a` is about to end (running).
        a#1 ended partial: Operation was stopped at its budget
        a is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn a_stop_is_owed_until_the_attempt_has_ended() {
    let mut story = Story::new(parallel("a"));
    story.start("a").cancel(ROOT).owed(expect!["stop a#1 (cancelled), wake +3600s"]);
    story.spawned("a").owed(expect!["stop a#1 (cancelled), wake +3600s"]);
    story.stops("a").owed(expect!["deliver del-1"]);
}

#[test]
fn a_workspace_goes_once_nothing_more_is_read_from_it() {
    let mut story = Story::new(parallel("a b"));
    story.start("a").spawned_in("a", Some("/w/a")).owed(expect!["start b, wake +600s"]);
    story
        .returns("a", completed("done").files(&["a.txt"]))
        .owed(expect!["start b, merge a#1, wake +3600s"]);
    story.merged("a").owed(expect!["start b, clear a#1, wake +3600s"]);
    let (attempt, kept) = (story.attempt("a"), Some("refs/legation/a".to_owned()));
    let removed = Command::WorkspaceRemoved { attempt, kept };
    story.so_far().tell(removed.clone()).tell(removed).events(expect![[r#"
        a#1 cleared away, kept as refs/legation/a
        ! stale
    "#]]);
    assert!(!story.state.is_over());
}

#[test]
fn the_workspace_of_a_failed_attempt_goes_before_the_next_one_ends() {
    let mut story = Story::new(parallel("a"));
    story.start("a").spawned_in("a", Some("/w/a-1"));
    story.returns("a", crate::story::failed("broke")).owed(expect!["clear a#1, wake +2009ms"]);
}

#[test]
fn an_attempt_that_never_came_to_run_may_have_left_a_workspace() {
    let mut story = Story::new(parallel("a"));
    story.start("a").cancel(ROOT).stops("a").owed(expect!["deliver del-1, clear a#1"]);
    story.go().owed(expect!["nothing"]);
    assert!(story.state.is_over());
}

#[test]
fn a_tree_is_over_when_all_is_told_and_cleared_away() {
    let mut story = Story::new(parallel("a"));
    assert!(!Story::blank().state.is_over());
    assert!(!story.state.is_over());
    story.start("a").spawned_in("a", Some("/w/a")).returns("a", completed("done"));
    assert!(!story.state.is_over());
    story.delivered(ROOT);
    assert!(!story.state.is_over());
    story.go();
    assert!(story.state.is_over());
}
