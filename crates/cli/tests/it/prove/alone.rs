//! Attempts without an engine: their time, their pauses and their processes all the same.

use super::stage::{Stage, wait_for};

/// The process of an agent that wrote its own number, if it lives.
fn lives(stage: &Stage, name: &str) -> bool {
    state(stage, name).is_some_and(|state| state != 'Z' && state != 'X')
}

/// The letter for what a process does that wrote its own number.
fn state(stage: &Stage, name: &str) -> Option<char> {
    let pid: u32 = stage.told(name).trim().parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Starts an agent, waits until it runs, and until that is recorded.
fn begin(stage: &Stage, agent: &str) -> String {
    let (_, first) = stage.json(&["delegate", "--detach", "--agent", agent, "Go on"]);
    let id = first["delegationId"].as_str().unwrap().to_owned();
    wait_for("it to run", || lives(stage, "pid").then_some(()));
    wait_for("its process to be recorded", || {
        stage.tree(&id).attempts.iter().any(|(_, attempt)| attempt.process.is_some()).then_some(())
    });
    id
}

#[test]
fn an_attempt_does_not_outlive_its_time_while_no_engine_runs() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    stage.hasty("slow", "2s", "echo half > half.txt; echo $$ > $OUT/pid; exec sleep 600");
    let id = begin(&stage, "slow");
    assert!(stage.kill());
    wait_for("its keeper to end it", || (!lives(&stage, "pid")).then_some(()));
    assert!(stage.engine().is_none(), "nobody was there to help");
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    let subtask = &view["subtasks"][0];
    assert_eq!((code, subtask["status"].as_str()), (3, Some("partial")), "{view}");
    assert_eq!(subtask["return"]["errors"][0]["type"], "timeout", "{subtask}");
    assert_eq!(subtask["receipt"]["stopReason"], "timeout", "{subtask}");
    assert_eq!(subtask["return"]["summary"], "Operation timed out after 2s");
    assert!(subtask["return"]["artifacts"].to_string().contains("half.txt"), "{subtask}");
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
}

#[test]
fn a_paused_attempt_has_its_time_left_when_it_goes_on_even_without_an_engine() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let script = "echo $$ > $OUT/pid; until [ -e $OUT/go ]; do :; done\n\
                  legation submit --status completed --summary 'in time'";
    stage.hasty("slow", "3s", script);
    let id = begin(&stage, "slow");
    let paused = std::time::Instant::now();
    assert_eq!(stage.json(&["pause", &id, "--now"]).0, 0);
    wait_for("it to be frozen", || (state(&stage, "pid") == Some('T')).then_some(()));
    assert!(stage.kill());
    // Longer than it was given, the second that a keeper waits for an engine included.
    wait_for("its time to pass", || (paused.elapsed().as_millis() > 4_500).then_some(()));
    assert_eq!(state(&stage, "pid"), Some('T'));
    std::fs::write(stage.out("go"), "").unwrap();
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!((code, view["subtasks"][0]["return"]["summary"].as_str()), (0, Some("in time")));
}

#[test]
fn what_is_frozen_or_thawed_is_as_the_state_says_after_a_crash() {
    // Each wish is recorded by an engine that dies before, while or after it is granted.
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let script = "echo $$ > $OUT/pid; until [ -e $OUT/go ]; do :; done\n\
                  legation submit --status completed --summary done";
    stage.agent("slow", "", script);
    let id = begin(&stage, "slow");
    for round in 0..6 {
        let freezes = round % 2 == 0;
        let wish: &[&str] = if freezes { &["pause", &id, "--now"] } else { &["resume", &id] };
        let mut asked = stage.legation(wish).spawn().unwrap();
        wait_for("it to be recorded", || {
            let state = stage.tree(&id);
            let (_, root) = state.delegations.iter().next().unwrap();
            (root.paused.is_some() == freezes).then_some(())
        });
        assert!(stage.kill());
        asked.wait().unwrap();
        // Any command that needs an engine starts the next one, if the first has not.
        stage.json(&["approve", &id]);
        assert!(stage.engine().is_some());
        let wanted = if freezes { 'T' } else { 'R' };
        wait_for("it to be as recorded", || (state(&stage, "pid") == Some(wanted)).then_some(()));
        wait_for("that to be recorded, too", || {
            let state = stage.tree(&id);
            let (_, attempt) = state.attempts.iter().next().unwrap();
            (attempt.frozen == freezes).then_some(())
        });
    }
    std::fs::write(stage.out("go"), "").unwrap();
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
}

#[test]
fn in_a_cgroup_nothing_hides_at_all() {
    let stage = Stage::fenced("[recovery]\nmaxRetries = 0\n", "cgroup = \"always\"");
    stage.agent("plain", "", "legation submit --status completed --summary ok");
    let (_, view) = stage.json(&["delegate", "--agent", "plain", "Say how you are held"]);
    assert_eq!(view["status"], "completed", "{view}");
    let held = view["subtasks"][0]["receipt"]["supervisedBy"].clone();
    if held != "cgroup" {
        eprintln!("SKIPPED: no cgroup can be made here, so none can be tried; held by {held}");
        return;
    }
    // Neither environment nor session, folder, parent or descriptors tell whose it is.
    let script = "(env -i setsid bash -c 'cd /; echo $$ > '$OUT'/pid; \
                  for fd in /proc/$$/fd/*; do eval \"exec ${fd##*/}>&-\"; done; exec sleep 600' &)\n\
                  echo $PPID > $OUT/keeper; exec sleep 600";
    stage.agent("hidden", "", script);
    let id = begin(&stage, "hidden");
    assert!(stage.kill());
    assert!(stage.shell(&format!("kill -9 {}", stage.told("keeper"))).status.success());
    assert!(lives(&stage, "pid"));
    let (_, view) = stage.json(&["cancel", &id]);
    wait_for("it to be found", || (!lives(&stage, "pid")).then_some(()));
    let attempt = stage.tree(&id).attempts.iter().next().unwrap().1.id.clone();
    let find = format!("find /sys/fs/cgroup -name 'legation-{attempt}'");
    wait_for("its group to be gone", || stage.shell(&find).stdout.is_empty().then_some(()));
    assert_eq!(view["success"], true, "{view}");
}

#[test]
fn what_cleared_its_environment_ends_though_keeper_and_engine_were_killed() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    // It leaves its session too, and has no parent that could be asked any more.
    let script = "(env -i setsid sh -c 'cd /; echo $$ > '$OUT'/pid; exec sleep 600' &)\n\
                  echo $PPID > $OUT/keeper; exec sleep 600";
    stage.agent("hidden", "", script);
    let id = begin(&stage, "hidden");
    // It is written beside the other, in no order.
    let told = || Some(stage.told("keeper")).filter(|told| told.ends_with('\n'));
    let keeper = wait_for("the keeper to be told", told);
    assert!(stage.kill());
    assert!(stage.shell(&format!("kill -9 {keeper}")).status.success());
    assert!(lives(&stage, "pid"));
    std::fs::remove_file(stage.out("hidden.sh")).unwrap();
    let (_, view) = stage.json(&["resume", &id, "--wait"]);
    assert!(!lives(&stage, "pid"), "{view}");
}
