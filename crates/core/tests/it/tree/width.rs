//! The bound in width: what does not fit waits, and is never refused.

use expect_test::expect;

use crate::story::{ROOT, Story, completed, parallel};

fn narrow(parts: &str, width: u32) -> Story {
    Story::bounded(parallel(parts), |s| s.limits.max_concurrent_agents = width)
}

#[test]
fn what_does_not_fit_waits_in_its_order() {
    let mut story = narrow("a b c d", 2);
    story.owed(expect!["start a, start b"]);
    story.run("a b").owed(expect!["wake +600s"]);
    story.tree(expect![[r#"
        del-1 running
          a running
          b running
          c queued
          d queued
    "#]]);
    story.returns("b", completed("done")).owed(expect!["start c, wake +600s"]);
}

#[test]
fn a_start_without_a_free_slot_is_stale() {
    let mut story = narrow("a b", 1);
    story.run("a").so_far().start("b").events(expect![[r#"
        ! stale
    "#]]);
}

#[test]
fn a_call_may_ask_for_less_width_but_not_for_more() {
    for (asked, granted) in [(1, 1), (2, 2), (9, 3), (0, 1)] {
        let plan = parallel("a b c d").with(|call| call.call.width = Some(asked));
        let story = Story::bounded(plan, |s| s.limits.max_concurrent_agents = 3);
        assert_eq!(story.state.delegations[story.delegation(ROOT)].width, granted);
    }
}

#[test]
fn one_that_waits_for_its_children_gives_its_slot_back() {
    let mut story = narrow("a b", 1);
    story.run("a").nested("a", parallel("c"));
    story.owed(expect!["start b, start c, wake +600s"]);
    story.run("b c").tree(expect![[r#"
        del-1 running
          a running
            del-a running
              c running
          b running
    "#]]);
}

#[test]
fn one_that_does_not_wait_keeps_its_slot() {
    let mut story = narrow("a b", 1);
    story.run("a").nested("a", parallel("c").detached());
    story.owed(expect!["start c, wake +600s"]);
}

#[test]
fn an_answer_takes_a_slot_again_before_anything_new_starts() {
    let mut story = narrow("a b c", 1);
    story.run("a").nested("a", parallel("x")).run("x").run("b");
    story.returns("x", completed("found")).owed(expect!["wake +600s"]);
    story.so_far().delivered("del-a").events(expect![[r#"
        ! stale
    "#]]);
    story.returns("b", completed("done")).owed(expect!["deliver del-a, wake +600s"]);
    story.delivered("del-a").owed(expect!["wake +600s"]);
}

#[test]
fn no_queue_waits_only_for_its_own_descendants() {
    // Width one at every level: a chain of waiting parents must still come to its end.
    let mut story = narrow("a", 1);
    story.run("a").nested("a", parallel("b")).run("b").nested("b", parallel("c")).run("c");
    story.returns("c", completed("c")).go();
    story.returns("b", completed("b")).go();
    story.returns("a", completed("a")).go();
    story
        .tree(expect![[r#"
        del-1 completed
          a completed
            del-a completed
              b completed
                del-b completed
                  c completed
    "#]])
        .owed(expect!["nothing"]);
}

#[test]
fn an_agents_own_width_bounds_all_its_children_together() {
    let mut story = Story::new(parallel("a").habits(|habits| habits.max_concurrent = Some(2)));
    story.run("a").nested("a", parallel("b c").modest().detached()).nested("a", parallel("d e"));
    story.owed(expect!["start b, start c, wake +600s"]);
    story.run("b d").owed(expect!["wake +600s"]);
    story.returns("b", completed("done")).owed(expect!["start c, wake +600s"]);
}

#[test]
fn the_delegation_that_holds_the_fewest_slots_goes_first() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", parallel("c d e")).nested("b", parallel("f g h"));
    story.run("c d").owed(expect!["start f, start g, start e, start h, wake +600s"]);
}

#[test]
fn what_remains_counts_the_slots_that_are_free() {
    let mut story = Story::new(parallel("a").habits(|habits| habits.max_concurrent = Some(3)));
    story.run("a").nested("a", parallel("b c").detached()).run("b");
    story.remaining(
        "root",
        expect![[
            r#"{"depth":3,"width":5,"count":9,"tokens":1800000,"costUsd":0.0,"timeMs":3600000}"#
        ]],
    );
    story.remaining(
        "a",
        expect![[r#"{"depth":2,"width":2,"count":8,"tokens":0,"costUsd":0.0,"timeMs":600000}"#]],
    );
}
