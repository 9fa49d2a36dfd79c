//! The best of several answers: a judge, and doing without one.

use expect_test::expect;
use legation_core::tree::command::Candidate;
use legation_core::tree::plan::Aggregate;
use serde_json::json;

use super::winner;
use crate::story::{Story, candidate, completed, ensemble, failed};

fn best(judge: Option<&str>) -> Story {
    let plan = ensemble("ann ben cleo", Aggregate::Best);
    let plan = plan.with(|call| call.judge = judge.map(candidate));
    let mut story = Story::bounded(plan, |s| s.recovery.auto_retry = false);
    story.go();
    story
}

#[test]
fn a_judge_looks_at_all_answers_and_names_the_best() {
    let mut story = best(Some("solomon"));
    for n in 1..=3 {
        story.returns(&format!("member-{n}"), completed(&format!("answer {n}")));
    }
    assert_eq!(story.state.subtasks[story.subtask("judge")].needs.len(), 3);
    story.go().so_far();
    story.returns("judge", completed("the third").data(json!({"winner": "member-3"})));
    story.events(expect![[r#"
        judge#1 ended completed: the third
        judge is completed
        del-1 chose member-3
        del-1 ended completed
    "#]]);
}

#[test]
fn without_a_judge_what_was_verified_decides() {
    let mut story = best(None);
    story.returns("member-1", completed("untested").quality(99));
    story.returns("member-2", completed("tested").verified("make test", 0));
    story.returns("member-3", completed("tested twice").verified("a", 0).verified("b", 0));
    assert_eq!(winner(&story), "member-3");
}

#[test]
fn where_nothing_tells_them_apart_measured_quality_decides_and_then_the_order() {
    let mut story = best(None);
    story.returns("member-1", completed("x"));
    story.returns("member-2", completed("y").quality(70));
    story.returns("member-3", completed("z").quality(70));
    assert_eq!(winner(&story), "member-2");
}

#[test]
fn a_judge_that_fails_or_names_nobody_leaves_it_to_what_was_measured() {
    for word in [failed("cannot say"), completed("hm").data(json!({"winner": "member-9"}))] {
        let mut story = best(Some("solomon"));
        story.returns("member-1", completed("x").quality(10));
        story.returns("member-2", completed("y").quality(20));
        story.returns("member-3", completed("z").quality(15)).go();
        story.returns("judge", word);
        assert_eq!((winner(&story), story.status()), ("member-2", "completed"));
    }
}

#[test]
fn a_judge_that_does_not_fit_into_the_tree_is_done_without() {
    let plan = ensemble("ann ben", Aggregate::Best).judged_by("solomon");
    let mut story = Story::bounded(plan, |s| s.limits.max_agents_per_tree = 2);
    story.go().returns("member-1", completed("x")).so_far();
    story.returns("member-2", completed("y").quality(50)).events(expect![[r#"
        member-2#1 ended completed: y
        member-2 is completed
        del-1 chose member-2
        del-1 ended completed
    "#]]);
}

#[test]
fn each_member_has_its_own_time_and_budget() {
    let plan = ensemble("ann ben", Aggregate::Vote)
        .part("ben", |part| (part.timeout_ms, part.tokens) = (Some(5_000), Some(7_000)));
    let story = Story::new(plan);
    let of = |name| {
        let subtask = &story.state.subtasks[story.subtask(name)];
        (subtask.timeout_ms, story.state.ledger.get(subtask.account).ceiling.tokens)
    };
    assert_eq!([of("member-1"), of("member-2")], [(600_000, 200_000), (5_000, 7_000)]);
}

#[test]
fn a_judge_is_approved_and_timed_like_the_members() {
    let plan = ensemble("ann! ben!", Aggregate::Best).judged_by("solomon");
    let mut story = Story::new(plan.with(|call| call.call.timeout_ms = Some(30_000)));
    story.approve("member-1").approve("member-2").go();
    story.returns("member-1", completed("x")).returns("member-2", completed("y"));
    story.tree(expect![[r#"
        del-1 running
          member-1 completed
          member-2 completed
          judge awaiting_approval
    "#]]);
    assert_eq!(story.state.subtasks[story.subtask("judge")].timeout_ms, 30_000);
}

#[test]
fn a_judge_that_needs_a_yes_of_its_own_waits_for_it() {
    let judge = Candidate { needs_approval: true, ..candidate("solomon") };
    let plan = ensemble("ann ben", Aggregate::Best).with(|call| call.judge = Some(judge));
    let mut story = Story::new(plan);
    story.go().returns("member-1", completed("x")).returns("member-2", completed("y"));
    story.tree(expect![[r#"
        del-1 running
          member-1 completed
          member-2 completed
          judge awaiting_approval
    "#]]);
}

#[test]
fn no_judge_is_started_once_the_rest_has_to_stop() {
    let plan = ensemble("ann ben cleo dan eve", Aggregate::Best).judged_by("solomon");
    let mut story = Story::bounded(plan, |s| {
        s.recovery.auto_retry = false;
        s.recovery.continue_on_partial_failure = false;
    });
    story.go();
    for n in 1..=3 {
        story.returns(&format!("member-{n}"), completed("x"));
    }
    story.so_far().returns("member-4", failed("broke")).stops("member-5").events(expect![[r#"
        member-4#1 ended failed: broke
        member-4 is failed
        the rest of del-1 must stop
        member-5#1 has to stop: cancelled
        member-5#1 ended failed: Operation was cancelled
        member-5 is cancelled
        del-1 chose member-1
        del-1 ended completed
    "#]]);
}
