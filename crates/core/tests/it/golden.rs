//! The stored form of every event, one golden file a variant.
//!
//! A form that was ever written stays readable: a change here that makes a
//! golden file differ is a new version, not an update.

mod samples;

use std::collections::BTreeSet;

use expect_test::{expect, expect_file};
use legation_core::config::Pattern;
use legation_core::ids::AgentId;
use legation_core::returns::{StopReason, Verification};
use legation_core::time::Now;
use legation_core::tree::event::{
    Body, Caller, Cast, Clash, Event, Hunk, MergeOutcome, NewSubtask, Outcome, Resolver,
    RetryCause, Role, VERSION,
};
use legation_core::tree::plan::Aggregate;
use legation_core::{Code, tree};
use serde::Serialize;

use samples::resolver;
pub(crate) use samples::samples;

fn event(body: Body) -> Event {
    Event::new(Now(1_767_225_600_000), body)
}

#[test]
fn every_variant_has_its_golden_form() {
    for body in samples() {
        let file = format!("golden/events/{}.json", body.kind());
        let text = serde_json::to_string_pretty(&event(body)).unwrap();
        expect_file![file].assert_eq(&format!("{text}\n"));
    }
}

#[test]
fn every_golden_form_reads_back_to_the_same_event() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/events");
    for body in samples() {
        let path = folder.join(format!("{}.json", body.kind()));
        let text = std::fs::read_to_string(&path).unwrap();
        let read: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(read, event(body), "{}", path.display());
    }
}

#[test]
fn every_variant_has_a_sample() {
    // Nothing lists the variants of an enum but the error about one that is not there.
    let error = serde_json::from_str::<Body>(r#"{"no_such_thing": 1}"#).unwrap_err().to_string();
    let names = error.split('`').skip(3).step_by(2);
    let known: BTreeSet<&str> = names.collect();
    let samples = samples();
    let sampled: BTreeSet<&str> = samples.iter().map(Body::kind).collect();
    assert_eq!(known, sampled);
    assert_eq!(known, Body::KINDS.into_iter().collect());
    assert_eq!(samples.len(), sampled.len());
}

#[test]
fn no_golden_form_is_an_orphan() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/events");
    let files = std::fs::read_dir(folder).unwrap();
    let found: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let wanted = samples().iter().map(|body| format!("{}.json", body.kind())).collect();
    assert_eq!(found, wanted);
}

#[test]
fn the_version_is_part_of_every_event() {
    assert_eq!(VERSION, 1);
    let resumed = event(Body::Resumed { delegation: tree::DelegationNo(0) });
    expect![[r#"{"v":1,"at":1767225600000,"body":{"resumed":{"delegation":0}}}"#]]
        .assert_eq(&serde_json::to_string(&resumed).unwrap());
}

fn words<T: Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).unwrap()
}

#[test]
fn the_words_inside_the_forms_do_not_change() {
    use StopReason::{
        Budget, Cancelled, Exited, Killed, Lost, NotStarted, Stalled, Timeout, Unanswered,
    };
    let stops = [Exited, Timeout, Stalled, Cancelled, Budget, Unanswered, Killed, NotStarted, Lost];
    expect![[r#"["exited","timeout","stalled","cancelled","budget","unanswered","killed","not_started","lost"]"#]].assert_eq(&words(&stops));
    let hunk = Hunk { file: "x".to_owned(), line: 3, text: "one".to_owned(), kind: None };
    let kinds = [
        Clash::FirstDeleted,
        Clash::SecondDeleted,
        Clash::Binary,
        Clash::Folder,
        Clash::Link,
        Clash::Submodule,
        Clash::Mode,
        Clash::Types,
        Clash::Moved,
        Clash::Whole,
        Clash::InTheWay,
        Clash::Unshown,
    ]
    .map(|kind| Hunk::without_lines("x", kind));
    let check = Verification { command: "make".to_owned(), exit_code: Some(2) };
    let merges = [
        MergeOutcome::Clean { commit: None },
        MergeOutcome::Conflict { files: vec!["x".to_owned()], hunks: Vec::new() },
        MergeOutcome::Conflict { files: vec!["x".to_owned()], hunks: vec![hunk] },
        MergeOutcome::Conflict { files: vec!["x".to_owned()], hunks: kinds.to_vec() },
        MergeOutcome::Unverified { verify: vec![check] },
        MergeOutcome::Failed { code: Code::BuildError, message: "no".to_owned() },
    ];
    expect![[r#"[{"clean":{"commit":null}},{"conflict":{"files":["x"]}},{"conflict":{"files":["x"],"hunks":[{"file":"x","line":3,"text":"one"}]}},{"conflict":{"files":["x"],"hunks":[{"file":"x","line":0,"text":"","kind":"first_deleted"},{"file":"x","line":0,"text":"","kind":"second_deleted"},{"file":"x","line":0,"text":"","kind":"binary"},{"file":"x","line":0,"text":"","kind":"folder"},{"file":"x","line":0,"text":"","kind":"link"},{"file":"x","line":0,"text":"","kind":"submodule"},{"file":"x","line":0,"text":"","kind":"mode"},{"file":"x","line":0,"text":"","kind":"types"},{"file":"x","line":0,"text":"","kind":"moved"},{"file":"x","line":0,"text":"","kind":"whole"},{"file":"x","line":0,"text":"","kind":"in_the_way"},{"file":"x","line":0,"text":"","kind":"unshown"}]}},{"unverified":{"verify":[{"command":"make","exitCode":2}]}},{"failed":{"code":"BUILD_ERROR","message":"no"}}]"#]].assert_eq(&words(&merges));
    let causes = [
        RetryCause::Failure,
        RetryCause::RateLimit,
        RetryCause::Lost,
        RetryCause::Quality,
        RetryCause::Request,
    ];
    expect![[r#"["failure","rate_limit","lost","quality","request"]"#]].assert_eq(&words(&causes));
    let outcomes = [
        Outcome::Completed,
        Outcome::Partial,
        Outcome::Failed,
        Outcome::Blocked,
        Outcome::Cancelled,
        Outcome::Skipped,
    ];
    expect![[r#"["completed","partial","failed","blocked","cancelled","skipped"]"#]]
        .assert_eq(&words(&outcomes));
    assert_eq!(words(&outcomes), words(&outcomes.map(Outcome::as_str)));
    use Role::{Creator, Critic, Judge, Member, Proposer, Reviewer, Worker};
    let roles = [Worker, Proposer, Critic, Creator, Reviewer, Member, Judge, Role::Resolver];
    expect![[r#"["worker","proposer","critic","creator","reviewer","member","judge","resolver"]"#]]
        .assert_eq(&words(&roles));
    use Pattern::{Dag, Debate, Direct, Ensemble, Parallel, ParallelStreaming, Review, Sequential};
    let patterns = [Parallel, ParallelStreaming, Sequential, Dag, Debate, Review, Ensemble, Direct];
    expect![[r#"["parallel","parallel_streaming","sequential","dag","debate","review","ensemble","direct"]"#]].assert_eq(&words(&patterns));
    expect![[r#"["vote","best","merge"]"#]].assert_eq(&words(&[
        Aggregate::Vote,
        Aggregate::Best,
        Aggregate::Merge,
    ]));
    let callers =
        [Caller::Root { name: "user".into(), depth: 0 }, Caller::Attempt("exec-a-1".into())];
    expect![[r#"[{"root":{"name":"user","depth":0}},{"attempt":"exec-a-1"}]"#]]
        .assert_eq(&words(&callers));
}

#[test]
fn what_resolves_a_conflict_says_whose_it_is() {
    let added = serde_json::to_value(resolver()).unwrap();
    assert_eq!((&added["role"], &added["resolves"]), (&"resolver".into(), &0.into()));
    assert_eq!(serde_json::from_value::<NewSubtask>(added).unwrap(), resolver());
    let (agent, why) = (AgentId::from("mender"), "Not this one.".to_owned());
    let cast = Cast {
        agent: agent.clone(),
        habits: Default::default(),
        timeout_ms: None,
        tokens: None,
        needs_approval: true,
        own: None,
    };
    let named = vec![Resolver::Cast(cast), Resolver::Refused { agent, why }];
    let text = words(&named);
    expect![[r#"[{"cast":{"agent":"mender","habits":{"recursive":false,"unmetered":false,"operation":null,"timeoutMs":null,"maxRetries":null,"backoffMs":null,"maxConcurrent":null,"context":"task_only"},"timeout_ms":null,"tokens":null,"needs_approval":true}},{"refused":{"agent":"mender","why":"Not this one."}}]"#]].assert_eq(&text);
    assert_eq!(serde_json::from_str::<Vec<Resolver>>(&text).unwrap(), named);
}
