//! Pausing and resuming.

use expect_test::expect;

use crate::story::{ROOT, Story, completed, failed, parallel};

#[test]
fn nothing_new_starts_while_what_runs_finishes() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").so_far().pause(ROOT).events(expect![[r#"
        del-1 paused: lunch
    "#]]);
    story.owed(expect!["nothing"]);
    story.so_far().returns("a", completed("done")).start("b").events(expect![[r#"
        a#1 ended completed: done
        a is completed
        ! stale
    "#]]);
    story.owed(expect!["nothing"]);
    story.tree(expect![[r#"
        del-1 paused
          a completed
          b queued
    "#]]);
}

#[test]
fn resume_goes_on_where_it_stopped() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").pause(ROOT).so_far().resume(ROOT).events(expect![[r#"
        del-1 resumed
    "#]]);
    story.owed(expect!["start b, wake +600s"]);
}

#[test]
fn a_pause_before_anything_started_is_a_pause_too() {
    let mut story = Story::new(parallel("a"));
    story.pause(ROOT).owed(expect!["nothing"]);
    story.tree(expect![[r#"
        del-1 paused
          a queued
    "#]]);
}

#[test]
fn paused_time_does_not_count_for_the_delegation() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.limits.max_concurrent_agents = 1;
        s.limits.delegation_timeout = 1_000_000;
    });
    story.run("a").after(100).returns("a", completed("done")).pause(ROOT);
    story.tick(50_000).owed(expect!["nothing"]);
    story.resume(ROOT).owed(expect!["start b, wake +51000s"]);
    story.so_far().start("b").events(expect![[r#"
        b starts, until +50700s
    "#]]);
}

#[test]
fn paused_time_does_not_count_for_what_runs_on_either() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pause(ROOT).so_far().tick(600).events(expect![""]);
}

#[test]
fn what_was_started_but_has_no_process_yet_waits_out_a_pause() {
    let mut story = Story::new(parallel("a"));
    story.start("a").pause(ROOT).owed(expect!["nothing"]);
    story.resume(ROOT).owed(expect!["spawn a#1, wake +600s"]);
}

#[test]
fn a_timeout_names_the_time_that_was_given_and_not_the_pause() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(100).pause(ROOT).after(1_000).resume(ROOT).tick(499).so_far();
    story.tick(1).stops("a").events(expect![[r#"
        a#1 has to stop: timeout
        a#1 ended partial: Operation timed out after 600s
        a is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn pause_now_freezes_what_runs_and_its_clock() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").so_far().after(100).pause_now(ROOT).events(expect![[r#"
        del-1 paused and frozen: lunch
    "#]]);
    story.owed(expect!["freeze a#1, freeze b#1"]);
    story.go().events(expect![[r#"
        a#1 froze
        b#1 froze
    "#]]);
    story.tick(100_000).owed(expect!["nothing"]);
    story.resume(ROOT).owed(expect!["thaw a#1, thaw b#1, wake +100600s"]);
    story.go().so_far().tick(499).tick(1).events(expect![[r#"
        a#1 has to stop: timeout
        b#1 has to stop: timeout
    "#]]);
}

#[test]
fn what_is_being_cancelled_cannot_be_paused() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel(ROOT).so_far();
    story.pause(ROOT).pause_now(ROOT).events(expect![[r#"
        ! CONFLICT `del-1` is being cancelled. It cannot be paused.
        ! CONFLICT `del-1` is being cancelled. It cannot be paused.
    "#]]);
}

#[test]
fn a_pause_may_be_made_colder_but_not_made_twice() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pause(ROOT).so_far();
    story.pause(ROOT).pause_now(ROOT).pause_now(ROOT).pause(ROOT).events(expect![[r#"
        ! CONFLICT `del-1` is already paused.
        del-1 paused and frozen: lunch
        ! CONFLICT `del-1` is already paused.
        ! CONFLICT `del-1` is already paused.
    "#]]);
}

#[test]
fn a_pause_that_was_made_colder_ends_with_one_resume() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pause(ROOT).after(10).pause_now(ROOT).go().after(90).so_far();
    story.resume(ROOT).go().events(expect![[r#"
        del-1 resumed
        a#1 thawed
    "#]]);
    // The attempt's clock stood still for 90 seconds, the delegation's for 100.
    story.owed(expect!["wake +700s"]);
    let root = &story.state.delegations[story.delegation(ROOT)];
    assert_eq!(root.deadline.unwrap().since_ms(crate::story::DAWN), 3_700_000);
}

#[test]
fn a_pause_reaches_everything_below() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b c")).run("b").pause_now(ROOT);
    story.tree(expect![[r#"
        del-1 paused
          a running
            del-a paused
              b running
              c queued
    "#]]);
    story.owed(expect!["freeze a#1, freeze b#1"]);
}

#[test]
fn a_pause_below_leaves_the_rest_alone() {
    let mut story = Story::new(parallel("a x"));
    story.run("a").nested("a", parallel("b c")).run("b").pause_now("del-a");
    story.owed(expect!["freeze b#1, start x, wake +600s"]);
}

#[test]
fn two_pauses_need_two_resumes() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).pause("del-a").pause(ROOT).resume(ROOT);
    story.owed(expect!["wake +600s"]);
    story.resume("del-a").owed(expect!["start b, wake +600s"]);
}

#[test]
fn one_paused_from_above_says_what_resumes_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).pause(ROOT);
    story.resume("del-a").refusal(expect![[r#"
        `del-a` is not paused.

        Suggestion: `legation resume del-1` continues it.
    "#]]);
    story.resume(ROOT).resume(ROOT).refusal(expect![[r#"
        `del-1` is not paused.

        Suggestion: `legation status del-1` shows what it does.
    "#]]);
}

#[test]
fn a_frozen_childs_time_never_ends_after_its_parents() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(100).nested("a", parallel("b")).run("b").pause_now("del-a").go();
    story.after(300).so_far().resume("del-a").go();
    let [parent, child] = ["a", "b"].map(|n| story.state.attempts[story.attempt_no(n)].deadline);
    assert_eq!(parent, child);
}

#[test]
fn a_retry_that_comes_due_in_a_pause_waits_for_its_end() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", failed("broke")).pause(ROOT).so_far().tick(10).events(expect![[
        r#"
        a is due again
    "#
    ]]);
    story.owed(expect!["nothing"]);
    story.resume(ROOT).owed(expect!["start a, wake +3610s"]);
}

#[test]
fn an_answer_is_handed_over_in_a_pause() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").pause(ROOT);
    story.returns("b", completed("done")).owed(expect!["deliver del-a"]);
}

#[test]
fn a_pause_of_what_has_ended_is_refused() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done")).pause(ROOT).refusal(expect![[r#"
        `del-1` has already ended (completed). It cannot be paused.

        Suggestion: `legation status del-1` shows how it ended.
    "#]]);
    story.resume(ROOT).refusal(expect![[r#"
        `del-1` has already ended (completed). It cannot be resumed.

        Suggestion: `legation status del-1` shows how it ended.
    "#]]);
}

#[test]
fn a_pause_of_something_unknown_is_refused() {
    Story::new(parallel("a")).pause("del-9").refusal(expect![[r#"
        There is no delegation `del-9` here.

        Suggestion: `legation status --all` lists what there is.
    "#]]);
}

#[test]
fn an_approval_asked_for_in_a_pause_does_not_run_out_during_it() {
    let plan = parallel("a").part("a", |part| part.timeout_ms = Some(600_000));
    let mut story = Story::bounded(plan, |s| {
        s.limits.delegation_timeout = 1_000;
        s.limits.subtask_timeout = 1_000;
    });
    story.run("a").pause(ROOT).nested("a", parallel("b!")).so_far();
    story.tick(500).events(expect![""]);
    story.resume(ROOT).owed(expect!["wake +501s"]);
}
