use expect_test::expect;
use legation_core::agent::Operation;
use legation_core::returns::{
    Artifact, Evidence, Grandchild, Receipt, Return, ReturnStatus, Verification, failure_sentence,
    judge, settle,
};
use proptest::prelude::*;

use super::{check, good};

fn claim(artifacts: &[(&str, &str)]) -> Return {
    let artifact = |(kind, path): &(&str, &str)| Artifact {
        kind: (*kind).to_owned(),
        path: (*path).to_owned(),
        summary: None,
    };
    let mut claim = check(&good()).unwrap();
    claim.artifacts = artifacts.iter().map(artifact).collect();
    claim
}

fn changed(files: &[&str]) -> Receipt {
    Receipt { files_changed: files.iter().map(ToString::to_string).collect(), ..Receipt::default() }
}

/// The verdict in words.
fn verdict(claim: &Return, receipt: &Receipt, operation: Option<Operation>) -> String {
    let judgement = judge(claim, receipt, operation);
    let mut text = format!("{:?}, evidence {:?}\n", judgement.status, judgement.evidence);
    for doubt in judgement.doubts {
        text.push_str(&format!("  {doubt}\n"));
    }
    text
}

#[test]
fn a_claim_that_was_seen_stands() {
    let claim = claim(&[("implementation", "src/lib.rs"), ("test", "tests")]);
    let receipt = changed(&["src/lib.rs", "tests/it/main.rs"]);
    expect![[r#"
        Completed, evidence Seen
    "#]]
    .assert_eq(&verdict(&claim, &receipt, Some(Operation::Implement)));
}

#[test]
fn artifacts_that_did_not_change_make_it_partial() {
    let claim = claim(&[("implementation", "a"), ("implementation", "b"), ("test", "src")]);
    let receipt = changed(&["b", "srcs/x", "src.rs", "a.rs"]);
    expect![[r#"
        Partial, evidence Seen
          claimed artifacts do not differ from the base: "a", "src"
    "#]]
    .assert_eq(&verdict(&claim, &receipt, None));
}

#[test]
fn reports_and_references_may_be_unchanged() {
    let claim = claim(&[("report", "old.md"), ("Reference", "docs/api.md")]);
    let mut receipt = changed(&[]);
    receipt.tool_calls.insert("read".to_owned(), 3);
    assert_eq!(verdict(&claim, &receipt, Some(Operation::Implement)), "Completed, evidence Seen\n");
}

#[test]
fn failed_verification_a_cut_stream_and_open_grandchildren_make_it_partial() {
    let verify = [("cargo build", Some(0)), ("cargo test", Some(101)), ("./slow", None)];
    let receipt = Receipt {
        verify: verify
            .map(|(command, exit_code)| Verification { command: command.to_owned(), exit_code })
            .to_vec(),
        truncated: true,
        grandchildren: vec![
            Grandchild { delegation_id: "del-1".into(), ended: Some("failed".to_owned()) },
            Grandchild { delegation_id: "del-2".into(), ended: None },
        ],
        ..changed(&["x"])
    };
    expect![[r#"
        Partial, evidence Seen
          verification failed: `cargo test` exited with 101, `./slow` was stopped
          the output ended in the middle
          delegations below have not returned: del-2
    "#]]
    .assert_eq(&verdict(&claim(&[]), &receipt, None));
}

#[test]
fn doing_nothing_counts_against_making_only() {
    let nothing = Receipt::default();
    for operation in [None, Some(Operation::Research), Some(Operation::Review)] {
        let judgement = judge(&claim(&[]), &nothing, operation);
        assert_eq!(judgement.status, ReturnStatus::Completed, "{operation:?}");
        assert_eq!(judgement.evidence, Evidence::None, "{operation:?}");
    }
    expect![[r#"
        Partial, evidence None
          no tool was called and nothing was changed
    "#]]
    .assert_eq(&verdict(&claim(&[]), &nothing, Some(Operation::Implement)));
}

#[test]
fn a_tool_call_a_file_a_commit_or_a_delegation_is_evidence() {
    let mut called = Receipt::default();
    called.tool_calls.insert("read".to_owned(), 1);
    let committed = Receipt { commits: vec!["abc".to_owned()], ..Receipt::default() };
    let below = Grandchild { delegation_id: "del-1".into(), ended: Some("completed".to_owned()) };
    let delegated = Receipt { grandchildren: vec![below], ..Receipt::default() };
    for receipt in [called, committed, delegated, changed(&["x"])] {
        let judgement = judge(&claim(&[]), &receipt, Some(Operation::Implement));
        assert_eq!(
            (judgement.status, judgement.evidence),
            (ReturnStatus::Completed, Evidence::Seen)
        );
    }
    let mut counted_zero = Receipt::default();
    counted_zero.tool_calls.insert("read".to_owned(), 0);
    assert_eq!(judge(&claim(&[]), &counted_zero, None).evidence, Evidence::None);
}

#[test]
fn a_long_list_of_doubts_is_counted() {
    let artifacts: Vec<_> = ["a", "b", "c", "d", "e", "f", "g"].map(|path| ("code", path)).to_vec();
    expect![[r#"
        Partial, evidence None
          claimed artifacts do not differ from the base: "a", "b", "c", "d", "e" and 2 more
    "#]]
    .assert_eq(&verdict(&claim(&artifacts), &changed(&[]), None));
}

#[test]
fn the_verdict_is_written_into_return_and_receipt() {
    let claim = claim(&[("code", "a")]);
    let receipt = Receipt { truncated: true, ..changed(&["b"]) };
    let (returned, receipt) = settle(claim, receipt, None);
    let told = serde_json::to_string_pretty(&(
        returned.status,
        &returned.errors,
        receipt.evidence,
        &receipt.downgraded,
    ));
    expect![[r#"
        [
          "partial",
          [
            {
              "type": "unchanged_artifact",
              "message": "claimed artifacts do not differ from the base: \"a\"",
              "code": "VALIDATION_FAILED",
              "recoverable": true,
              "recommendation": "Look at what was really changed, then retry with the missing work named."
            },
            {
              "type": "truncated",
              "message": "the output ended in the middle",
              "code": "UNKNOWN_ERROR",
              "recoverable": true,
              "recommendation": "Retry; the end of the work was never heard of."
            }
          ],
          "seen",
          [
            "claimed artifacts do not differ from the base: \"a\"",
            "the output ended in the middle"
          ]
        ]"#]].assert_eq(&told.unwrap());
    // What was judged once is a valid return and stays as it is.
    assert_eq!(check(&serde_json::to_value(&returned).unwrap()), Ok(returned.clone()));
    assert_eq!(settle(returned.clone(), receipt, None).0, returned);
}

#[test]
fn each_doubt_becomes_an_error_that_can_be_mended() {
    let receipt = Receipt {
        verify: vec![Verification { command: "make".to_owned(), exit_code: Some(2) }],
        grandchildren: vec![Grandchild { delegation_id: "del-9".into(), ended: None }],
        ..Receipt::default()
    };
    let (returned, _) = settle(claim(&[]), receipt, Some(Operation::Implement));
    let told: Vec<_> =
        returned.errors.iter().map(|error| (error.kind.as_str(), error.code.as_deref())).collect();
    assert_eq!(
        told,
        [("verification_failed", Some("BUILD_ERROR")), ("unreturned_delegation", Some("CONFLICT"))]
    );
    let (idle, _) = settle(claim(&[]), Receipt::default(), Some(Operation::Implement));
    assert_eq!(idle.errors.first().unwrap().kind, "no_evidence");
    assert!(failure_sentence(&idle.errors).starts_with("Task failed but is recoverable. Retry"));
}

fn any_status() -> impl Strategy<Value = ReturnStatus> {
    use ReturnStatus::{Blocked, Completed, Failed, Partial};
    prop::sample::select(vec![Completed, Partial, Failed, Blocked])
}

proptest! {
    #[test]
    fn a_claim_never_gains(
        status in any_status(),
        paths in prop::collection::vec("[ab]/[ab]|[ab]", 0..4),
        files in prop::collection::vec("[ab]/[ab]|[ab]", 0..4),
        exits in prop::collection::vec(prop::option::of(0..2), 0..3),
        truncated in any::<bool>(),
        open in any::<bool>(),
        implement in any::<bool>(),
    ) {
        let paths: Vec<_> = paths.iter().map(|path| ("code", path.as_str())).collect();
        let mut claim = claim(&paths);
        claim.status = status;
        let verify = |exit_code: &Option<i32>| Verification { command: "c".to_owned(), exit_code: *exit_code };
        let ended = (!open).then(|| "completed".to_owned());
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        let receipt = Receipt {
            verify: exits.iter().map(verify).collect(),
            truncated,
            grandchildren: vec![Grandchild { delegation_id: "del-1".into(), ended }],
            ..changed(&files)
        };
        let judgement = judge(&claim, &receipt, implement.then_some(Operation::Implement));
        let lost = judgement.status != status;
        prop_assert!(!lost || (status, judgement.status) == (ReturnStatus::Completed, ReturnStatus::Partial));
        prop_assert_eq!(lost, !judgement.doubts.is_empty());
        // A slow and simple second opinion on what is unchanged.
        let covered = |path: &str| files.iter().any(|file| *file == path || file.starts_with(&format!("{path}/")));
        let bad_artifact = paths.iter().any(|(_, path)| !covered(path));
        let bad_exit = exits.iter().any(|exit| *exit != Some(0));
        let expected = status == ReturnStatus::Completed && (bad_artifact || bad_exit || truncated || open);
        prop_assert_eq!(lost, expected);
    }
}
