//! Conversations with models under the real engine: what is killed, paused or cancelled in
//! the middle of one.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::models::{agent, call, model, submit};
use super::stage::{Stage, wait_for};

const TOOLS: &str = "tools: {allow: [read, edit, shell]}\n";

/// A model that has a command run and is done then. The command says where it is in the
/// file `pid` and waits for the file `go`; what it starts aside says so in `daemon`.
fn waiting(stage: &Stage, name: &str) -> String {
    let out = stage.out(name).display().to_string();
    let command = format!(
        "setsid sh -c 'echo $$ > {out}daemon; exec sleep 1000' & \
         echo $$ > {out}pid; until [ -e {out}go ]; do :; done; echo done > {name}.txt"
    );
    model(vec![call("shell", &json!({"command": command})), submit()])
}

/// The letter for what a process does that wrote its own number.
fn state(stage: &Stage, name: &str) -> Option<char> {
    let pid: u32 = stage.told(name).trim().parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn lives(stage: &Stage, name: &str) -> bool {
    state(stage, name).is_some_and(|state| state != 'Z' && state != 'X')
}

/// Starts a conversation, and waits until its command runs and its process is recorded.
fn begin(stage: &Stage, name: &str) -> String {
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "m", "Run it"]);
    let id = begun["delegationId"].as_str().unwrap().to_owned();
    for file in ["pid", "daemon"] {
        wait_for("it to run", || lives(stage, &format!("{name}{file}")).then_some(()));
    }
    wait_for("its process to be recorded", || chancery(stage, &id));
    id
}

/// The process that holds the newest attempt.
fn chancery(stage: &Stage, id: &str) -> Option<u32> {
    let attempts = stage.tree(id).attempts;
    attempts.iter().rev().find_map(|(_, attempt)| attempt.process).map(|process| process.pid)
}

fn ended(stage: &Stage, id: &str) -> Value {
    wait_for("the end", || {
        let (_, view) = stage.json(&["status", id]);
        let status = view["status"].as_str().unwrap_or_default().to_owned();
        (!["running", "pending"].contains(&status.as_str())).then_some(view)
    })
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_conversation_goes_on_when_the_engine_is_killed() {
    let stage = Stage::new("");
    agent(&stage, TOOLS, &waiting(&stage, "it"));
    let id = begin(&stage, "it");
    let first = chancery(&stage, &id);
    assert!(stage.kill());
    std::fs::write(stage.out("itgo"), "").unwrap();
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    let subtask = &view["subtasks"][0];
    assert_eq!((code, &view["status"]), (0, &json!("completed")), "{view}");
    assert_eq!(subtask["attempts"], 1, "{subtask}");
    assert_eq!(subtask["receipt"]["filesChanged"], json!(["it.txt"]), "{subtask}");
    assert_eq!(subtask["receipt"]["tokens"]["input"], 2_000, "{subtask}");
    assert!(stage.processes().is_empty());
    let first = first.unwrap();
    wait_for("the first chancery to end", || {
        (!std::path::Path::new(&format!("/proc/{first}/exe")).exists()).then_some(())
    });
}

#[test]
fn an_attempt_whose_chancery_is_killed_leaves_nothing_and_is_tried_again() {
    let stage = Stage::new("[recovery]\nmaxRetries = 1\n");
    agent(&stage, TOOLS, &waiting(&stage, "it"));
    let id = begin(&stage, "it");
    let started: Vec<String> = ["itpid", "itdaemon"].map(|file| stage.told(file)).to_vec();
    kill(chancery(&stage, &id).unwrap());
    wait_for("everything to end", || {
        let is_gone = |pid: &String| !std::path::Path::new("/proc").join(pid.trim()).exists();
        started.iter().all(is_gone).then_some(())
    });
    std::fs::write(stage.out("itgo"), "").unwrap();
    let view = ended(&stage, &id);
    let subtask = &view["subtasks"][0];
    assert_eq!((&view["status"], &subtask["attempts"]), (&json!("completed"), &json!(2)), "{view}");
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
}

#[test]
fn one_is_cancelled_in_the_middle_of_a_command_and_the_other_goes_on() {
    let stage = Stage::new("");
    agent(&stage, TOOLS, &waiting(&stage, "one"));
    let one = begin(&stage, "one");
    agent(&stage, TOOLS, &waiting(&stage, "two"));
    let two = begin(&stage, "two");
    assert_eq!(chancery(&stage, &one), chancery(&stage, &two));
    assert_eq!(stage.json(&["cancel", &one]).0, 0);
    assert_eq!(ended(&stage, &one)["status"], "cancelled");
    assert!(!lives(&stage, "onepid") && !lives(&stage, "onedaemon"));
    assert!(lives(&stage, "twopid") && lives(&stage, "twodaemon"));
    std::fs::write(stage.out("twogo"), "").unwrap();
    let view = ended(&stage, &two);
    let subtask = &view["subtasks"][0];
    assert_eq!((&view["status"], &subtask["attempts"]), (&json!("completed"), &json!(1)), "{view}");
    assert!(stage.processes().is_empty());
}

#[test]
fn a_conversation_is_paused_with_its_command_and_goes_on() {
    let stage = Stage::new("");
    agent(&stage, TOOLS, &waiting(&stage, "it"));
    let id = begin(&stage, "it");
    assert_eq!(stage.json(&["pause", &id, "--now"]).0, 0);
    for file in ["itpid", "itdaemon"] {
        wait_for("it to be frozen", || (state(&stage, file) == Some('T')).then_some(()));
    }
    std::fs::write(stage.out("itgo"), "").unwrap();
    // The next engine does not make it go on, either.
    assert!(stage.kill());
    let (_, view) = stage.json(&["status", &id]);
    assert_eq!((&view["status"], state(&stage, "itpid")), (&json!("paused"), Some('T')), "{view}");
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!((code, &view["subtasks"][0]["attempts"]), (0, &json!(1)), "{view}");
    assert!(stage.processes().is_empty());
}
