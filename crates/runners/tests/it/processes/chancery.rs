//! Conversations that share a process, and everything that may happen to one of them.

use std::fs;
use std::path::Path;
use std::sync::mpsc::Receiver;

use legation_core::config::Network;
use legation_runners::envoy::{Charge, Reader};
use legation_runners::fence::Fence;
use legation_runners::keep::{Ended, Order};
use legation_runners::supervise::{
    Ancestry, Chancery, Error, Exit, Found, Running, ancestry, become_subreaper, find, reap,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::stage::{NOBODY, Stage, alive, ended, eventually, in_time, keeper, rest, state};
use super::time::in_ms;
use crate::llm::server::{Script, anthropic, anthropic_events, serve};
use crate::talked::charge;

/// A model that has this command run and is done then.
fn runs(command: &str) -> Vec<Script> {
    let shell = json!({"tool": "shell", "input": {"command": command}});
    vec![anthropic(&[json!({"text": "I run it."}), shell]), submits()]
}

fn submits() -> Script {
    let returned = json!({"status": "completed", "summary": "Done."});
    anthropic(&[json!({"tool": "submit_result", "input": returned})])
}

/// A model that begins to speak and never ends.
fn hangs() -> Vec<Script> {
    vec![Script::stream(&anthropic_events(&[json!({"text": "for ever"})])[..3]).held()]
}

/// Writes the command's own number down, and waits until it may go on.
const WAITS: &str = "echo $$ > pid; until [ -e go ]; do :; done";

fn order(stage: &Stage, scripts: Vec<Script>) -> (Order, Receiver<Value>) {
    let (address, asked) = serve(scripts);
    let workspace = stage.workspace();
    let mut charge = Charge { workspace: workspace.clone(), ..charge(&workspace) };
    charge.known.session_id = stage.session.clone();
    let mut order = stage.order(&[env!("CARGO_BIN_EXE_keeper"), "hand"]);
    order.stdin = serde_json::to_string(&charge).unwrap();
    order.env.push(("ANTHROPIC_BASE_URL".to_owned(), address));
    order.env.push(("ANTHROPIC_API_KEY".to_owned(), "k-1".to_owned()));
    (order, asked)
}

/// A conversation, and what its model is asked; who does not keep that ends the model.
async fn hold(
    chancery: &Chancery,
    stage: &Stage,
    scripts: Vec<Script>,
) -> (Running, Receiver<Value>) {
    let (order, asked) = order(stage, scripts);
    (in_time(chancery.spawn(&order)).await.unwrap(), asked)
}

fn chancery() -> Chancery {
    Chancery::beside(&keeper())
}

/// The number that a process has written into a file of the workspace, once it has.
async fn pid_in(stage: &Stage, name: &str) -> u32 {
    let number = || fs::read_to_string(stage.workspace().join(name)).ok()?.trim().parse().ok();
    eventually(|| number().is_some()).await;
    number().unwrap()
}

fn go(stage: &Stage) {
    fs::write(stage.workspace().join("go"), "").unwrap();
}

fn text(output: &[u8]) -> String {
    let mut reader = Reader::default();
    reader.push(output);
    reader.text()
}

#[tokio::test]
async fn one_is_stopped_with_everything_it_started_and_the_other_goes_on() {
    let chancery = chancery();
    let (one, two) = (Stage::impatient(), Stage::new());
    let daemon = "setsid sh -c \"trap '' TERM; echo \\$\\$ > daemon; while :; do :; done\" &
        echo $$ > pid; exec sleep 1000";
    let (mut first, _asked) = hold(&chancery, &one, runs(daemon)).await;
    let (mut second, _asked_too) = hold(&chancery, &two, runs(WAITS)).await;
    assert_eq!(first.process, second.process);
    let started = [pid_in(&one, "pid").await, pid_in(&one, "daemon").await];
    let others = [pid_in(&two, "pid").await];
    first.remote().stop();
    assert_eq!(text(&rest(&mut first).await), "I run it.\n");
    let report = ended(&mut first).await;
    assert_eq!((report.code, report.stopped), (Some(0), true), "{report:?}");
    assert_eq!(alive(&started), NOBODY);
    assert_eq!(alive(&others), others);
    go(&two);
    assert!(text(&rest(&mut second).await).contains("Done."));
    let report = ended(&mut second).await;
    assert_eq!((report.code, report.stopped), (Some(0), false), "{report:?}");
}

#[tokio::test]
async fn nothing_survives_a_chancery_that_is_killed() {
    become_subreaper().unwrap();
    let (chancery, stage) = (chancery(), Stage::new());
    let commands = "env -i setsid sh -c 'echo $$ > daemon; exec sleep 1000' &
        echo $$ > pid; while :; do :; done";
    let (mut running, _asked) = hold(&chancery, &stage, runs(commands)).await;
    let started = [pid_in(&stage, "pid").await, pid_in(&stage, "daemon").await];
    running.remote().kill();
    assert_eq!(text(&rest(&mut running).await), "I run it.\n");
    let exit = in_time(running.wait()).await;
    assert!(matches!(exit, Exit::Lost { .. }), "{exit:?}");
    assert_eq!(alive(&started), NOBODY);
    // The next attempt gets another.
    let stage = Stage::new();
    let (mut next, _asked_too) = hold(&chancery, &stage, vec![submits()]).await;
    assert_ne!(next.process, running.process);
    assert_eq!(ended(&mut next).await.code, Some(0));
}

#[tokio::test]
async fn hands_end_with_their_chancery_when_nobody_is_there_to_reap_them() {
    let (chancery, stage) = (chancery(), Stage::impatient());
    let commands = "trap '' TERM; echo $$ > pid; while :; do :; done";
    let (running, _asked) = hold(&chancery, &stage, runs(commands)).await;
    let started = [pid_in(&stage, "pid").await];
    running.remote().kill();
    drop(running);
    eventually(|| alive(&started).is_empty()).await;
}

#[tokio::test]
async fn a_conversation_needs_no_engine_and_is_found_by_the_next() {
    let (chancery, stage) = (chancery(), Stage::new());
    let (first, _asked) = hold(&chancery, &stage, runs(WAITS)).await;
    let process = first.process;
    pid_in(&stage, "pid").await;
    drop((first, chancery));
    let found = find(&stage.dir(), &stage.session, Some(process)).unwrap();
    let Found::Running(mut second) = found else { panic!("{found:?}") };
    assert_eq!(second.process, process);
    go(&stage);
    let said = text(&rest(&mut second).await);
    assert!(said.starts_with("I run it.\n") && said.contains("Done."), "{said}");
    assert_eq!(ended(&mut second).await.code, Some(0));
    eventually(|| alive(&[process.pid]).is_empty()).await;
}

#[tokio::test]
async fn the_end_of_one_is_found_while_the_chancery_lives_on() {
    let (chancery, stage, other) = (chancery(), Stage::new(), Stage::new());
    let (mut kept, _asked) = hold(&chancery, &other, hangs()).await;
    let (mut first, _asked) = hold(&chancery, &stage, vec![submits()]).await;
    let process = first.process;
    rest(&mut first).await;
    drop(first);
    let found = find(&stage.dir(), &stage.session, Some(process)).unwrap();
    assert!(matches!(&found, Found::Ended(ended) if ended.code == Some(0)), "{found:?}");
    assert_eq!(alive(&[process.pid]), [process.pid]);
    kept.remote().stop();
    assert_eq!(text(&rest(&mut kept).await), "for ever\n");
    assert!(ended(&mut kept).await.stopped);
}

#[tokio::test]
async fn what_is_frozen_stands_still_with_its_hands_and_its_time() {
    let (chancery, mut stage) = (chancery(), Stage::new());
    stage.deadline_ms = Some(in_ms(3_000));
    let (mut running, _asked) = hold(&chancery, &stage, runs(WAITS)).await;
    let pid = pid_in(&stage, "pid").await;
    let remote = running.remote();
    remote.freeze();
    eventually(|| state(pid) == Some('T')).await;
    let until = in_ms(3_200);
    go(&stage);
    eventually(|| in_ms(0) > until).await;
    assert_eq!(state(pid), Some('T'));
    assert!(Ended::read(&stage.dir()).is_none());
    remote.thaw();
    assert!(text(&rest(&mut running).await).contains("Done."));
    let report = ended(&mut running).await;
    assert_eq!((report.code, report.timed_out), (Some(0), false), "{report:?}");
}

#[tokio::test]
async fn what_is_said_to_somebody_frozen_is_not_heard_until_it_goes_on() {
    let (chancery, stage) = (chancery(), Stage::new());
    let (mut running, asked) = hold(&chancery, &stage, runs(WAITS)).await;
    let pid = pid_in(&stage, "pid").await;
    running.remote().freeze();
    eventually(|| state(pid) == Some('T')).await;
    // Its hand ends while nobody goes on with the conversation.
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
    eventually(|| alive(&[pid]).is_empty()).await;
    assert_eq!(asked.try_iter().count(), 1);
    running.remote().thaw();
    rest(&mut running).await;
    assert_eq!(asked.try_iter().count(), 1);
    assert_eq!(ended(&mut running).await.code, Some(0));
}

#[tokio::test]
async fn a_conversation_ends_by_itself_when_its_time_is_up() {
    let (chancery, mut stage) = (chancery(), Stage::new());
    stage.deadline_ms = Some(in_ms(300));
    let (mut running, _asked) = hold(&chancery, &stage, hangs()).await;
    // What was begun is all there will be.
    assert_eq!(text(&rest(&mut running).await), "for ever\n");
    let report = ended(&mut running).await;
    assert!(report.timed_out && !report.stopped, "{report:?}");
}

#[tokio::test]
async fn a_hand_is_inside_the_fence_of_its_attempt() {
    let (chancery, mut stage) = (chancery(), Stage::new());
    let house = tempfile::tempdir().unwrap();
    let secret = house.path().join("secret");
    fs::write(&secret, "a secret\n").unwrap();
    let exe = Path::new(env!("CARGO_BIN_EXE_keeper")).to_owned();
    let fence = Fence {
        hidden: vec![house.path().to_owned()],
        readable: vec![exe],
        writable: vec![stage.workspace()],
        network: Network::Allow,
        required: true,
        ports: Vec::new(),
    };
    stage.fence = Some(fence.real());
    let command = format!("echo in > inside; cat {0}; echo out > {0}", secret.display());
    let (mut running, asked) = hold(&chancery, &stage, runs(&command)).await;
    rest(&mut running).await;
    let report = ended(&mut running).await;
    assert!(report.fence.is_some_and(|fence| fence.is_on));
    let told = asked.iter().nth(1).unwrap()["messages"].to_string();
    assert!(told.contains("Permission denied") && !told.contains("a secret"), "{told}");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "a secret\n");
    assert_eq!(fs::read_to_string(stage.workspace().join("inside")).unwrap(), "in\n");
}

#[tokio::test]
async fn where_the_network_is_denied_no_model_is_reached() {
    let (chancery, mut stage) = (chancery(), Stage::new());
    let writable = vec![stage.workspace()];
    stage.fence = Some(Fence { writable, network: Network::Deny, ..Fence::default() });
    let (mut running, asked) = hold(&chancery, &stage, vec![submits()]).await;
    let said = text(&rest(&mut running).await);
    assert!(said.contains("cannot be reached: `sandbox.network` denies it"), "{said}");
    assert_eq!(asked.try_iter().count(), 0);
    assert_eq!(ended(&mut running).await.code, Some(0));
}

#[tokio::test]
async fn a_caller_below_a_chancery_is_known_by_its_hand() {
    let chancery = chancery();
    let (mut one, mut two) = (Stage::new(), Stage::new());
    (one.attempt, two.attempt) = ("exec-one".to_owned(), "exec-two".to_owned());
    let hidden = "(env -i setsid sh -c 'echo $$ > pid; exec sleep 1000' &) & exec sleep 1000";
    let (mut first, _asked) = hold(&chancery, &one, runs(hidden)).await;
    let (mut second, _asked_too) = hold(&chancery, &two, runs(hidden)).await;
    let keepers = [(first.process, "exec-one"), (second.process, "exec-two")];
    assert_eq!(ancestry(pid_in(&one, "pid").await, &keepers), Ancestry::Attempt("exec-one"));
    assert_eq!(ancestry(pid_in(&two, "pid").await, &keepers), Ancestry::Attempt("exec-two"));
    let all = Ancestry::Many(vec!["exec-one", "exec-two"]);
    assert_eq!(ancestry(first.process.pid, &keepers), all);
    // Where only the other runs, nobody is taken for it.
    assert_eq!(ancestry(pid_in(&one, "pid").await, &keepers[1..]), Ancestry::Own);
    for running in [&mut first, &mut second] {
        running.remote().stop();
        assert!(ended(running).await.stopped);
    }
}

#[tokio::test]
async fn reaping_one_spares_the_chancery_and_the_others() {
    let (chancery, one, two) = (chancery(), Stage::new(), Stage::new());
    let (first, _asked) = hold(&chancery, &one, runs(WAITS)).await;
    let (mut second, _asked_too) = hold(&chancery, &two, runs(WAITS)).await;
    let started = [pid_in(&one, "pid").await];
    let others = [pid_in(&two, "pid").await];
    let dir = one.dir();
    reap(one.traces(&dir, Some(first.process)));
    assert_eq!((alive(&started), alive(&others)), (NOBODY.to_vec(), others.to_vec()));
    eventually(|| Ended::read(&dir).is_some_and(|ended| ended.stopped)).await;
    go(&two);
    assert_eq!(ended(&mut second).await.code, Some(0));
}

#[tokio::test]
async fn a_hand_whose_keeper_is_killed_is_told_and_the_conversation_goes_on() {
    let (chancery, stage) = (chancery(), Stage::new());
    let command = "setsid sleep 1000 & echo $! > pid
        read -r _ _ _ keeper _ < /proc/$PPID/stat; kill -9 $keeper; sleep 1000";
    let (mut running, asked) = hold(&chancery, &stage, runs(command)).await;
    let started = [pid_in(&stage, "pid").await];
    rest(&mut running).await;
    assert_eq!(ended(&mut running).await.code, Some(0));
    assert_eq!(alive(&started), NOBODY);
    let told = asked.iter().nth(1).unwrap()["messages"].to_string();
    assert!(told.contains("The tool broke off."), "{told}");
}

#[tokio::test]
async fn what_a_command_leaves_in_the_background_ends_with_it() {
    let (chancery, stage) = (chancery(), Stage::new());
    // It is in a session of its own for sure before the command ends.
    let command = "setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null & \
                   while [ ! -s pid ]; do :; done; echo done";
    let (mut running, asked) = hold(&chancery, &stage, runs(command)).await;
    let told = in_time(async { asked.iter().nth(1).unwrap()["messages"].to_string() }).await;
    assert!(told.contains("done"), "{told}");
    assert_eq!(alive(&[pid_in(&stage, "pid").await]), NOBODY);
    rest(&mut running).await;
    let report = ended(&mut running).await;
    assert_eq!((report.code, report.left_over), (Some(0), 1), "{report:?}");
    let kept = fs::read_dir(stage.dir()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut kept: Vec<_> = kept.collect();
    kept.sort();
    assert_eq!(kept, ["exit.json", "stdout"]);
}

#[tokio::test]
async fn an_attempt_that_is_somebodys_is_not_begun() {
    let (chancery, stage) = (chancery(), Stage::new());
    fs::create_dir(stage.dir()).unwrap();
    let found = find(&stage.dir(), &stage.session, None).unwrap();
    assert!(matches!(found, Found::Gone), "{found:?}");
    let (order, asked) = order(&stage, vec![submits()]);
    let late = in_time(chancery.spawn(&order)).await;
    assert!(matches!(late, Err(Error::GaveUp(_))), "{late:?}");
    assert_eq!(asked.try_iter().count(), 0);
}

#[tokio::test]
async fn a_chancery_that_is_asked_to_end_ends_all_its_conversations() {
    let (chancery, one, two) = (chancery(), Stage::new(), Stage::new());
    let (mut first, _asked) = hold(&chancery, &one, hangs()).await;
    let (mut second, _asked_too) = hold(&chancery, &two, hangs()).await;
    let pid = Pid::from_raw(first.process.pid.cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    for running in [&mut first, &mut second] {
        assert!(ended(running).await.stopped);
    }
}
