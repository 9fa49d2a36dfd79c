//! The engine killed in the middle: what was done stays done, what follows still happens.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::stage::{Stage, wait_for};

const SEQUENTIAL: &str = "{\"pattern\":\"sequential\",\"subtasks\":[\
                          {\"id\":\"a\",\"agent\":\"a\"},{\"id\":\"b\",\"agent\":\"b\"}]}";

/// Somebody who asks for both steps by one key, and waits.
fn asks_for_both(stage: &Stage) -> Command {
    let file = stage.out("plan.json");
    std::fs::write(&file, SEQUENTIAL).unwrap();
    let args = ["delegate", "--json", "--idempotency-key", "once", "--plan"];
    let mut asks = stage.legation(&args);
    asks.arg(&file).arg("Both").stderr(Stdio::null());
    asks
}

/// Ends whoever waits, and then the engine: one that waits would start the next.
fn crash(stage: &Stage, mut waits: Child) {
    waits.kill().unwrap();
    waits.wait().unwrap();
    assert!(stage.kill());
    wait_for("the engine to be gone", || stage.engine().is_none().then_some(()));
}

/// Asks again by the same key; what came of it.
fn asked_again(stage: &Stage) -> Value {
    let again = asks_for_both(stage).output().unwrap();
    let view: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(view["status"], "completed", "{view}");
    let attempts = [&view["subtasks"][0]["attempts"], &view["subtasks"][1]["attempts"]];
    assert_eq!(attempts, [1, 1], "{view}");
    let (_, all) = stage.json(&["history"]);
    assert_eq!(all["delegations"].as_array().unwrap().len(), 1, "{all}");
    view
}

#[test]
fn the_engine_killed_before_a_step_has_ended_runs_the_next_exactly_once_when_asked_again() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let holds = "cat > $OUT/brief; echo 'a begins' >> $OUT/ran; echo a > a.txt\n\
                 until [ -e $OUT/dead ]; do :; done\n\
                 legation submit --status completed --summary 'a is done'\n\
                 echo 'a ends' >> $OUT/ran";
    stage.agent("a", "", holds);
    stage.agent(
        "b",
        "",
        "cat > $OUT/brief-b; echo \"b finds $(cat a.txt)\" >> $OUT/ran\n\
         legation submit --status completed --summary 'b is done'",
    );
    let first = asks_for_both(&stage).stdout(Stdio::null()).spawn().unwrap();
    wait_for("a to begin", || (!stage.told("ran").is_empty()).then_some(()));
    crash(&stage, first);
    // It ends where nobody sees it, and nothing follows as long as nobody asks.
    std::fs::write(stage.out("dead"), "").unwrap();
    wait_for("a to end", || stage.told("ran").contains("a ends").then_some(()));
    wait_for("its processes to end", || stage.processes().is_empty().then_some(()));
    assert_eq!(stage.engine(), None);
    let brief: Value = serde_json::from_str(&stage.told("brief")).unwrap();
    let id = brief["delegation_id"].as_str().unwrap();
    let state = stage.tree(id);
    let ends: Vec<bool> = state.attempts.iter().map(|(_, it)| it.end.is_some()).collect();
    assert_eq!(ends, [false], "only a has begun, and nobody knows that it has ended");
    let view = asked_again(&stage);
    assert_eq!(view["delegationId"], id, "{view}");
    assert_eq!(stage.told("ran"), "a begins\na ends\nb finds a\n");
    let brief: Value = serde_json::from_str(&stage.told("brief-b")).unwrap();
    assert_eq!(brief["context"]["results"][0]["summary"], "a is done", "{brief}");
}

#[test]
fn the_engine_killed_while_the_second_step_runs_starts_neither_step_again() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    stage.agent("a", "", "echo a >> $OUT/ran\nlegation submit --status completed --summary a");
    // It waits for the engine's death, so that the crash finds it at work for sure.
    stage.agent(
        "b",
        "",
        "echo b >> $OUT/ran\nuntil [ -e $OUT/dead ]; do :; done\n\
         legation submit --status completed --summary b",
    );
    let first = asks_for_both(&stage).stdout(Stdio::null()).spawn().unwrap();
    wait_for("b to start", || stage.told("ran").contains('b').then_some(()));
    crash(&stage, first);
    std::fs::write(stage.out("dead"), "").unwrap();
    asked_again(&stage);
    assert_eq!(stage.told("ran"), "a\nb\n");
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
    let view: Value = serde_json::from_slice(&ran.stdout).unwrap();
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
    std::fs::write(stage.out("plan.json"), SEQUENTIAL).unwrap();
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

#[test]
fn what_ended_in_time_while_the_engine_was_dead_has_not_timed_out() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let holds = "echo up > $OUT/up; until [ -e $OUT/dead ]; do :; done; echo made > made.txt\n\
                 legation submit --status completed --summary 'made it' \
                 --artifact implementation:made.txt";
    stage.hasty("a", "5s", holds);
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "a", "Work"]);
    let id = begun["delegationId"].as_str().unwrap();
    wait_for("a to begin", || (!stage.told("up").is_empty()).then_some(()));
    assert!(stage.kill());
    wait_for("the engine to be gone", || stage.engine().is_none().then_some(()));
    std::fs::write(stage.out("dead"), "").unwrap();
    wait_for("its processes to end", || stage.processes().is_empty().then_some(()));
    let begun = std::time::Instant::now();
    wait_for("its time to be up", || (begun.elapsed().as_millis() > 5_000).then_some(()));
    let (code, view) = stage.json(&["resume", id, "--wait"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    let subtask = &view["subtasks"][0];
    assert_eq!(subtask["return"]["summary"], "made it", "{view}");
    assert_eq!(subtask["receipt"]["stopReason"], "exited", "{view}");
    assert!(subtask["receipt"]["durationMs"].as_u64().unwrap() < 5_000, "{view}");
}

#[test]
fn a_return_handed_in_before_the_deadline_wins_although_the_process_hangs() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let hangs = "legation submit --status completed --summary 'handed in'\nsleep 60";
    stage.hasty("a", "2s", hangs);
    let (code, view) = stage.json(&["delegate", "--agent", "a", "Work"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    let subtask = &view["subtasks"][0];
    assert_eq!(subtask["return"]["summary"], "handed in", "{view}");
    assert_eq!(subtask["receipt"]["stopReason"], "timeout", "{view}");
}

#[test]
fn a_project_that_was_moved_away_is_not_made_anew_by_who_waits_for_it() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    stage.agent("slow", "", "> $OUT/begun; until [ -e $OUT/go ]; do :; done");
    let args = ["delegate", "--agent", "slow", "Work"];
    let waits =
        stage.legation(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the work to begin", || stage.out("begun").exists().then_some(()));
    let (here, there) = (stage.project(), stage.root().join("moved"));
    std::fs::rename(&here, &there).unwrap();
    stage.kill();
    let said = waits.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(words.contains("is not there any more"), "{words}");
    assert!(words.contains("nothing was started; move it back"), "{words}");
    assert_eq!(said.status.code(), Some(1));
    assert!(!here.exists());
    std::fs::rename(&there, &here).unwrap();
    std::fs::write(stage.out("go"), "").unwrap();
}
