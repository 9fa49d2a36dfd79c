//! `legation delegate` and `legation direct`, with an engine that says what it is told to.

mod before;
mod lost;

use std::process::{Command, Stdio};

use expect_test::expect;
use legation_core::Code;
use legation_core::money::Usd;
use legation_core::returns::Tokens;
use legation_engine::news::What;
use legation_engine::protocol::{Refused, Reply, To, Wish};
use serde_json::{Value, json};

use crate::fake_engine::{FakeEngine, Step, accepted, answer, news, run, say};
use crate::session::Session;

fn engine(session: &Session, scripts: Vec<Vec<Step>>) -> FakeEngine {
    FakeEngine::start(&session.paths().socket, scripts)
}

#[test]
fn each_end_has_its_exit_code() {
    let cases = [("completed", 0), ("failed", 1), ("partial", 3), ("blocked", 4), ("cancelled", 5)];
    for (status, code) in cases {
        let session = Session::new();
        let engine = engine(&session, vec![vec![accepted(), answer(status)]]);
        let seen = session.run(&["--json", "delegate", "Look after it"]);
        let (json, exit) = seen.split_once("[exit ").unwrap_or((&seen, "0]"));
        let json: Value = serde_json::from_str(json).unwrap();
        assert_eq!(json["status"], status);
        assert_eq!(exit.trim_end(), format!("{code}]"), "{status}");
        assert!(matches!(engine.heard().wish, Wish::Delegate(_)));
    }
}

#[test]
fn each_code_of_a_refusal_has_its_exit_code() {
    let mut seen = String::new();
    for code in Code::ALL {
        let session = Session::new();
        let refused =
            Refused { code: code.to_string(), message: "No.".to_owned(), ..Refused::default() };
        let _engine = engine(&session, vec![vec![say(Reply::Refused(refused))]]);
        let all = session.run(&["delegate", "Look after it"]);
        let exit = all.lines().find(|line| line.starts_with("[exit")).unwrap();
        seen += &format!("{exit} {code}\n");
    }
    expect![[r#"
        [exit 6] MAX_DEPTH_EXCEEDED
        [exit 6] CONTEXT_EXCEEDED
        [exit 6] CYCLE_DETECTED
        [exit 1] WORKSPACE_FAILED
        [exit 6] BUDGET_EXCEEDED
        [exit 6] TOO_MANY_DELEGATIONS
        [exit 1] AGENT_NOT_FOUND
        [exit 6] AGENT_NOT_ALLOWED
        [exit 6] PERMISSION_DENIED
        [exit 2] VALIDATION_FAILED
        [exit 1] TIMEOUT
        [exit 1] TOOL_UNAVAILABLE
        [exit 1] BUILD_ERROR
        [exit 1] FILE_NOT_FOUND
        [exit 1] GIT_COMMIT_FAILED
        [exit 6] DELEGATION_DISABLED
        [exit 1] CONFLICT
        [exit 1] UNKNOWN_ERROR
    "#]]
    .assert_eq(&seen);
}

#[test]
fn a_refusal_carries_the_figures_and_what_remains() {
    let refused = Refused {
        code: "MAX_DEPTH_EXCEEDED".to_owned(),
        message: "Delegation depth limit (2) reached. Cannot delegate further.".to_owned(),
        hint: "Complete this task at current level or simplify.".to_owned(),
        details: json!({"depth": 2}),
        figures: vec!["Current depth: 2".to_owned(), "Attempted delegation: Fix it".to_owned()],
        remaining: Some(json!({"depth": 0})),
    };
    let session = Session::new();
    let script = vec![say(Reply::Refused(refused))];
    let _engine = engine(&session, vec![script.clone(), script]);
    expect![[r#"
        ! ERROR: Delegation depth limit (2) reached. Cannot delegate further.
        ! 
        ! Current depth: 2
        ! Attempted delegation: Fix it
        ! 
        ! Suggestion: Complete this task at current level or simplify.
        [exit 6]
    "#]]
    .assert_eq(&session.run(&["delegate", "Fix it"]));
    expect![[r#"
        {
          "error": {
            "code": "MAX_DEPTH_EXCEEDED",
            "message": "Delegation depth limit (2) reached. Cannot delegate further.",
            "hint": "Complete this task at current level or simplify.",
            "details": {
              "depth": 2
            }
          },
          "remaining": {
            "depth": 0
          }
        }
        [exit 6]
    "#]]
    .assert_eq(&session.run(&["--json", "delegate", "Fix it"]));
}

#[test]
fn in_a_pipe_every_event_is_a_line_and_the_end_is_told() {
    let session = Session::new();
    let ended = What::Ended {
        run: run(),
        status: "completed".to_owned(),
        summary: "fine\nand \u{1b}[1mwell".to_owned(),
        duration_ms: 1500,
        tokens: Some(Tokens { input: 1000, output: 200, ..Tokens::default() }),
        cost_usd: Usd::from_dollars(0.02),
        files_changed: Vec::new(),
        refused: Vec::new(),
        errors: Vec::new(),
    };
    let progress =
        What::Progress { run: run(), current: 1, total: 4, last_action: "reading".to_owned() };
    let merged =
        What::Merged { subtask: "a".into(), clean: false, detail: "conflict in a.txt".to_owned() };
    let script = vec![
        say(Reply::Note("an odd setting".to_owned())),
        accepted(),
        news(What::Started(run())),
        news(progress),
        news(ended),
        news(merged),
        news(What::Retried { subtask: "a".into(), why: "it failed".to_owned() }),
        news(What::Paused { reason: "lunch".to_owned() }),
        news(What::Resumed),
        answer("completed"),
    ];
    let _engine = engine(&session, vec![script]);
    expect![[r#"
        a → linter: the plan names it
        2026-01-02T03:04:05Z del-1 started   a [linter] lint
        2026-01-02T03:04:05Z del-1 progress  a [linter] 1/4 reading
        2026-01-02T03:04:05Z del-1 completed a [linter] 1.5s 1,200 tokens $0.02: fine and \u{1b}[1mwell
        2026-01-02T03:04:05Z del-1 unmerged  a: conflict in a.txt
        2026-01-02T03:04:05Z del-1 retry     a: it failed
        2026-01-02T03:04:05Z del-1 paused    lunch
        2026-01-02T03:04:05Z del-1 resumed
        Look after it
        del-1 · completed · parallel · 1 of 1 · 1.6s · 1,200 tokens · $0.02
        └─ completed  a lint · linter · 1.5s · 1,200 tokens · $0.02 · attempt 2
             Found \u{1b}[31mnothing.
        Result: All is well.
          a.txt  report
        Next: legation diff del-1, then legation apply del-1
        ! warning: an odd setting
    "#]].assert_eq(&session.run(&["delegate", "Look after it"]));
}

#[test]
fn what_is_said_on_the_command_line_reaches_the_engine() {
    let mut session = Session::new();
    session.set("LEGATION_LIMITS__MAX_DEPTH", "2");
    session.set("DELEGATION_DEPTH", "1");
    session.set("UNRELATED", "1");
    session.write("plan.json", json!({"mode": "review", "subtasks": [{"id": "a"}]}).to_string());
    let script = vec![accepted(), answer("completed")];
    let engine = engine(&session, vec![script.clone(), script.clone(), script]);
    session.run(&[
        "delegate",
        "-p",
        "parallel-streaming",
        "-d",
        "2",
        "-a",
        "3",
        "-b",
        "9000",
        "--max-cost",
        "$0.50",
        "--agent",
        "x",
        "--agent",
        "y",
        "--aggregate",
        "best",
        "--rounds",
        "4",
        "--timeout",
        "90s",
        "--context",
        "full_history",
        "--include-dirty",
        "--idempotency-key",
        "k",
        "--yes",
        "--text",
        "Fix it",
    ]);
    let request = engine.heard();
    assert_eq!(request.token, None);
    expect![[r#"
        {
            "DELEGATION_DEPTH": "1",
            "LEGATION_LIMITS__MAX_DEPTH": "2",
        }
    "#]]
    .assert_debug_eq(&request.env);
    expect![[r#"
        {
          "delegate": {
            "task": "Fix it",
            "entry": null,
            "plan": null,
            "pattern": "parallel_streaming",
            "agents": [
              "x",
              "y"
            ],
            "aggregate": "best",
            "rounds": 4,
            "depth": 2,
            "width": 3,
            "budget": 9000,
            "maxCost": 0.5,
            "timeoutMs": 90000,
            "context": "full",
            "includeDirty": true,
            "idempotencyKey": "k",
            "detach": false,
            "yes": true
          }
        }
    "#]]
    .assert_eq(&format!("{}\n", serde_json::to_string_pretty(&request.wish).unwrap()));
    session.run(&["delegate", "--plan", "plan.json"]);
    let Wish::Delegate(call) = engine.heard().wish else { panic!("a delegation") };
    assert_eq!((call.task.as_str(), call.plan.map(|plan| plan.subtasks.len())), ("a", Some(1)));
    assert!(call.idempotency_key.is_some_and(|key| key.starts_with("call-")));
    session.run_with(&["direct", "--agent", "x", "-"], b"From stdin\n");
    let Wish::Delegate(call) = engine.heard().wish else { panic!("a delegation") };
    assert_eq!(
        (call.task.as_str(), format!("{:?}", call.pattern)),
        ("From stdin\n", "Some(Direct)".to_owned())
    );
}

#[test]
fn whoever_detaches_gets_the_id_and_does_not_wait() {
    let session = Session::new();
    let done = say(Reply::Answer { status: "accepted".to_owned(), view: Value::Null });
    let script = vec![accepted(), done];
    // An engine that says nothing more is as good.
    let silent = vec![accepted()];
    let engine = engine(&session, vec![script.clone(), script, silent]);
    expect![[r#"
        del-1
    "#]]
    .assert_eq(&session.run(&["delegate", "--detach", "Fix it"]));
    expect![[r#"
        {
          "delegationId": "del-1",
          "status": "pending"
        }
    "#]]
    .assert_eq(&session.run(&["--json", "delegate", "--detach", "Fix it"]));
    expect![[r#"
        {
          "delegationId": "del-1",
          "status": "pending"
        }
    "#]]
    .assert_eq(&session.run(&["--json", "delegate", "--detach", "Fix it"]));
    let Wish::Delegate(call) = engine.heard().wish else { panic!("a delegation") };
    assert!(call.detach);
}

#[test]
fn ctrl_c_cancels_and_waits_for_the_end() {
    let session = Session::new();
    let first = vec![accepted(), Step::Until(2), answer("cancelled")];
    let second = vec![say(Reply::Done(json!({})))];
    let engine = engine(&session, vec![first, second]);
    let mut command = session.command(&session.dir(), &["delegate", "Look after it"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    assert!(matches!(engine.heard().wish, Wish::Delegate(_)));
    interrupt(child.id());
    let Wish::Steer(steer) = engine.heard().wish else { panic!("a cancel") };
    assert_eq!(steer.delegation.as_str(), "del-1");
    let to = To::Cancel { subtask: None, reason: "interrupted".to_owned(), rollback: false };
    assert_eq!((steer.to, steer.wait), (to, false));
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(5));
    expect![[r#"
        cancelling; press Ctrl-C again to leave while it goes on
    "#]]
    .assert_eq(&String::from_utf8(done.stderr).unwrap());
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let session = Session::new();
    let engine = engine(&session, vec![vec![accepted(), Step::Until(3)]; 2]);
    let mut command = session.command(&session.dir(), &["--json", "delegate", "Look after it"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    assert!(matches!(engine.heard().wish, Wish::Delegate(_)));
    interrupt(child.id());
    assert!(matches!(engine.heard().wish, Wish::Steer(_)));
    interrupt(child.id());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(5));
    expect![[r#"
        {
          "delegationId": "del-1",
          "status": "running",
          "cancelRequested": true
        }
    "#]]
    .assert_eq(&String::from_utf8(done.stdout).unwrap());
}

fn interrupt(pid: u32) {
    assert!(Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn an_attempt_speaks_in_its_own_name_and_over_its_own_socket() {
    let mut session = Session::new();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    session.set("LEGATION_TOKEN", "del-1.exec-1.seal");
    let engine = FakeEngine::start(&socket, vec![vec![accepted(), answer("completed")]]);
    session.run(&["delegate", "--agent", "x", "Fix it"]);
    let request = engine.heard();
    assert_eq!(request.token.as_deref(), Some("del-1.exec-1.seal"));
    let Wish::Delegate(call) = request.wish else { panic!("a delegation") };
    assert_eq!(call.idempotency_key, None);
}
