//! `legation submit`, outside and inside an attempt.

use std::fs;

use expect_test::expect;
use legation_engine::protocol::{Reply, Wish};
use serde_json::{Value, json};

use crate::fake_engine::{FakeEngine, say};
use crate::session::Session;

/// A session that stands inside an attempt; the project is its workspace.
fn inside() -> Session {
    let mut session = Session::new();
    let folder = session.root().join("attempt");
    fs::create_dir(&folder).unwrap();
    session.set("LEGATION_ATTEMPT_DIR", folder.to_str().unwrap());
    let workspace = session.dir();
    session.set("LEGATION_WORKSPACE", workspace.to_str().unwrap());
    session.set("LEGATION_SESSION_ID", "sess_1735460684_a1b2c3");
    session.set("LEGATION_TOKEN", "del-1.exec-1.seal");
    session.set("DELEGATION_DEPTH", "2");
    session
}

fn handed_in(session: &Session) -> String {
    let text = fs::read_to_string(session.root().join("attempt/return.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    format!("{}\n", serde_json::to_string_pretty(&value).unwrap())
}

const DONE: [&str; 5] = ["submit", "--status", "completed", "--summary", "Done."];

#[test]
fn outside_an_attempt_there_is_nobody_to_hand_in_to() {
    let mut session = Session::new();
    expect![[r#"
        ! ERROR: this is not inside an attempt: LEGATION_SESSION_ID is not set
        ! Suggestion: `submit` is for agents that Legation runs; it sets what is needed for them
        [exit 2]
    "#]]
    .assert_eq(&session.run(&DONE));
    session.set("LEGATION_SESSION_ID", "sess_1_aaaaaa");
    expect![[r#"
        ! ERROR: this is not inside an attempt: LEGATION_TOKEN is not set
        ! Suggestion: `submit` is for agents that Legation runs; it sets what is needed for them
        [exit 2]
    "#]]
    .assert_eq(&session.run(&DONE));
}

#[test]
fn a_return_is_dropped_for_the_engine_with_its_token() {
    let session = inside();
    session.write("out.txt", "x");
    session.write("docs/page.md", "x");
    let mut args = DONE.to_vec();
    args.extend(["--artifact", "implementation:out.txt", "--artifact", "report:docs"]);
    args.extend(["--data", "{\"decision\":\"A\"}", "--next-steps", "Look at it."]);
    args.extend(["--tokens-in", "100", "--tokens-out", "10", "--cost-usd", "2.50"]);
    expect![[r#"
        handed in: completed
    "#]]
    .assert_eq(&session.run(&args));
    expect![[r#"
        {
          "token": "del-1.exec-1.seal",
          "return": {
            "status": "completed",
            "summary": "Done.",
            "artifacts": [
              {
                "type": "implementation",
                "path": "out.txt"
              },
              {
                "type": "report",
                "path": "docs"
              }
            ],
            "metadata": {
              "session_id": "sess_1735460684_a1b2c3",
              "agent_type": "",
              "delegation_depth": 2,
              "delegation_path": []
            },
            "errors": [],
            "next_steps": "Look at it.",
            "data": {
              "decision": "A"
            }
          },
          "usage": {
            "input": 100,
            "output": 10,
            "costUsd": 2.5
          }
        }
    "#]]
    .assert_eq(&handed_in(&session));
    // The last one counts, and nothing else is left.
    session.run(&[
        "submit",
        "--status",
        "failed",
        "--summary",
        "No.",
        "--error",
        "execution:boom: x",
    ]);
    expect![[r#"
        {
          "token": "del-1.exec-1.seal",
          "return": {
            "status": "failed",
            "summary": "No.",
            "artifacts": [],
            "metadata": {
              "session_id": "sess_1735460684_a1b2c3",
              "agent_type": "",
              "delegation_depth": 2,
              "delegation_path": []
            },
            "errors": [
              {
                "type": "execution",
                "message": "boom: x",
                "recoverable": true,
                "recommendation": ""
              }
            ]
          }
        }
    "#]]
    .assert_eq(&handed_in(&session));
    assert_eq!(fs::read_dir(session.root().join("attempt")).unwrap().count(), 1);
}

#[test]
fn a_bad_return_is_told_at_once_and_nothing_is_handed_in() {
    let session = inside();
    session.write("empty.txt", "");
    let long = "x".repeat(501);
    let cases: &[&[&str]] = &[
        &["--status", "failed", "--summary", "No."],
        &["--status", "completed", "--summary", " "],
        &["--status", "completed", "--summary", &long],
        &["--status", "completed", "--summary", "Ok.", "--artifact", "report:ghost.md"],
        &["--status", "completed", "--summary", "Ok.", "--artifact", "report:empty.txt"],
        &["--status", "completed", "--summary", "Ok.", "--artifact", "report:../attempt"],
        &["--status", "completed", "--summary", "Ok.", "--artifact", "report:/etc/passwd"],
    ];
    let mut seen = String::new();
    for case in cases {
        let args: Vec<&str> =
            ["submit", "--json"].into_iter().chain(case.iter().copied()).collect();
        let all = session.run(&args);
        let (json, exit) = all.rsplit_once("[exit ").unwrap();
        let error = &serde_json::from_str::<Value>(json).unwrap()["error"];
        let (check, message) = (&error["details"]["check"], error["message"].as_str().unwrap());
        seen += &format!("{} {check}: {message}\n", exit.trim_end().trim_end_matches(']'));
    }
    expect![[r#"
        1 "errors": `errors` is empty, but the status is not completed
        1 "summary": `summary` is blank
        1 "summary": `summary` has 501 characters; at most 500 are allowed
        1 "artifacts": `artifacts[0].path` "ghost.md" does not exist in the workspace
        1 "artifacts": `artifacts[0].path` "empty.txt" has no content
        1 "artifacts": `artifacts[0].path` "../attempt" has a `..` step, which could leave the workspace
        1 "artifacts": `artifacts[0].path` "/etc/passwd" is absolute; paths are relative to the workspace
    "#]].assert_eq(&seen);
    assert_eq!(fs::read_dir(session.root().join("attempt")).unwrap().count(), 0);
    expect![[r#"
        ! ERROR: invalid value 'done' for '--status <STATUS>': expected one of completed, partial, failed, blocked
        ! Suggestion: `legation submit --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&session.run(&["submit", "--status", "done", "--summary", "Ok."]));
    expect![[r#"
        ! ERROR: invalid value 'out.txt' for '--artifact <TYPE:PATH>': expected two words with a colon between them
        ! Suggestion: `legation submit --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&session.run(&[DONE.as_slice(), &["--artifact", "out.txt"]].concat()));
    expect![[r#"
        ! ERROR: invalid value '{' for '--data <JSON>': not JSON: EOF while parsing an object at line 1 column 1
        ! Suggestion: `legation submit --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&session.run(&[DONE.as_slice(), &["--data", "{"]].concat()));
}

#[test]
fn data_that_does_not_fit_the_schema_is_told_at_once_and_nothing_is_handed_in() {
    let session = inside();
    let schema = r#"{"type": "object", "required": ["decision"]}"#;
    fs::write(session.root().join("schema.json"), schema).unwrap();
    expect![[r#"
        ! ERROR: `data`: "decision" is a required property
        ! Suggestion: make `data` match the JSON Schema in the brief
        [exit 1]
    "#]]
    .assert_eq(&session.run(&[DONE.as_slice(), &["--data", "{\"other\": 1}"]].concat()));
    assert_eq!(fs::read_dir(session.root().join("attempt")).unwrap().count(), 0);
    let fits = [DONE.as_slice(), &["--data", "{\"decision\": 1}"]].concat();
    assert!(session.run(&fits).starts_with("handed in"));
    // What is no schema is for the engine to tell.
    fs::write(session.root().join("schema.json"), "{").unwrap();
    assert!(session.run(&DONE).starts_with("handed in"));
}

#[test]
fn an_agent_is_told_what_its_schema_wants_and_mends_it() {
    let session = Session::new();
    let out = session.out();
    let submit = format!("{} submit --status completed --summary", env!("CARGO_BIN_EXE_legation"));
    let script = format!(
        "{submit} bad --data '{{\"other\": 1}}' 2> {} || \
         {submit} good --data '{{\"decision\": 1}}' > /dev/null",
        out.join("told.txt").display(),
    );
    let command = serde_json::json!(["sh", "-c", script]);
    let file = format!(
        "---\nid: w\ndescription: Decides.\nlegation:\n  runner: command\n  \
         command: {command}\n  schema: {{type: object, required: [decision]}}\n---\n"
    );
    session.write(".legation/agents/w.md", file);
    let seen = session.run(&["--json", "delegate", "--agent", "w", "Decide"]);
    let answer: Value = serde_json::from_str(seen.split("\n[exit").next().unwrap()).unwrap();
    assert_eq!(answer["status"], "completed", "{seen}");
    assert_eq!(answer["result"]["data"]["decision"], 1, "{seen}");
    let told = fs::read_to_string(out.join("told.txt")).unwrap();
    assert!(told.contains("decision"), "{told}");
}

#[test]
fn paths_are_told_from_the_top_of_the_workspace() {
    let session = inside();
    session.write("top.txt", "x");
    session.write("src/deep/made.txt", "x");
    let absolute = session.dir().join("src/deep/made.txt");
    let absolute = format!("report:{}", absolute.display());
    let artifacts = [
        "report:made.txt",
        "report:../../top.txt",
        "report:top.txt",
        "report:./made.txt",
        &absolute,
    ];
    let mut args = DONE.to_vec();
    args.extend(artifacts.iter().flat_map(|artifact| ["--artifact", artifact]));
    session.run_in("src/deep", &args);
    let returned: Value = serde_json::from_str(&handed_in(&session)).unwrap();
    let paths = returned["return"]["artifacts"].as_array().unwrap().iter().map(|it| &it["path"]);
    let paths: Vec<&Value> = paths.collect();
    assert_eq!(
        paths,
        ["src/deep/made.txt", "top.txt", "top.txt", "src/deep/made.txt", "src/deep/made.txt"]
    );
}

#[test]
fn the_engine_is_told_if_it_is_there() {
    let mut session = inside();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    assert!(session.run(&DONE).starts_with("handed in"));
    let engine = FakeEngine::start(&socket, vec![Vec::new(), Vec::new()]);
    assert!(session.run(&DONE).starts_with("handed in"));
    for wish in [Wish::Who, Wish::Submitted] {
        let request = engine.heard();
        assert_eq!(request.wish, wish);
        assert_eq!(request.token.as_deref(), Some("del-1.exec-1.seal"));
    }
}

#[test]
fn a_session_that_is_not_the_tokens_own_is_refused_at_once() {
    let mut session = inside();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    let who = say(Reply::Done(json!({"name": "w", "sessionId": "sess_1735460684_zzzzzz"})));
    let _engine = FakeEngine::start(&socket, vec![vec![who]]);
    expect![[r#"
        ! ERROR: `metadata.session_id` is "sess_1735460684_a1b2c3", expected "sess_1735460684_zzzzzz"
        ! Suggestion: copy the session id from the brief
        [exit 1]
    "#]].assert_eq(&session.run(&DONE));
    assert!(!session.root().join("attempt/return.json").exists());
}
