//! The engine killed in the middle: what was done stays done, what follows still happens.

use std::process::Stdio;

use super::stage::{Stage, wait_for};

#[test]
fn what_depends_on_work_that_ended_before_the_crash_runs_exactly_once() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    stage.agent("a", "", "echo a >> $OUT/ran\nlegation submit --status completed --summary a");
    // It waits for the engine's death, so that the crash lies between a and b for sure.
    stage.agent(
        "b",
        "",
        "echo b >> $OUT/ran\nuntil [ -e $OUT/dead ]; do :; done\n\
         legation submit --status completed --summary b",
    );
    let plan = "{\"pattern\":\"sequential\",\"subtasks\":[\
                {\"id\":\"a\",\"agent\":\"a\"},{\"id\":\"b\",\"agent\":\"b\"}]}";
    std::fs::write(stage.out("plan.json"), plan).unwrap();
    let file = stage.out("plan.json");
    let args = ["delegate", "--json", "--idempotency-key", "once", "--plan"];
    let mut first = stage.legation(&args);
    let mut first = first.arg(&file).arg("Both").stdout(Stdio::null()).spawn().unwrap();
    wait_for("b to start", || stage.told("ran").contains('b').then_some(()));
    assert!(stage.kill());
    first.kill().unwrap();
    first.wait().unwrap();
    std::fs::write(stage.out("dead"), "").unwrap();
    let again = stage.legation(&args).arg(&file).arg("Both").output().unwrap();
    let view: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(view["status"], "completed", "{view}");
    assert_eq!(stage.told("ran"), "a\nb\n");
    let (_, all) = stage.json(&["history"]);
    assert_eq!(all["delegations"].as_array().unwrap().len(), 1, "{all}");
}

#[test]
fn a_caller_that_waits_finds_its_delegation_again_after_a_crash() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let script = "touch $OUT/up; until [ -e $OUT/dead ]; do :; done\n\
                  legation submit --status completed --summary 'came through'";
    stage.agent("w", "", script);
    let mut waits = stage.legation(&["delegate", "--json", "--agent", "w", "Hold on"]);
    let waits = waits.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("it to start", || stage.out("up").exists().then_some(()));
    assert!(stage.kill());
    std::fs::write(stage.out("dead"), "").unwrap();
    let ran = waits.wait_with_output().unwrap();
    let view: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(view["subtasks"][0]["return"]["summary"], "came through", "{view}");
    assert_eq!(view["subtasks"][0]["attempts"], 1);
}
