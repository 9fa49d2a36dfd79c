//! Reports may come twice, late, or in another order.

use expect_test::expect;
use legation_core::returns::Tokens;
use legation_core::time::Now;
use legation_core::tree::command::{Command, Progress, Spawned, Start};
use legation_core::tree::event::{MergeOutcome, Process};

use crate::story::{ROOT, Story, completed, failed, parallel};

fn progresses(story: &mut Story, name: &str, current: u64) {
    let attempt = story.attempt(name);
    let last_action = "looked".to_owned();
    story.tell(Command::Progress(Progress { attempt, current, total: 3, last_action }));
}

#[test]
fn the_same_report_twice_says_nothing_new() {
    let mut story = Story::new(parallel("a"));
    story.run("a").spawned("a").uses("a", 10).uses("a", 10).pays("a", 0.1).pays("a", 0.1);
    progresses(&mut story, "a", 1);
    progresses(&mut story, "a", 1);
    story.context("a", 5).context("a", 5);
    story.events(expect![[r#"
        tree opened
        del-1 accepted: parallel a
        a starts, until +600s
        a#1 runs
        ! stale
        a#1 has used 10 tokens
        ! stale
        a#1 has used 10 tokens, $0.10
        ! stale
        a#1 is at 1 of 3: looked
        ! stale
        a#1 has used 10 tokens, context 5
        ! stale
    "#]]);
}

#[test]
fn figures_only_ever_grow() {
    let mut story = Story::new(parallel("a"));
    story.run("a").uses("a", 100).so_far().uses("a", 40).events(expect![[r#"
        ! stale
    "#]]);
    let late = Tokens { input: 30, output: 40, ..Tokens::default() };
    story.reports("a", |usage| usage.tokens = late).events(expect![[r#"
        a#1 has used 130 tokens
    "#]]);
    assert_eq!(story.state.ledger.accounts()[0].used.tokens, 130);
}

#[test]
fn a_report_of_nothing_is_still_the_first_sign_of_counting() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().uses("a", 0).uses("a", 0).pays("a", 0.0).pays("a", 0.0);
    story.events(expect![[r#"
        a#1 has used 0 tokens
        ! stale
        a#1 has used 0 tokens, $0.00
        ! stale
    "#]]);
}

#[test]
fn everything_about_an_ended_attempt_is_stale() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").returns("a", completed("done")).so_far();
    story.spawned("a").uses("a", 10).asks("a", "web").answered("a").returns("a", failed("late"));
    progresses(&mut story, "a", 1);
    let attempt = || story.attempt("a");
    let late = [
        Command::Stall { attempt: attempt() },
        Command::Froze { attempt: attempt(), frozen: true },
        Command::Lose { attempt: attempt() },
        Command::WorkspaceRemoved { attempt: attempt(), kept: None },
        Command::Merged { attempt: attempt(), outcome: MergeOutcome::Clean { commit: None } },
    ];
    for command in late {
        story.tell(command);
    }
    story.events(expect![[r#"
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
        ! stale
    "#]]);
}

#[test]
fn everything_about_an_unknown_attempt_is_refused() {
    let mut story = Story::new(parallel("a"));
    story.so_far().tell(Command::Stall { attempt: "exec-x".into() }).events(expect![[r#"
        ! CONFLICT There is no attempt `exec-x` here.
    "#]]);
}

#[test]
fn an_end_may_come_before_the_news_that_it_ran() {
    let mut story = Story::new(parallel("a"));
    story.start("a").so_far().returns("a", completed("quick")).spawned("a").events(expect![[r#"
        a#1 ended completed: quick
        a is completed
        del-1 ended completed
        ! stale
    "#]]);
}

#[test]
fn one_that_asks_before_anybody_said_that_it_runs_is_spawned_once() {
    let mut story = Story::new(parallel("a"));
    story.start("a").asks("a", "web").owed(expect!["spawn a#1, wake +600s"]);
    story.so_far().spawned_in("a", Some("/w/a")).spawned("a").events(expect![[r#"
        a#1 runs
        ! stale
    "#]]);
    story.owed(expect!["wake +600s"]);
    story.approve("a").answered("a").owed(expect!["wake +600s"]);
    let attempt = &story.state.attempts[story.attempt_no("a")];
    assert_eq!(attempt.workspace.as_deref(), Some("/w/a"));
}

#[test]
fn one_that_delegates_before_anybody_said_that_it_runs_is_spawned_once() {
    let mut story = Story::new(parallel("a"));
    story.start("a").nested("a", parallel("b")).spawned("a").owed(expect!["start b, wake +600s"]);
}

#[test]
fn one_told_to_stop_before_it_ran_may_still_say_where_it_works() {
    let mut story = Story::new(parallel("a"));
    story.start("a").cancel(ROOT).so_far().spawned_in("a", Some("/w/a")).events(expect![[r#"
        a#1 runs
    "#]]);
    story.stops("a").owed(expect!["deliver del-1, clear a#1"]);
}

#[test]
fn how_to_find_a_process_again_is_remembered() {
    let mut story = Story::new(parallel("a"));
    let process = Some(Process { pid: 42, started: 7 });
    story.start("a");
    let attempt = story.attempt("a");
    let (workspace, base) = (Some("/w/a".to_owned()), Some("abc".to_owned()));
    story.tell(Command::Spawned(Spawned { attempt, process, workspace, base }));
    let attempt = &story.state.attempts[story.attempt_no("a")];
    assert_eq!((attempt.process, attempt.base.as_deref()), (process, Some("abc")));
}

#[test]
fn a_start_is_stale_once_the_tree_has_moved_on() {
    let mut story = Story::new(parallel("a b"));
    story.start("a").so_far().start("a").events(expect![[r#"
        ! stale
    "#]]);
    let (delegation, subtask, session) = (ROOT.into(), "b".into(), "sess_1_aaaaaa".into());
    let attempt = story.attempt("a");
    story.tell(Command::Start(Start { delegation, subtask, attempt, session }));
    story.events(expect![[r#"
        ! stale
    "#]]);
    story.cancel_one("b").so_far().start("b").events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn a_merge_that_nobody_waits_for_is_stale() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().merged("a").events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn a_rollback_that_nobody_waits_for_is_stale() {
    let mut story = Story::new(parallel("a"));
    story.so_far().tell(Command::RolledBack { delegation: ROOT.into() }).events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn freezing_what_is_frozen_is_stale() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pause_now(ROOT).go().so_far();
    let attempt = story.attempt("a");
    story.tell(Command::Froze { attempt: attempt.clone(), frozen: true });
    story.tell(Command::Froze { attempt, frozen: false }).events(expect![[r#"
        ! stale
        a#1 thawed
    "#]]);
    story.owed(expect!["freeze a#1"]);
}

#[test]
fn progress_and_last_action_are_shown_as_they_come() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far();
    progresses(&mut story, "a", 1);
    progresses(&mut story, "a", 2);
    story.events(expect![[r#"
        a#1 is at 1 of 3: looked
        a#1 is at 2 of 3: looked
    "#]]);
}

#[test]
fn nothing_follows_where_nothing_is_open() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().tell(Command::Advance).tell(Command::Tick).events(expect![""]);
}

#[test]
fn what_could_not_be_cleared_away_is_told_and_over() {
    let mut story = Story::new(parallel("a b"));
    story.run("b").start("a").spawned_in("a", Some("/w/a"));
    story.returns("a", completed("done").files(&["a.txt"])).merged("a");
    story.cancel_with_rollback(ROOT).stops("b").so_far();
    let (attempt, delegation) = (story.attempt("a"), ROOT.into());
    let left = Command::WorkspaceLeft { attempt, why: "/w/a was left: disk full".to_owned() };
    let merged = Command::ResultLeft { delegation, why: "it is checked out".to_owned() };
    story.tell(left.clone()).tell(merged.clone()).tell(left).tell(merged).events(expect![[r#"
        a#1 left: /w/a was left: disk full
        del-1 not rolled back: it is checked out
        ! stale
        ! stale
    "#]]);
    story.owed(expect!["deliver del-1"]);
    let delegation = story.delegation(ROOT);
    let view = legation_core::tree::view::status(&story.state, delegation, Now(0));
    assert_eq!(view.left_behind, ["/w/a was left: disk full", "it is checked out"]);
    assert!(!story.state.delegations[delegation].rolled_back);
}
