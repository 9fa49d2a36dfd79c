//! Whole delegations, with a real engine and real programs.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};

use crate::session::Session;

pub(crate) const DONE: &str = "legation submit --status completed --summary done";

/// A session in a git repository, with `legation` where programs are looked for.
pub(crate) fn repository() -> Session {
    let mut session = Session::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_legation"));
    let path = std::env::var("PATH").unwrap();
    session.set("PATH", &format!("{}:{path}", binary.parent().unwrap().display()));
    session.write("README.md", "hello\n");
    let git = "git init -q -b main . && git add README.md && \
        git -c user.name=a -c user.email=a@b.c commit -qm first";
    let made = Command::new("sh").args(["-c", git]).current_dir(session.dir()).status().unwrap();
    assert!(made.success());
    let pipes = pipes(&session);
    std::fs::create_dir(&pipes).unwrap();
    let config = format!("[sandbox]\nwritable = [\"{}\"]\n", pipes.display());
    session.write(".legation/config.toml", config);
    session
}

/// An agent whose script is run by a shell.
pub(crate) fn agent(session: &Session, id: &str, script: &str) {
    let command = json!(["sh", "-c", script]);
    let text = format!(
        "---\nid: {id}\ndescription: test agent\nlegation:\n  runner: command\n  command: {command}\n---\n"
    );
    session.write(format!(".legation/agents/{id}.md"), text);
}

pub(crate) fn json_of(session: &Session, args: &[&str]) -> Value {
    let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
    let seen = session.run(&all);
    let (json, _) = seen.rsplit_once("[exit ").unwrap_or((&seen, ""));
    let (json, _) = json.split_once("\n! ").unwrap_or((json, ""));
    serde_json::from_str(json).unwrap_or_else(|problem| panic!("{problem}: {seen}"))
}

/// The folder of pipes, which agents may write to.
fn pipes(session: &Session) -> PathBuf {
    session.root().join("pipes")
}

/// A pipe through which a test and an agent wait for one another.
pub(crate) struct Pipe(PathBuf);

impl Pipe {
    pub(crate) fn new(session: &Session, name: &str) -> Self {
        let path = pipes(session).join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self(path)
    }

    /// Waits until somebody writes.
    pub(crate) fn wait(&self) {
        assert!(!std::fs::read(&self.0).unwrap().is_empty());
    }

    /// Waits until somebody reads, and lets it go on.
    pub(crate) fn open(&self) -> File {
        OpenOptions::new().write(true).open(&self.0).unwrap()
    }

    pub(crate) fn shown(&self) -> String {
        self.0.display().to_string()
    }
}

pub(crate) fn spawn(session: &Session, args: &[&str]) -> Child {
    session.command(&session.dir(), args).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn work_is_done_looked_at_and_applied() {
    let session = repository();
    agent(
        &session,
        "maker",
        "echo made > made.txt; legation submit --status completed --summary 'made it' \
         --artifact implementation:made.txt --cost-usd 0.25 --tokens-in 100 --tokens-out 20",
    );
    let view = json_of(&session, &["delegate", "--agent", "maker", "Make it"]);
    assert_eq!(view["status"], "completed", "{view}");
    assert!(view["remaining"].is_object(), "{view}");
    assert!(!session.dir().join("made.txt").exists());
    let ignored = std::fs::read_to_string(session.dir().join(".legation/.gitignore")).unwrap();
    assert!(ignored.contains("!agents/**"), "{ignored}");
    let id = view["delegationId"].as_str().unwrap();
    let (short, _) = id.split_at(8);
    assert_eq!(json_of(&session, &["status", short])["delegationId"], id);
    assert_eq!(json_of(&session, &["cost", id])["totalUsd"], 0.25);
    let trace = json_of(&session, &["trace", id]);
    assert_eq!(trace["spans"][0]["agent"], "maker");
    let history = json_of(&session, &["history", "--status", "completed"]);
    assert_eq!(history["delegations"][0]["delegationId"], id);
    assert_eq!(history["pagination"], json!({"page": 1, "total": 1}));
    for verb in ["tree", "trace", "cost"] {
        let seen = session.run(&[verb, id]);
        assert!(
            seen.contains("maker") && seen.lines().all(|line| line.chars().count() <= 80),
            "{seen}"
        );
    }
    assert!(session.run(&["diff", id]).contains("+made"), "the whole");
    let subtask = view["subtasks"][0]["id"].as_str().unwrap();
    assert!(session.run(&["diff", id, subtask]).contains("+made"), "the part");
    let unasked = session.run(&["apply", id]);
    assert!(unasked.ends_with("[exit 2]\n"), "{unasked}");
    assert_eq!(json_of(&session, &["apply", id, "--yes"])["files"], json!(["made.txt"]));
    assert!(session.dir().join("made.txt").exists());
}

#[test]
fn a_bad_configuration_keeps_the_engine_from_starting_and_is_told_as_ever() {
    let session = repository();
    session.write(".legation/config.toml", "[limits]\nmaxDepth = 99\n");
    let told = session.run(&["delegate", "Make it"]);
    assert_eq!(told, session.run(&["delegate", "--dry-run", "Make it"]));
    expect![[r#"
        ! ERROR: bad configuration: .legation/config.toml:2: limits.maxDepth = 99 is out of range: it takes a whole number from 1 to 5
        ! Suggestion: correct it, then try `legation config check`
        [exit 2]
    "#]].assert_eq(&told);
}

#[test]
fn what_runs_is_seen_paused_resumed_and_cancelled_from_another_process() {
    let session = repository();
    let (started, go) = (Pipe::new(&session, "started"), Pipe::new(&session, "go"));
    let script = format!("echo x > {}; cat {}; {DONE}", started.shown(), go.shown());
    agent(&session, "waiter", &script);
    let child = spawn(&session, &["--json", "delegate", "--agent", "waiter", "Wait for it"]);
    started.wait();
    let status = json_of(&session, &["status"]);
    assert!(status["engine"]["pid"].is_number(), "{status}");
    let entry = &status["delegations"][0];
    assert_eq!((&entry["status"], &entry["agents"]), (&json!("running"), &json!(1)), "{status}");
    let id = entry["delegationId"].as_str().unwrap();
    assert_eq!(json_of(&session, &["pause", id])["status"], "paused");
    assert_eq!(json_of(&session, &["pause", id])["error"]["code"], "CONFLICT");
    assert_eq!(json_of(&session, &["resume", id])["status"], "running");
    json_of(&session, &["cancel", id, "--reason", "enough"]);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(5));
    let again = session.run(&["cancel", id]);
    assert!(again.ends_with("[exit 1]\n"), "{again}");
}

#[test]
fn an_engine_that_is_killed_is_started_again_by_whoever_waits() {
    let session = repository();
    let (started, go) = (Pipe::new(&session, "started"), Pipe::new(&session, "go"));
    let script = format!("echo x > {}; cat {}; {DONE}", started.shown(), go.shown());
    agent(&session, "waiter", &script);
    let child = spawn(&session, &["--json", "delegate", "--agent", "waiter", "Wait for it"]);
    started.wait();
    let first = json_of(&session, &["status"])["engine"]["pid"].to_string();
    assert!(Command::new("kill").args(["-9", &first]).status().unwrap().success());
    go.open().write_all(b"go\n").unwrap();
    let done = child.wait_with_output().unwrap();
    let view: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (&view["status"], &view["subtasks"][0]["attempts"]),
        (&json!("completed"), &json!(1))
    );
    assert_ne!(json_of(&session, &["status"])["engine"]["pid"].to_string(), first);
}

#[test]
fn the_same_key_gives_the_same_delegation() {
    let session = repository();
    agent(&session, "quick", DONE);
    let call = ["delegate", "--agent", "quick", "--idempotency-key", "k", "Do it"];
    let first = json_of(&session, &call);
    assert_eq!(json_of(&session, &call)["delegationId"], first["delegationId"]);
    assert_eq!(json_of(&session, &["history"])["pagination"]["total"], 1);
}
