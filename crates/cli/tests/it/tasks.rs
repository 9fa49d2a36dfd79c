//! Tasks of the user's own list, called by their ids.

use expect_test::expect;
use serde_json::Value;

use crate::session::Session;

const LIST: &str = r#"{"tasks": [
  {"id": "T-1", "title": "Build the billing api", "acceptanceCriteria": ["a", "b", "c"]},
  {"id": "T-2", "title": "Odd", "delegationConfig": {"mode": "bogus"}},
  {"id": "T-3", "title": "Odd", "delegationConfig": {"tokenBudget": -1}},
  {"id": "T-4", "title": "Odd", "delegationConfig": {"maxDepth": "many"}},
  {"id": "T-5", "title": "Odd", "subtasks": [["a", "b"]]},
  {"id": "T-6", "titel": "Odd", "title": "Even", "delegationConfig": {"maxDeph": 2}},
  {"id": "T-7", "title": "One"},
  {"id": "T-7", "title": "Other"}
]}"#;

fn listed() -> Session {
    let session = Session::new();
    session.write("tasks.json", LIST);
    session
}

/// What a command answers, without its notes.
fn value(session: &Session, args: &[&str]) -> Value {
    let seen = session.run(args);
    let json: String = seen.lines().filter(|line| !line.starts_with('!')).collect();
    serde_json::from_str(&json).unwrap()
}

#[test]
fn an_id_means_its_task_wherever_a_task_is_named() {
    let session = listed();
    let decided = value(&session, &["decide", "--json", "--no-cache", "T-1"]);
    assert_eq!(decided["factors"]["subtaskCount"], 3);
    let hinted = value(&session, &["hint", "--json", "T-1"]);
    assert_eq!(hinted["quickFactors"]["subtaskPotential"], 3);
    let slash = ["shell", "--json", "-c", "/delegation hint T-1"];
    assert_eq!(value(&session, &slash)["quickFactors"]["subtaskPotential"], 3);
    let slash = ["shell", "--json", "-c", "/direct T-7"];
    assert!(session.run(&slash).contains("two tasks have the id"));
}

#[test]
fn words_are_meant_where_somebody_says_so() {
    let session = listed();
    let decided = value(&session, &["decide", "--json", "--no-cache", "--text", "T-1"]);
    assert_eq!(decided["factors"]["subtaskCount"], 0);
    let slash = ["shell", "--json", "-c", "/delegation hint --text T-1"];
    assert_eq!(value(&session, &slash)["quickFactors"]["subtaskPotential"], 0);
    assert_eq!(
        value(&session, &["hint", "--json", "--text", "T-1"])["quickFactors"]["subtaskPotential"],
        0
    );
}

#[test]
fn what_is_wrong_with_a_task_is_named_and_the_others_are_none_the_worse() {
    let session = listed();
    let seen: String = ["T-2", "T-3", "T-4", "T-5", "T-7"]
        .map(|id| session.run(&["delegate", "--dry-run", id]))
        .concat();
    expect![[r#"
        ! ERROR: tasks.json: task `T-2`, `delegationConfig.mode` is "bogus"
        ! Suggestion: it takes one of `disabled`, `suggest`, `auto`, `smart`
        [exit 2]
        ! ERROR: tasks.json: task `T-3`, `delegationConfig.tokenBudget` is -1
        ! Suggestion: it takes a whole number from 0
        [exit 2]
        ! ERROR: tasks.json: task `T-4`, `delegationConfig.maxDepth` is "many"
        ! Suggestion: it takes a whole number from 1 to 5
        [exit 2]
        ! ERROR: tasks.json: task `T-5`, `subtasks[0]` is ["a","b"]
        ! Suggestion: it takes an object, such as {"title": "…"}
        [exit 2]
        ! ERROR: two tasks have the id `T-7`: tasks[6] of tasks.json, `One` and tasks[7] of tasks.json, `Other`
        ! Suggestion: give each task an id of its own, or add --text to mean the words
        [exit 2]
    "#]].assert_eq(&seen);
}

#[test]
fn an_unknown_key_of_a_task_is_warned_about_with_the_nearest_name() {
    let session = listed();
    let seen = session.run(&["hint", "T-6"]);
    let notes: String =
        seen.lines().filter(|line| line.starts_with('!')).map(|line| format!("{line}\n")).collect();
    expect![[r#"
        ! warning: tasks.json: task `T-6`: unknown key `titel` is ignored; did you mean `title`?
        ! warning: tasks.json: task `T-6`: unknown key `delegationConfig.maxDeph` is ignored; did you mean `maxDepth`?
    "#]].assert_eq(&notes);
}
