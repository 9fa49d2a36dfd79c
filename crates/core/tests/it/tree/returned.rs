//! What a return is worth: the runtime's own eyes decide.

use expect_test::expect;
use legation_core::agent::Operation;
use legation_core::returns::{Evidence, StopReason};

use crate::story::{ROOT, Story, completed, failed, parallel};

fn ended(story: &Story, name: &str) -> std::sync::Arc<legation_core::tree::event::AttemptEnded> {
    story.state.attempts[story.attempt_no(name)].end.clone().unwrap()
}

#[test]
fn artifacts_that_were_never_made_downgrade_a_completed() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", completed("made it").artifacts(&["out.txt"]));
    story.events(expect![[r#"
        a#1 ended partial: made it
        a is partial
        del-1 ended partial
    "#]]);
    expect![[r#"
        [
            "claimed artifacts do not differ from the base: \"out.txt\"",
        ]"#]]
    .assert_eq(&format!("{:#?}", ended(&story, "a").receipt.downgraded));
}

#[test]
fn a_failed_verification_downgrades_a_completed() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", completed("it builds").verified("cargo test", 101));
    story.events(expect![[r#"
        a#1 ended partial: it builds
        a is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn grandchildren_that_have_not_returned_downgrade_a_completed() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b").detached()).run("b").returns("a", completed("done"));
    let end = ended(&story, "a");
    assert_eq!(end.receipt.grandchildren.len(), 1);
    expect![[r#"
        [
            "delegations below have not returned: del-a",
        ]"#]]
    .assert_eq(&format!("{:#?}", end.receipt.downgraded));
}

#[test]
fn grandchildren_that_have_returned_are_listed_with_their_ends() {
    let mut story = Story::bounded(parallel("a"), |s| s.recovery.auto_retry = false);
    story.run("a").nested("a", parallel("b")).run("b").returns("b", failed("broke"));
    story.delivered("del-a").returns("a", completed("did it myself"));
    let end = ended(&story, "a");
    expect![[r#"[{"delegationId":"del-a","ended":"failed"}]"#]]
        .assert_eq(&serde_json::to_string(&end.receipt.grandchildren).unwrap());
    assert_eq!(story.status(), "completed");
}

#[test]
fn no_evidence_downgrades_only_what_should_have_made_something() {
    for (operation, status) in [
        (Some(Operation::Implement), "partial"),
        (Some(Operation::Research), "completed"),
        (None, "completed"),
    ] {
        let mut story = Story::new(parallel("a").habits(|habits| habits.operation = operation));
        story.run("a").returns("a", completed("thought about it"));
        assert_eq!(story.status(), status, "{operation:?}");
        assert_eq!(ended(&story, "a").receipt.evidence, Evidence::None);
    }
}

#[test]
fn a_claim_can_only_lose() {
    let mut story = Story::bounded(parallel("a"), |s| s.recovery.auto_retry = false);
    story.run("a").returns("a", failed("nothing works").verified("cargo test", 0));
    assert_eq!(story.status(), "failed");
}

#[test]
fn the_receipt_has_the_runtimes_own_figures() {
    let mut story = Story::new(parallel("a"));
    story.run("a").uses("a", 500).pays("a", 0.30).after(42);
    story.returns("a", completed("done").tokens(400).cost(0.20));
    let receipt = &ended(&story, "a").receipt;
    assert_eq!(receipt.duration_ms, 42_000);
    assert_eq!(receipt.tokens.unwrap().output, 500);
    assert_eq!(receipt.cost_usd.unwrap().dollars(), 0.30);
    assert_eq!(receipt.stop_reason, StopReason::Exited);
}

#[test]
fn a_cost_that_nobody_knows_stays_unknown() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done"));
    let receipt = &ended(&story, "a").receipt;
    assert_eq!((receipt.cost_usd, receipt.tokens), (None, None));
}

#[test]
fn what_a_child_says_of_its_own_lineage_is_replaced() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done"));
    let answer = &ended(&story, "a").answer;
    assert_eq!(answer.metadata.agent_type.as_str(), "a");
    assert_eq!(answer.metadata.delegation_depth, 1);
    let root = story.delegation(ROOT);
    assert_eq!(story.state.delegations[root].depth, 1);
}
