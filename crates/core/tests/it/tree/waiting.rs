//! Waiting for delegations, one or several, and being told.

use expect_test::expect;

use crate::story::{ROOT, Story, completed, parallel};

#[test]
fn a_parent_may_wait_later_for_what_it_started_without_waiting() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").nested("a", parallel("x").detached()).run("x").so_far();
    story.awaits("a", "del-a").events(expect![[r#"
        a#1 waits for del-a
    "#]]);
    story.owed(expect!["start b, wake +600s"]);
    story.returns("x", completed("found")).owed(expect!["deliver del-a, wake +600s"]);
    assert!(story.state.delegations[story.delegation("del-a")].waits);
    story.so_far().delivered("del-a").events(expect![[r#"
        del-a told
    "#]]);
    story.owed(expect!["wake +600s"]);
}

#[test]
fn one_that_waits_for_several_goes_on_after_the_last() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").nested("a", parallel("x").modest().detached());
    story.nested("a", parallel("y").modest().detached()).run("x y");
    story.awaits("a", "del-a").awaits("a", "del-a-2").run("b");
    story.returns("x", completed("x")).owed(expect!["deliver del-a, wake +600s"]);
    story.delivered("del-a").returns("y", completed("y")).owed(expect!["wake +600s"]);
    story.returns("b", completed("b")).owed(expect!["deliver del-a-2, wake +600s"]);
    story.so_far().delivered("del-a-2").returns("a", completed("both")).events(expect![[r#"
        del-a-2 told
        a#1 ended completed: both
        a is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn waiting_twice_for_the_same_is_stale() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("x")).so_far().awaits("a", "del-a").events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn an_answer_that_was_told_is_told_again_to_one_that_waits_for_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("x").detached()).run("x");
    story.returns("x", completed("found")).delivered("del-a").owed(expect!["wake +600s"]);
    story.awaits("a", "del-a").owed(expect!["deliver del-a, wake +600s"]);
    story.delivered("del-a").tree(expect![[r#"
        del-1 running
          a running
            del-a completed
              x completed
    "#]]);
}

#[test]
fn nobody_waits_for_the_children_of_others() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", parallel("x")).so_far();
    story.awaits("b", "del-a").awaits("b", ROOT).events(expect![[r#"
        ! CONFLICT There is no delegation `del-a` here.
        ! CONFLICT There is no delegation `del-1` here.
    "#]]);
}

#[test]
fn an_answer_is_told_once() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done")).so_far();
    story.delivered(ROOT).delivered(ROOT).events(expect![[r#"
        del-1 told
        ! stale
    "#]]);
}

#[test]
fn nothing_is_told_before_the_end() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().delivered(ROOT).events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn one_that_waits_may_start_more_and_keeps_waiting_for_the_first() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("x").modest()).nested("a", parallel("y").detached());
    story.run("x y").returns("y", completed("y")).owed(expect!["deliver del-a-2, wake +600s"]);
    story
        .delivered("del-a-2")
        .returns("x", completed("x"))
        .owed(expect!["deliver del-a, wake +600s"]);
}

#[test]
fn with_the_parent_gone_nobody_is_left_to_be_told() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("x").detached()).run("x");
    story.returns("x", completed("x")).owed(expect!["deliver del-a, wake +600s"]);
    story.returns("a", completed("did not look")).owed(expect!["deliver del-1"]);
}
