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

/// A delegation of two steps that was begun eleven minutes ago and whose engine died during
/// the first, which goes on.
fn begun_long_ago(stage: &Stage) -> String {
    for id in ["a", "b"] {
        let script = "until [ -e $OUT/go ]; do :; done\nlegation submit --status completed \
                      --summary done";
        stage.agent(id, "", &format!("touch $OUT/{id}; {script}"));
    }
    let plan = "{\"pattern\":\"sequential\",\"subtasks\":[\
                {\"id\":\"a\",\"agent\":\"a\"},{\"id\":\"b\",\"agent\":\"b\"}]}";
    std::fs::write(stage.out("plan.json"), plan).unwrap();
    let file = stage.out("plan.json").display().to_string();
    let (_, begun) = stage.json(&["delegate", "--detach", "--plan", &file, "Both"]);
    wait_for("the first step", || stage.out("a").exists().then_some(()));
    assert!(stage.kill());
    stage.date_back(11);
    begun["delegationId"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_begun_long_ago_waits_for_somebody_to_resume_it() {
    let stage = Stage::new("");
    let id = begun_long_ago(&stage);
    std::fs::write(stage.out("go"), "").unwrap();
    // Another call starts the engine.
    stage.agent("c", "", "legation submit --status completed --summary done");
    let (_, other) = stage.json(&["delegate", "--agent", "c", "Something else"]);
    assert_eq!(other["status"], "completed");
    let (_, view) = stage.json(&["status", &id]);
    assert_eq!(view["status"], "paused", "{view}");
    assert!(!stage.out("b").exists());
    let (_, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!(view["status"], "completed", "{view}");
}

#[test]
fn under_serve_what_was_begun_long_ago_goes_on_by_itself_and_so_does_the_engine() {
    let stage = Stage::new("");
    let id = begun_long_ago(&stage);
    let mut serve = stage.legation(&["serve", "--port", "0"]);
    let mut serve = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let first = wait_for("an engine", || stage.engine());
    wait_for("it to be killed", || stage.kill().then_some(()));
    wait_for("another engine", || stage.engine().filter(|pid| *pid != first));
    std::fs::write(stage.out("go"), "").unwrap();
    wait_for("the second step to end", || {
        (stage.json(&["status", &id]).1["status"] == "completed").then_some(())
    });
    serve.kill().unwrap();
    serve.wait().unwrap();
}
