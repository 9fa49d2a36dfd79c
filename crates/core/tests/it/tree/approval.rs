//! A human's yes: before a subtask starts, or in the middle of an attempt.

use expect_test::expect;
use legation_core::tree::command::{Approve, Candidate, Command};

use crate::story::{ROOT, Story, candidate, completed, dag, parallel};

#[test]
fn a_subtask_that_needs_a_yes_waits_for_it() {
    let mut story = Story::new(parallel("a! b"));
    story.tree(expect![[r#"
        del-1 pending
          a awaiting_approval
          b queued
    "#]]);
    story.owed(expect!["start b, wake +3600s"]);
    story.so_far().approve("a").events(expect![[r#"
        a approved by ana: too risky
    "#]]);
    story.owed(expect!["start a, start b, wake +3600s"]);
}

#[test]
fn a_no_is_the_end_of_the_subtask() {
    let mut story = Story::new(parallel("a! b"));
    story.so_far().reject("a").events(expect![[r#"
        a rejected by ana: too risky
        a is failed: Rejected by ana: too risky
    "#]]);
    story.tree(expect![[r#"
        del-1 pending
          a failed: Rejected by ana: too risky
          b queued
    "#]]);
}

#[test]
fn nobody_there_means_blocked_at_the_deadline() {
    let mut story = Story::new(parallel("a!"));
    story.owed(expect!["wake +3600s"]);
    story.so_far().tick(3_600).events(expect![[r#"
        del-1 ran out of time
        a is blocked: Nobody approved it in time.
        del-1 ended blocked
    "#]]);
    story.tree(expect![[r#"
        del-1 blocked
          a blocked: Nobody approved it in time.
    "#]]);
}

#[test]
fn a_yes_is_asked_for_when_the_turn_has_come() {
    let mut story = Story::new(dag("a b!<a"));
    story.run("a").tree(expect![[r#"
        del-1 running
          a running
          b pending
    "#]]);
    story.returns("a", completed("done")).tree(expect![[r#"
        del-1 running
          a completed
          b awaiting_approval
    "#]]);
}

#[test]
fn a_retry_of_what_was_refused_asks_again() {
    let mut story = Story::new(parallel("a! b"));
    story.reject("a").retry("a").tree(expect![[r#"
        del-1 pending
          a awaiting_approval
          b queued
    "#]]);
}

#[test]
fn a_retry_of_what_was_refused_knows_why() {
    let mut story = Story::new(parallel("a! b"));
    story.reject("a").so_far().retry_with_note("a", "it is safe now").events(expect![[r#"
        a is tried again (request) at +0s, told "It ended failed before: Rejected by ana: too risky\nit is safe now"
    "#]]);
}

#[test]
fn a_retry_of_what_nobody_answered_asks_again_until_a_new_deadline() {
    let mut story = Story::new(parallel("a!"));
    story.tick(3_600).retry("a").tree(expect![[r#"
        del-1 pending
          a awaiting_approval
    "#]]);
    story.owed(expect!["wake +7200s"]);
    story.so_far().tick(3_600).events(expect![[r#"
        del-1 ran out of time
        a is blocked: Nobody approved it in time.
        del-1 ended blocked
    "#]]);
}

#[test]
fn another_agent_needs_a_yes_of_its_own() {
    let mut story = Story::bounded(parallel("a! b"), |s| s.recovery.auto_retry = false);
    story.approve("a").run("a").returns("a", crate::story::failed("broke"));
    let asked = Candidate { needs_approval: true, ..candidate("c") };
    story.retry_as("a", asked).tree(expect![[r#"
        del-1 running
          a awaiting_approval
          b queued
    "#]]);
    story.approve("a").run("a").returns("a", crate::story::failed("broke")).retry("a");
    story.tree(expect![[r#"
        del-1 running
          a queued
          b queued
    "#]]);
}

#[test]
fn whoever_is_asked_about_another_agent_has_until_the_deadline() {
    // Nothing has started, so no clock runs yet.
    let mut story = Story::new(parallel("a"));
    story.cancel_one("a").owed(expect!["deliver del-1"]);
    story.retry_as("a", Candidate { needs_approval: true, ..candidate("c") });
    story.owed(expect!["wake +3600s"]);
    story.so_far().tick(3_600).events(expect![[r#"
        del-1 ran out of time
        a is blocked: Nobody approved it in time.
        del-1 ended blocked
    "#]]);
}

#[test]
fn a_retry_after_a_yes_does_not_ask_again() {
    let mut story = Story::bounded(parallel("a! b"), |s| s.recovery.auto_retry = false);
    story.approve("a").run("a").returns("a", crate::story::failed("broke")).retry("a");
    story.tree(expect![[r#"
        del-1 running
          a queued
          b queued
    "#]]);
}

#[test]
fn what_a_skip_sets_free_is_asked_for_until_a_deadline() {
    let mut story = Story::bounded(dag("a b!<a"), |s| s.recovery.auto_retry = false);
    story.run("a").returns("a", crate::story::failed("broke")).after(10_000).skip("a");
    story.tree(expect![[r#"
        del-1 running
          a skipped: not needed
          b awaiting_approval
    "#]]);
    story.owed(expect!["wake +13600s"]);
}

#[test]
fn one_word_answers_everything_that_waits() {
    let mut story = Story::new(parallel("a! b! c"));
    story.run("c").asks("c", "web").so_far();
    let (by, reason) = ("ana".to_owned(), "fine".to_owned());
    let delegation = ROOT.into();
    let approve = Approve { delegation, subtask: None, approved: true, by, reason };
    story.tell(Command::Approve(approve)).events(expect![[r#"
        a approved by ana: fine
        b approved by ana: fine
        c approved by ana: fine
    "#]]);
}

#[test]
fn an_attempt_that_asks_gives_its_slot_back() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").so_far().asks("a", "web").events(expect![[r#"
        a#1 asks for web
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a awaiting_approval
          b queued
    "#]]);
    story.owed(expect!["start b, wake +600s"]);
}

#[test]
fn an_answer_takes_a_slot_again_and_waits_for_one() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").asks("a", "web").run("b").approve("a").so_far();
    story.owed(expect!["wake +600s"]);
    story.answered("a").events(expect![[r#"
        ! stale
    "#]]);
    story.returns("b", completed("done")).owed(expect!["answer a#1, wake +600s"]);
    story.so_far().answered("a").events(expect![[r#"
        a#1 was told the answer
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a running
          b completed
    "#]]);
}

#[test]
fn a_no_in_the_middle_is_told_to_the_attempt_which_goes_on() {
    let mut story = Story::new(parallel("a"));
    story.run("a").asks("a", "web").so_far().reject("a").answered("a").events(expect![[r#"
        a rejected by ana: too risky
        a#1 was told the answer
    "#]]);
    story.returns("a", completed("did without")).tree(expect![[r#"
        del-1 completed
          a completed
    "#]]);
}

#[test]
fn an_attempt_that_nobody_answers_is_stopped_and_blocked() {
    let mut story = Story::new(parallel("a"));
    story.run("a").asks("a", "web").so_far().tick(600).events(expect![[r#"
        a#1 has to stop: unanswered
    "#]]);
    story.stops("a").events(expect![[r#"
        a#1 ended blocked: Operation waited for an approval that nobody gave
        a is blocked
        del-1 ended blocked
    "#]]);
}

#[test]
fn asking_twice_at_once_is_stale() {
    let mut story = Story::new(parallel("a"));
    story.run("a").asks("a", "web").so_far().asks("a", "shell").events(expect![[r#"
        ! stale
    "#]]);
    story.approve("a").so_far().asks("a", "shell").events(expect![[r#"
        ! stale
    "#]]);
    story.answered("a").asks("a", "shell").events(expect![[r#"
        a#1 was told the answer
        a#1 asks for shell
    "#]]);
}

#[test]
fn one_that_has_to_stop_is_told_no_answer() {
    let mut story = Story::new(parallel("a"));
    story
        .run("a")
        .asks("a", "web")
        .approve("a")
        .cancel(ROOT)
        .owed(expect!["stop a#1 (cancelled), wake +3600s"]);
    story.so_far().answered("a").events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn one_that_has_to_stop_asks_nobody() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel(ROOT).so_far().asks("a", "web").events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn an_approval_of_what_does_not_wait_is_refused() {
    let mut story = Story::new(parallel("a b!"));
    story.run("a").approve("a").refusal(expect![[r#"
        Nothing in `del-1` waits for an approval.

        Suggestion: `legation status del-1` shows what it waits for.
    "#]]);
    story.approve("b").approve("b").refusal(expect![[r#"
        Nothing in `del-1` waits for an approval.

        Suggestion: `legation status del-1` shows what it waits for.
    "#]]);
}

#[test]
fn an_attempt_may_ask_while_it_waits_for_its_children() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).asks("a", "web").approve("a").so_far();
    story.answered("a").events(expect![[r#"
        a#1 was told the answer
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a running
            del-a pending
              b queued
    "#]]);
    story.run("b").returns("b", completed("done")).owed(expect!["deliver del-a, wake +600s"]);
}

#[test]
fn children_that_end_while_their_parent_asks_do_not_wake_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).asks("a", "web").run("b");
    story.returns("b", completed("done")).delivered("del-a").tree(expect![[r#"
        del-1 running
          a awaiting_approval
            del-a completed
              b completed
    "#]]);
    story.approve("a").answered("a").returns("a", completed("done"));
    assert_eq!(story.status(), "completed");
}

#[test]
fn an_approval_of_something_unknown_is_refused() {
    let mut story = Story::new(parallel("a!"));
    let (by, reason, subtask) = ("ana".to_owned(), String::new(), Some("z".into()));
    let delegation = ROOT.into();
    let approve = Approve { delegation, subtask, approved: true, by, reason };
    story.so_far().tell(Command::Approve(approve)).events(expect![[r#"
        ! CONFLICT There is no subtask `z` in `del-1`.
    "#]]);
}

#[test]
fn a_no_without_a_reason_says_so() {
    let mut story = Story::new(parallel("a!"));
    let (by, reason, subtask) = ("ana".to_owned(), String::new(), None);
    let delegation = ROOT.into();
    let approve = Approve { delegation, subtask, approved: false, by, reason };
    story.so_far().tell(Command::Approve(approve)).events(expect![[r#"
        a rejected by ana: 
        a is failed: Rejected by ana: no reason given
        del-1 ended failed
    "#]]);
}
