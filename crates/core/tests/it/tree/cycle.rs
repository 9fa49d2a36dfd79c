//! No agent below itself, no call below itself.

use expect_test::expect;
use legation_core::agent::{Definition, Roster, Subagents};
use legation_core::call::candidate;
use legation_core::config::Config;
use legation_core::tree::bounds::call_key;
use legation_core::tree::command::{Caller, Habits};
use legation_core::tree::plan::Aggregate;

use crate::story::{Plan, Story, debate, ensemble, parallel};

fn recursive(parts: &str) -> Plan {
    parallel(parts).habits(|habits| habits.recursive = true)
}

#[test]
fn an_agent_on_the_path_is_refused_and_the_path_is_shown() {
    let mut story = Story::new(parallel("one@a"));
    story.run("one").nested("one", parallel("two@b")).run("two").so_far();
    story.nested("two", parallel("three@a")).refusal(expect![[r#"
        Delegation cycle detected. Cannot delegate to avoid infinite loop.

        Cycle path: user → a → b → a (attempted)

        Suggestion: Delegate to an agent that is not on the path, or do the work here.
    "#]]);
}

#[test]
fn a_cycle_refusal_names_the_path_for_programs() {
    let mut story = Story::new(parallel("one@a"));
    story.run("one").nested("one", parallel("two@a"));
    expect![[r#"{"path":["user","a"],"attempted":"a"}"#]]
        .assert_eq(&story.refusal_details().to_string());
}

#[test]
fn an_agent_cannot_delegate_to_itself() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().nested("a", parallel("again@a")).events(expect![[r#"
        ! CYCLE_DETECTED Delegation cycle detected. Cannot delegate to avoid infinite loop.
    "#]]);
}

#[test]
fn a_recursive_agent_may_appear_below_itself_with_another_task() {
    let mut story = Story::new(recursive("whole@a"));
    story.run("whole").so_far().nested("whole", recursive("half@a")).events(expect![[r#"
        del-whole accepted: parallel half
    "#]]);
}

#[test]
fn the_same_call_below_itself_is_refused_even_for_a_recursive_agent() {
    let mut story = Story::new(recursive("whole@a"));
    story.run("whole").nested("whole", recursive("half@a")).run("half").so_far();
    let again = recursive("deep@a").part("deep", |part| part.task = " WHOLE\n".to_owned());
    story.nested("half", again).refusal(expect![[r#"
        Delegation cycle detected. Cannot delegate to avoid infinite loop.

        Cycle path: user → a → a → a (attempted)

        Suggestion: Give it a different task: the same one already stands on the path.
    "#]]);
}

#[test]
fn a_call_key_folds_case_and_white_space_and_knows_the_agent() {
    let key = |agent: &str, task| call_key(&agent.into(), task);
    assert_eq!(key("a", "Fix  the\n\tBUG "), key("a", "fix the bug"));
    assert_ne!(key("a", "fix the bug"), key("b", "fix the bug"));
    assert_ne!(key("a", "fix the bug"), key("a", "fixthe bug"));
    assert_ne!(key("ab", "c"), key("a", "bc"));
}

#[test]
fn the_same_pair_twice_side_by_side_is_no_cycle() {
    let plan = parallel("one@a two@a").each(|part| part.task = "same".to_owned());
    Story::new(plan).events(expect![[r#"
        tree opened
        del-1 accepted: parallel one two
    "#]]);
}

#[test]
fn the_same_agent_in_two_branches_is_no_cycle() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", parallel("one@c")).run("one").so_far();
    story.nested("b", parallel("two@c")).events(expect![[r#"
        del-b accepted: parallel two
    "#]]);
}

#[test]
fn whoever_stands_at_the_root_is_no_agent_of_the_path() {
    let named = |name: &str| {
        let caller = Caller::Root { name: name.into(), depth: 0 };
        parallel("task@claude-code").with(|call| call.caller = caller)
    };
    Story::new(named("claude-code")).events(expect![[r#"
        tree opened
        del-1 accepted: parallel task
    "#]]);
}

#[test]
fn every_agent_of_a_pattern_is_checked() {
    let mut story = Story::new(parallel("one@a"));
    story.run("one").so_far();
    story.nested("one", debate("ann a")).events(expect![[r#"
        ! CYCLE_DETECTED Delegation cycle detected. Cannot delegate to avoid infinite loop.
    "#]]);
    story.nested("one", ensemble("ann a", Aggregate::Vote)).events(expect![[r#"
        ! CYCLE_DETECTED Delegation cycle detected. Cannot delegate to avoid infinite loop.
    "#]]);
}

#[test]
fn a_judge_on_the_path_is_not_started() {
    let mut story = Story::new(parallel("one@solomon"));
    let judged = ensemble("ann ben", Aggregate::Best).judged_by("solomon");
    story.run("one").nested("one", judged).go();
    story.returns("member-1", crate::story::completed("x")).so_far();
    story.returns("member-2", crate::story::completed("y")).events(expect![[r#"
        member-2#1 ended completed: y
        member-2 is completed
        del-one chose member-1
        del-one ended completed
    "#]]);
}

#[test]
fn a_retry_may_not_bring_a_cycle_in_by_another_agent() {
    let mut story = Story::bounded(parallel("one@a"), |s| s.recovery.auto_retry = false);
    story.run("one").nested("one", parallel("two@b x")).run("two");
    story.returns("two", crate::story::failed("broke")).so_far();
    story.retry_by("two", "a", Habits::default()).events(expect![[r#"
        ! CYCLE_DETECTED Delegation cycle detected. Cannot delegate to avoid infinite loop.
    "#]]);
    story.retry_by("two", "c", Habits::default()).events(expect![[r#"
        two is tried again (request) at +0s, by c, told "The attempt before this one ended failed: broke"
    "#]]);
}

#[test]
fn a_retry_by_another_agent_leaves_its_own_call_on_the_path() {
    let mut story = Story::bounded(parallel("one@a x"), |s| s.recovery.auto_retry = false);
    story.run("one").returns("one", crate::story::failed("broke"));
    let habits = Habits { recursive: true, ..Habits::default() };
    story.retry_by("one", "b", habits).run("one").so_far();
    let same = recursive("two@b").part("two", |part| part.task = "one".to_owned());
    story.nested("one", same).events(expect![[r#"
        ! CYCLE_DETECTED Delegation cycle detected. Cannot delegate to avoid infinite loop.
    "#]]);
}

#[test]
fn an_agent_that_names_itself_and_is_not_recursive_meets_a_cycle_and_sees_the_path() {
    let definition = Definition {
        id: Some("a".into()),
        subagents: Some(Subagents { allow: vec!["a".to_owned()], ..Subagents::default() }),
        ..Definition::default()
    };
    let roster = Roster::new([definition], &Config::default());
    let asked = candidate("a".into(), &roster, &["a".into()]);
    let again = parallel("again@a").each(|part| part.permitted.clone_from(&asked.permitted));
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().nested("a", again).refusal(expect![[r#"
        Delegation cycle detected. Cannot delegate to avoid infinite loop.

        Cycle path: user → a → a (attempted)

        Suggestion: Delegate to an agent that is not on the path, or do the work here.
    "#]]);
}
