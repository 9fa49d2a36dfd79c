//! Asking twice: keys, and identical calls of one attempt.

use expect_test::expect;
use legation_core::tree::command::Command;

use crate::story::{Plan, ROOT, Story, completed, parallel};

fn keyed(parts: &str, key: &str) -> Plan {
    parallel(parts).modest().detached().with(|call| call.idempotency_key = Some(key.to_owned()))
}

#[test]
fn the_same_key_gives_the_same_delegation_even_after_its_end() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", keyed("b", "k")).so_far();
    story.nested("a", keyed("something else", "k")).events(expect![[r#"
        ! the same as del-a
    "#]]);
    story.run("b").returns("b", completed("done")).so_far();
    story.nested("a", keyed("b", "k")).events(expect![[r#"
        ! the same as del-a
    "#]]);
}

#[test]
fn another_key_is_another_delegation() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", keyed("b", "k1")).so_far();
    story.nested("a", keyed("c", "k2")).events(expect![[r#"
        del-a-2 accepted: parallel c
    "#]]);
}

#[test]
fn a_roots_key_is_known_too() {
    let mut story = Story::new(parallel("a").with(|call| call.idempotency_key = Some("k".into())));
    let again = keyed("x", "k").call("del-2", None);
    story.so_far().tell(Command::Delegate(Box::new(again))).events(expect![[r#"
        ! the same as del-1
    "#]]);
}

#[test]
fn an_identical_call_gives_the_same_delegation_while_the_first_is_open() {
    let call = || parallel("b").modest().detached();
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", call()).so_far().nested("a", call()).events(expect![[r#"
        ! the same as del-a
    "#]]);
    story.run("b").returns("b", completed("done")).so_far();
    story.nested("a", call()).events(expect![[r#"
        del-a-2 accepted: parallel b
    "#]]);
}

#[test]
fn a_call_that_differs_in_anything_is_not_identical() {
    let call = || parallel("b c").modest().detached();
    let others: Vec<Plan> = vec![
        call().about("other"),
        call().with(|call| call.pattern = legation_core::config::Pattern::Dag),
        call().with(|call| call.rounds = Some(1)),
        call().with(|call| call.aggregate = legation_core::tree::plan::Aggregate::Best),
        call().part("b", |part| part.agent = "z".into()),
        call().part("b", |part| part.task = "z".to_owned()),
        call().part("c", |part| part.depends_on = vec!["b".into()]),
        call().part("c", |part| part.timeout_ms = Some(1)),
        call().part("c", |part| part.tokens = Some(5_000)),
        call().part("c", |part| part.required = false),
        call().part("c", |part| part.files = vec!["x".to_owned()]),
        call().with(|call| call.call.width = Some(1)),
        parallel("b d").modest().detached(),
    ];
    for (n, other) in others.into_iter().enumerate() {
        let mut story = Story::new(parallel("a"));
        story.run("a").nested("a", call()).nested("a", other);
        assert_eq!(story.state.delegations.len(), 3, "{n}");
    }
}

#[test]
fn identical_calls_of_two_attempts_are_two_delegations() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", parallel("c")).so_far().nested("b", parallel("c"));
    story.events(expect![[r#"
        del-b accepted: parallel c
    "#]]);
}

#[test]
fn identical_subtasks_inside_one_batch_are_all_run() {
    let plan = parallel("one@x two@x").each(|part| part.task = "same".to_owned());
    assert_eq!(Story::new(plan).state.subtasks.len(), 2);
}

#[test]
fn a_dead_attempt_learns_nothing_from_a_key() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").nested("a", keyed("c", "k")).returns("a", completed("done")).so_far();
    story.nested("a", keyed("c", "k")).events(expect![[r#"
        ! PERMISSION_DENIED This attempt has ended or has to stop. It cannot delegate any more.
    "#]]);
}

#[test]
fn an_id_is_used_once() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far();
    let call = parallel("b").call(ROOT, Some(story.attempt("a")));
    story.tell(Command::Delegate(Box::new(call))).refusal(expect![[r#"
        `del-1` is already there.

        Suggestion: Start a delegation with an id of its own.
    "#]]);
}
