//! The verbs that only look, where there is nothing to see yet, and those that steer.

use expect_test::expect;
use legation_engine::protocol::{Reply, Wish};
use serde_json::json;

use crate::fake_engine::{FakeEngine, answer, say, view};
use crate::session::Session;

#[test]
fn a_project_without_delegations_has_nothing_to_show_and_nothing_is_made() {
    let session = Session::new();
    let before = session.files();
    expect![[r#"
        No engine is running.
        Nothing is under way.
    "#]]
    .assert_eq(&session.run(&["status"]));
    expect![[r#"
        {
          "engine": {
            "pid": null
          },
          "delegations": []
        }
    "#]]
    .assert_eq(&session.run(&["--json", "status", "--all"]));
    expect![[r#"
        Nothing fits.
    "#]]
    .assert_eq(&session.run(&["history"]));
    expect![[r#"
        {
          "delegations": [],
          "pagination": {
            "page": 1,
            "total": 0
          }
        }
    "#]]
    .assert_eq(&session.run(&["--json", "history", "--limit", "3", "--since", "7d"]));
    expect![[r#"
        The task is small enough to be done directly.
          complexity 25, parts 0
    "#]]
    .assert_eq(&session.run(&["hint", "Fix all of the distributed async database"]));
    assert_eq!(session.files(), before);
}

#[test]
fn a_delegation_that_is_not_there_is_a_failure_for_every_verb() {
    let session = Session::new();
    let before = session.files();
    let verbs: &[&[&str]] = &[
        &["status", "del-9"],
        &["tree", "del-9"],
        &["trace", "del-9"],
        &["cost", "del-9"],
        &["pause", "del-9"],
        &["resume", "del-9", "--wait"],
        &["cancel", "del-9"],
        &["retry", "del-9", "a"],
        &["skip", "del-9", "a"],
        &["approve", "del-9"],
        &["reject", "del-9", "a"],
        &["diff", "del-9"],
        &["apply", "del-9", "--yes"],
    ];
    for verb in verbs {
        let seen = session.run(verb);
        assert!(seen.starts_with("! ERROR: there is no delegation `del-9`\n"), "{verb:?} {seen}");
        assert!(seen.ends_with("[exit 1]\n"), "{verb:?} {seen}");
    }
    assert_eq!(session.files(), before);
    expect![[r#"
        {
          "error": {
            "code": "CONFLICT",
            "message": "there is no delegation `del-9`",
            "hint": "nothing was delegated in this project yet",
            "details": {
              "missing": "delegation",
              "id": "del-9"
            }
          }
        }
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["--json", "status", "del-9"]));
}

#[test]
fn history_takes_only_what_it_can_mean() {
    let session = Session::new();
    expect![[r#"
        ! ERROR: invalid value 'lost' for '--status <STATUS>': expected one of pending, running, paused, completed, partial, failed, blocked, cancelled, all
        ! Suggestion: `legation history --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&session.run(&["history", "--status", "lost"]));
    expect![[r#"
        ! ERROR: invalid value 'yesterday' for '--since <TIME>': `yesterday` is no time to begin from; write it like 2h, 7d, 2026-01-31 or 2026-01-31T09:30:00Z
        ! Suggestion: `legation history --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&session.run(&["history", "--since", "yesterday"]));
    expect![[r#"
        ! ERROR: invalid value '0' for '--limit <N>': expected a whole number from 1 to 10000
        ! Suggestion: `legation history --help` tells what it takes
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["history", "--limit", "0"]));
    expect![[r#"
        Nothing fits.
    "#]]
    .assert_eq(&session.run(&["history", "--since", "2026-01-31T09:30:00Z"]));
}

/// What an attempt asks of its engine, and what it is told.
#[test]
fn steering_says_what_is_wanted_and_answers_with_how_it_stands() {
    let mut session = Session::new();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    session.set("LEGATION_TOKEN", "del-1.exec-1.seal");
    let verbs: &[&[&str]] = &[
        &["pause", "del-1", "--now", "--reason", "lunch"],
        &["resume", "del-1"],
        &["cancel", "del-1", "--reason", "enough", "--rollback"],
        &["cancel", "del-1", "a"],
        &["retry", "del-1", "a", "--agent", "other", "--note", "mind the gap"],
        &["skip", "del-1", "a", "--reason", "not needed"],
        &["approve", "del-1"],
        &["reject", "del-1", "a", "--reason", "no"],
    ];
    let done = say(Reply::Done(json!({"delegationId": "del-1", "status": "paused"})));
    let engine = FakeEngine::start(&socket, vec![vec![done]; verbs.len()]);
    let mut wishes = String::new();
    for verb in verbs {
        assert_eq!(session.run(verb), "del-1: paused\n");
        let Wish::Steer(steer) = engine.heard().wish else { panic!("steering") };
        wishes += &format!("{}\n", serde_json::to_string(&steer).unwrap());
    }
    expect![[r#"
        {"delegation":"del-1","to":{"pause":{"now":true,"reason":"lunch"}},"wait":false}
        {"delegation":"del-1","to":"resume","wait":false}
        {"delegation":"del-1","to":{"cancel":{"subtask":null,"reason":"enough","rollback":true}},"wait":false}
        {"delegation":"del-1","to":{"cancel":{"subtask":"a","reason":"","rollback":false}},"wait":false}
        {"delegation":"del-1","to":{"retry":{"subtask":"a","agent":"other","note":"mind the gap"}},"wait":false}
        {"delegation":"del-1","to":{"skip":{"subtask":"a","reason":"not needed"}},"wait":false}
        {"delegation":"del-1","to":{"approve":{"subtask":null,"approved":true,"reason":""}},"wait":false}
        {"delegation":"del-1","to":{"approve":{"subtask":"a","approved":false,"reason":"no"}},"wait":false}
    "#]].assert_eq(&wishes);
}

#[test]
fn whoever_waits_gets_the_end_and_its_exit_code() {
    let mut session = Session::new();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    let done = say(Reply::Done(json!({"delegationId": "del-1", "status": "running"})));
    let scripts = vec![vec![answer("completed")], vec![done, answer("partial")]];
    let engine = FakeEngine::start(&socket, scripts);
    assert!(session.run(&["--json", "resume", "del-1", "--wait"]).contains("\"completed\""));
    assert!(matches!(engine.heard().wish, Wish::Steer(steer) if steer.wait));
    let seen = session.run(&["retry", "del-1", "a", "--wait"]);
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
}

#[test]
fn an_engine_that_dies_before_it_has_heard_is_told_again() {
    let mut session = Session::new();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    let done = || say(Reply::Done(json!({"delegationId": "del-1", "status": "paused"})));
    let scripts = vec![Vec::new(), vec![done()], Vec::new(), vec![done(), answer("completed")]];
    let engine = FakeEngine::start(&socket, scripts);
    let seen = session.run(&["pause", "del-1"]);
    assert!(seen.starts_with("del-1: paused\n"), "{seen}");
    let seen = session.run(&["--json", "resume", "del-1", "--wait"]);
    assert!(seen.contains("\"completed\""), "{seen}");
    let wishes = [(); 4].map(|()| engine.heard().wish);
    assert!(wishes.iter().all(|wish| matches!(wish, Wish::Steer(_))), "{wishes:?}");
}

#[test]
fn folders_that_could_not_be_shared_are_told_in_a_line() {
    let mut session = Session::new();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    let mut view = view("completed");
    view["subtasks"][0]["receipt"]["notShared"] = json!(["node_modules", ".venv"]);
    let end = say(Reply::Answer { status: "completed".to_owned(), view });
    let _engine = FakeEngine::start(&socket, vec![vec![end]]);
    let seen = session.run(&["resume", "del-1", "--wait"]);
    let lines = seen.lines().skip_while(|line| !line.contains("workspace.share")).take(2);
    let told = lines.map(str::trim).collect::<Vec<_>>().join("\n");
    expect![[r#"
        workspace.share had no effect here, and it worked without node_modules,
        .venv; `legation doctor` says why"#]]
    .assert_eq(&told);
}

#[test]
fn what_the_fence_refused_is_told_in_a_line() {
    let mut session = Session::new();
    let socket = session.root().join("own.sock");
    session.set("LEGATION_SOCKET", socket.to_str().unwrap());
    let mut view = view("completed");
    view["subtasks"][0]["receipt"]["fenceRefused"] = json!([
        {"what": "fs.read_file", "target": "/a/\u{1b}[31msecret"},
        {"what": "scope.signal", "target": "process 1 (init)"},
        {"what": "fs.read_dir"},
        {"what": "fs.read_file", "target": "/b"},
    ]);
    let end = say(Reply::Answer { status: "completed".to_owned(), view });
    let _engine = FakeEngine::start(&socket, vec![vec![end]]);
    let seen = session.run(&["resume", "del-1", "--wait"]);
    let mut lines = seen.lines().skip_while(|line| !line.contains("the fence"));
    let told = [lines.next().unwrap(), lines.next().unwrap()].map(str::trim).join("\n");
    expect![[r#"
        the fence refused fs.read_file /a/\u{1b}[31msecret, scope.signal process 1
        (init), fs.read_dir, and 1 more"#]]
    .assert_eq(&told);
}
