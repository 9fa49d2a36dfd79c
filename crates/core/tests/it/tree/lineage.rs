//! Where an attempt stands is looked up, and never believed.

use expect_test::expect;
use legation_core::Code;
use legation_core::agent::Refusal;
use legation_core::tree::command::{Candidate, Command, Permitted};
use legation_core::tree::plan::Aggregate;

use crate::story::{
    ROOT, Story, candidate, completed, default_settings, ensemble, failed, parallel,
};

#[test]
fn depth_and_path_in_a_return_are_the_runtimes_own() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").after(90);
    story.returns("b", completed("done"));
    let end = story.state.attempts[story.attempt_no("b")].end.clone().unwrap();
    expect![[r#"
        {
          "session_id": "sess_1767225600_00000b",
          "agent_type": "b",
          "delegation_depth": 2,
          "delegation_path": [
            "user",
            "a",
            "b"
          ],
          "duration_seconds": 90.0
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&end.answer.metadata).unwrap());
}

#[test]
fn an_attempt_that_nobody_knows_cannot_delegate() {
    let mut story = Story::new(parallel("a"));
    story.so_far();
    let call = parallel("b").call("del-x", Some("exec-forged".into()));
    story.tell(Command::Delegate(Box::new(call))).events(expect![[r#"
        ! CONFLICT There is no attempt `exec-forged` here.
    "#]]);
    story.refusal(expect![[r#"
        There is no attempt `exec-forged` here.

        Suggestion: `legation status --all` lists what there is.
    "#]]);
}

#[test]
fn an_attempt_cannot_open_a_tree() {
    let mut story = Story::blank();
    let call = parallel("b").call(ROOT, Some("exec-forged".into()));
    story.tell(Command::Delegate(Box::new(call))).events(expect![[r#"
        ! CONFLICT There is no attempt `exec-forged` here.
    "#]]);
}

#[test]
fn a_dead_attempt_cannot_delegate() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").returns("a", completed("done")).so_far();
    story.nested("a", parallel("c")).refusal(expect![[r#"
        This attempt has ended or has to stop. It cannot delegate any more.

        Suggestion: Nothing can be done in its name; start a new delegation.
    "#]]);
}

#[test]
fn one_that_has_to_stop_cannot_delegate() {
    let mut story = Story::new(parallel("a"));
    story.run("a").cancel_one("a").so_far().nested("a", parallel("c")).events(expect![[r#"
        ! PERMISSION_DENIED This attempt has ended or has to stop. It cannot delegate any more.
    "#]]);
}

#[test]
fn nobody_below_a_cancel_can_delegate() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").cancel(ROOT).so_far();
    story.nested("b", parallel("c")).events(expect![[r#"
        ! PERMISSION_DENIED This attempt has ended or has to stop. It cannot delegate any more.
    "#]]);
}

#[test]
fn settings_that_come_with_a_nested_call_are_ignored() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.max_depth = 1);
    story.run("a").so_far();
    let generous = parallel("b").with(|call| {
        call.settings = default_settings();
        call.settings.limits.max_depth = 5;
    });
    story.nested("a", generous).events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (1) reached. Cannot delegate further.
    "#]]);
}

#[test]
fn delegation_that_is_switched_off_is_refused() {
    Story::bounded(parallel("a"), |s| s.enabled = false).refusal(expect![[r#"
        Delegation is switched off.

        Suggestion: Set `enabled = true` in .legation/config.toml, or ENABLE_DELEGATION=true.
    "#]]);
}

fn not_allowed(message: &str) -> Permitted {
    let hint = "Ask for another.".to_owned();
    Err(Refusal { code: Code::AgentNotAllowed, message: message.to_owned(), hint })
}

#[test]
fn an_agent_that_may_not_be_used_refuses_the_whole_batch() {
    let plan = parallel("a b").part("b", |part| {
        part.permitted = not_allowed("`b` is switched off.");
    });
    let mut story = Story::new(plan);
    story.events(expect![[r#"
        ! AGENT_NOT_ALLOWED `b` is switched off.
    "#]]);
    assert!(story.log.is_empty());
}

#[test]
fn a_judge_that_may_not_be_used_refuses_the_ensemble_it_would_judge() {
    let judge = |permitted| Some(Candidate { permitted, ..candidate("solomon") });
    let judged = |aggregate| {
        let plan = ensemble("ann ben", aggregate);
        plan.with(|call| call.judge = judge(not_allowed("`solomon` is switched off.")))
    };
    let mut story = Story::new(judged(Aggregate::Best));
    story.events(expect![[r#"
        ! AGENT_NOT_ALLOWED `solomon` is switched off.
    "#]]);
    assert!(story.log.is_empty());
    // Where nobody has to judge, it does not matter who may.
    for aggregate in [Aggregate::Vote, Aggregate::Merge] {
        let story = Story::new(judged(aggregate));
        assert!(!story.log.is_empty());
        assert_eq!(story.state.delegations[story.delegation(ROOT)].judge, None);
    }
}

#[test]
fn an_agent_that_may_not_be_used_gets_no_second_attempt_either() {
    let mut story = Story::bounded(parallel("a b"), |s| s.recovery.auto_retry = false);
    story.run("a b").returns("a", failed("broke")).so_far();
    let permitted = not_allowed("`c` is not among the `subagents`.");
    story.retry_as("a", Candidate { permitted, ..candidate("c") }).refusal(expect![[r#"
        `c` is not among the `subagents`.

        Suggestion: Ask for another.
    "#]]);
    story.so_far().retry_as("a", candidate("c")).events(expect![[r#"
        a is tried again (request) at +0s, by c, told "The attempt before this one ended failed: broke"
    "#]]);
}

#[test]
fn the_checks_have_an_order_and_the_first_that_fails_is_the_answer() {
    // Everything is wrong at once; each line repairs what the last one named.
    let mut plan = parallel("x@a y<z").part("x", |part| part.permitted = not_allowed("No."));
    plan = plan.each(|part| part.habits.unmetered = true);
    let mut story = Story::bounded(parallel("a"), |s| {
        s.limits.max_depth = 2;
        s.limits.max_delegations_per_task = 1;
        s.limits.max_context_per_agent = 5_000;
        s.limits.token_budget_per_child = 6_000;
    });
    story.run("a").context("a", 1).so_far();
    story.nested("a", plan.clone().with(|call| call.call.max_depth = Some(0)));
    story.nested("a", plan.clone());
    plan = plan.part("y", |part| part.depends_on.clear());
    story.nested("a", plan.clone());
    plan = plan.part("x", |part| part.permitted = Ok(()));
    story.nested("a", plan.clone());
    plan = plan.part("x", |part| part.agent = "b".into());
    story.nested("a", plan.clone());
    plan = plan.habits(|habits| habits.unmetered = false);
    story.nested("a", plan.clone());
    plan = plan.with(|call| call.subtasks.truncate(1));
    story.nested("a", plan.clone());
    story.context("a", 0);
    story.uses("a", 1_001).nested("a", plan);
    story.events(expect![[r#"
        ! MAX_DEPTH_EXCEEDED Delegation depth limit (1) reached. Cannot delegate further.
        ! VALIDATION_FAILED Subtask `y` depends on `z`, which is not in the plan.
        ! AGENT_NOT_ALLOWED No.
        ! CYCLE_DETECTED Delegation cycle detected. Cannot delegate to avoid infinite loop.
        ! BUDGET_EXCEEDED `b` reports neither tokens nor cost. It cannot be held to a budget.
        ! TOO_MANY_DELEGATIONS Delegation count limit (1) exceeded. Nothing was started.
        ! CONTEXT_EXCEEDED Agent context budget (5k tokens) exceeded. Simplify subtask.
        a#1 has used 0 tokens, context 0
        a#1 has used 1001 tokens
        ! BUDGET_EXCEEDED Token budget exceeded: 4,999 tokens for a subtask that needs 5,000.
    "#]]);
}

#[test]
fn a_tree_has_one_root() {
    let mut story = Story::new(parallel("a"));
    let call = parallel("b").call("del-2", None);
    story.so_far().tell(Command::Delegate(Box::new(call))).events(expect![[r#"
        ! CONFLICT `del-2` is already there.
    "#]]);
}
