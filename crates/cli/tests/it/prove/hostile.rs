//! Children that do their worst. Each ends as the rules say, and the engine stays up.

use serde_json::Value;

use super::stage::{Stage, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";

/// Runs one agent on one task; answers with its subtask.
fn run(stage: &Stage, agent: &str) -> Value {
    let (_, view) = stage.json(&["delegate", "--agent", agent, "Do your worst"]);
    assert!(stage.engine().is_some(), "the engine is gone after {agent}");
    view["subtasks"][0].clone()
}

fn status(subtask: &Value) -> &str {
    subtask["status"].as_str().unwrap_or("nothing")
}

#[test]
fn a_child_that_ignores_sigterm_and_forks_daemons_is_stopped_with_all_of_them() {
    let stage = Stage::new(ONCE);
    let script = "trap '' TERM; setsid sleep 600 & (setsid nohup sleep 601 >/dev/null 2>&1 &)\n\
                  echo half > half.txt; sleep 602";
    stage.hasty("slow", "1s", script);
    let subtask = run(&stage, "slow");
    assert_eq!(status(&subtask), "partial");
    assert_eq!(subtask["return"]["errors"][0]["type"], "timeout");
    assert!(subtask["receipt"]["filesChanged"].to_string().contains("half.txt"), "{subtask}");
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
}

#[test]
fn output_without_end_costs_no_more_than_its_limit_and_the_return_behind_it_counts() {
    let stage = Stage::new(ONCE);
    let flood = "head -c 60000000 /dev/zero | tr '\\0' 'x'\necho\n\
                 head -c 1G /dev/zero >&2\n\
                 printf '{\"status\":\"completed\",\"summary\":\"after the flood\",\"artifacts\":[],\
                 \"errors\":[],\"metadata\":{\"session_id\":\"%s\",\"agent_type\":\"flood\",\
                 \"delegation_depth\":1,\"delegation_path\":[]}}' $LEGATION_SESSION_ID";
    stage.agent("flood", "", flood);
    let subtask = run(&stage, "flood");
    assert_eq!(subtask["return"]["summary"], "after the flood", "{subtask}");
    let wrote = stage.shell("cat ~/.local/state/legation/*/attempts/*/exit.json");
    let wrote = String::from_utf8_lossy(&wrote.stdout).into_owned();
    assert!(wrote.contains("\"stderr_bytes\":1073741824"), "{wrote}");
    let kept = stage.shell("du -sb ~/.local/state/legation/*/attempts | cut -f1");
    let kept: u64 = String::from_utf8_lossy(&kept.stdout).trim().parse().unwrap();
    assert!(kept < 40_000_000, "{kept} bytes are kept");
}

#[test]
fn garbage_silence_and_an_exit_code_are_no_returns() {
    let stage = Stage::new(ONCE);
    stage.agent(
        "garbage",
        "",
        "echo '{\"status\": \"completed\", oops'; head -c 4096 /dev/urandom",
    );
    stage.agent("silent", "", "exit 0");
    stage.agent("code", "", "exit 7");
    for (agent, code) in [("garbage", 0), ("silent", 0), ("code", 7)] {
        let subtask = run(&stage, agent);
        assert_eq!(status(&subtask), "failed", "{agent}: {subtask}");
        assert_eq!(subtask["receipt"]["exitCode"], code, "{agent}");
    }
}

#[test]
fn pipes_in_the_place_of_a_return_and_of_rules_hold_nobody_up() {
    let stage = Stage::new(ONCE);
    let pipes = "mkfifo .gitattributes $LEGATION_ATTEMPT_DIR/return.json && echo w > w.txt";
    stage.agent("plumber", "", pipes);
    let subtask = run(&stage, "plumber");
    assert_eq!(status(&subtask), "failed", "{subtask}");
    assert!(subtask["receipt"]["filesChanged"].to_string().contains("w.txt"), "{subtask}");
    stage.agent("fine", "", "legation submit --status completed --summary fine");
    assert_eq!(status(&run(&stage, "fine")), "completed");
}

#[test]
fn what_a_child_says_of_its_place_in_the_tree_is_not_believed() {
    let stage = Stage::new(ONCE);
    let claim = |session: &str| {
        format!(
            "echo '{{\"status\":\"completed\",\"summary\":\"trust me\",\"artifacts\":[],\"errors\":[],\
             \"metadata\":{{\"session_id\":\"{session}\",\"agent_type\":\"king\",\
             \"delegation_depth\":0,\"delegation_path\":[\"king\"]}}}}'"
        )
    };
    stage.agent("other", "", &claim("sess_1_aaaaaa"));
    let subtask = run(&stage, "other");
    assert_eq!(status(&subtask), "failed");
    assert!(subtask.to_string().contains("VALIDATION_FAILED"), "{subtask}");
    stage.agent("king", "", &claim("'$LEGATION_SESSION_ID'"));
    let metadata = run(&stage, "king")["return"]["metadata"].clone();
    assert_eq!(
        (&metadata["delegation_depth"], &metadata["agent_type"]),
        (&1.into(), &"king".into())
    );
    assert_eq!(metadata["delegation_path"].to_string(), "[\"user\",\"king\"]");
}

#[test]
fn a_child_may_delete_its_workspace_and_hurts_only_itself() {
    let stage = Stage::new(ONCE);
    stage.agent("vandal", "", "cd /; rm -rf \"$LEGATION_WORKSPACE\"; exit 3");
    stage.agent(
        "tidy",
        "",
        "rm -rf .git; echo new > new.txt; cd /\nlegation submit --status completed --summary ok",
    );
    assert_eq!(status(&run(&stage, "vandal")), "failed");
    let subtask = run(&stage, "tidy");
    assert_eq!(status(&subtask), "completed", "{subtask}");
    assert!(subtask["receipt"]["filesChanged"].to_string().contains("new.txt"), "{subtask}");
    assert!(stage.shell("git fsck --full && git status --porcelain").status.success());
}

#[test]
fn a_child_that_delegates_in_a_loop_meets_its_bounds() {
    let stage = Stage::new("[limits]\nmaxDelegationsPerTask = 4\n[recovery]\nmaxRetries = 0\n");
    let loops = "n=0; while [ $n -lt 12 ]; do n=$((n+1))\n\
                 legation delegate --json --detach --budget 20000 --max-cost 0.5 --agent leaf \"part $n\" > $OUT/said-$n.json\n\
                 echo $? >> $OUT/codes; done\n\
                 legation submit --status completed --summary tried";
    stage.agent("looper", "subagents:\n  allow: ['*']\n", loops);
    stage.agent(
        "leaf",
        "",
        "echo x >> $OUT/leaves\nlegation submit --status completed --summary leaf",
    );
    run(&stage, "looper");
    let codes: Vec<String> = stage.told("codes").lines().map(str::to_owned).collect();
    assert_eq!(codes.iter().filter(|code| *code == "0").count(), 4, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| *code == "6").count(), 8, "{codes:?}");
    let last = stage.told("said-12.json");
    let all: Vec<String> = (1..=12).map(|n| stage.told(&format!("said-{n}.json"))).collect();
    assert!(last.contains("TOO_MANY_DELEGATIONS"), "{all:#?}");
    assert!(stage.told("leaves").lines().count() <= 4);
}

#[test]
fn a_child_that_is_found_out_of_its_tree_is_no_root() {
    let stage = Stage::new(ONCE);
    let sneak = format!(
        "cd '{}'\nenv -u LEGATION_TOKEN -u LEGATION_SOCKET setsid -w legation delegate --json \
         --agent leaf go > $OUT/said.json 2>&1; echo $? > $OUT/code\n\
         legation submit --status completed --summary tried",
        stage.project().display()
    );
    stage.agent("sneak", "", &sneak);
    stage.agent("leaf", "", "touch $OUT/ran\nlegation submit --status completed --summary leaf");
    run(&stage, "sneak");
    assert_eq!(stage.told("code").trim(), "6", "{}", stage.told("said.json"));
    assert!(stage.told("said.json").contains("PERMISSION_DENIED"));
    assert!(!stage.out("ran").exists());
}

#[test]
fn a_child_that_kills_its_keeper_or_its_folder_fails_and_is_not_tried_for_ever() {
    let stage = Stage::unfenced(ONCE);
    stage.agent("killer", "", "echo x >> $OUT/ran; kill -9 $PPID; sleep 600");
    stage.agent("cleaner", "", "echo x >> $OUT/ran; rm -rf \"${LEGATION_ATTEMPT_DIR%/*}\"; exit 0");
    for agent in ["killer", "cleaner"] {
        let subtask = run(&stage, agent);
        assert_eq!(status(&subtask), "failed", "{agent}: {subtask}");
    }
    assert_eq!(stage.told("ran").lines().count(), 2);
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
}

#[test]
fn a_forged_report_of_the_end_does_not_hide_what_runs() {
    let stage = Stage::unfenced(ONCE);
    let forge = "echo '{\"code\":0}' > \"${LEGATION_ATTEMPT_DIR%/*}/exit.json\"; touch $OUT/up\n\
                 until [ -e $OUT/dead ]; do :; done\n\
                 legation submit --status completed --summary real; echo x >> $OUT/ended";
    stage.agent("forger", "", forge);
    let (_, first) = stage.json(&["delegate", "--detach", "--agent", "forger", "Pretend"]);
    let id = first["delegationId"].as_str().unwrap();
    wait_for("it to start", || stage.out("up").exists().then_some(()));
    // Only what was recorded is known after the crash.
    wait_for("its process to be recorded", || {
        stage.tree(id).attempts.iter().any(|(_, attempt)| attempt.process.is_some()).then_some(())
    });
    assert!(stage.kill());
    let mut waits = stage.legation(&["resume", id, "--wait", "--json"]);
    let waits = waits.stdout(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("the engine to be back", || stage.engine());
    assert_eq!(stage.told("ended"), "");
    std::fs::write(stage.out("dead"), "").unwrap();
    let said = waits.wait_with_output().unwrap();
    let view: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(view["subtasks"][0]["return"]["summary"], "real", "{view}");
}

#[test]
fn an_attempt_is_no_root_in_another_project_either() {
    let (stage, other) = (Stage::unfenced(ONCE), Stage::new(ONCE));
    other.agent("leaf", "", "touch $OUT/ran\nlegation submit --status completed --summary leaf");
    let sneak = format!(
        "cd '{}'\nenv -i PATH=\"$PATH\" HOME=\"$HOME\" legation delegate --json --agent leaf go \
         > $OUT/said.json 2>&1; echo $? > $OUT/code\n\
         legation submit --status completed --summary tried",
        other.project().display()
    );
    stage.agent("sneak", "", &sneak);
    run(&stage, "sneak");
    assert_eq!(stage.told("code").trim(), "6", "{}", stage.told("said.json"));
    assert!(!other.out("ran").exists());
}

#[test]
fn a_variable_that_is_no_text_stops_nobody() {
    let stage = Stage::new(ONCE);
    stage.agent("ok", "", "legation submit --status completed --summary ok");
    let said = stage.shell("LC_BAD=$(printf '\\377') legation delegate --json --agent ok Work");
    let view: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(view["status"], "completed", "{view}");
}

#[test]
fn a_project_below_the_top_of_its_repository_names_files_from_its_own_folder() {
    let stage = Stage::new(ONCE);
    stage.agent(
        "maker",
        "",
        "echo new > new.txt; echo up > ../up.txt\nlegation submit \
        --status completed --summary made --artifact implementation:new.txt",
    );
    stage.shell(
        "mkdir -p sub && mv .legation sub/ && touch sub/keep && git add -A && \
        git -c user.name=a -c user.email=a@b.c commit -qm sub",
    );
    let said = stage.shell(
        "cd sub && legation delegate --json --agent maker Make; \
        kill $(legation status --json | grep -o '\"pid\": *[0-9]*' | grep -o '[0-9]*')",
    );
    let view: Value = serde_json::from_slice(&said.stdout).unwrap();
    let subtask = &view["subtasks"][0];
    assert_eq!(status(subtask), "completed", "{view}");
    assert_eq!(subtask["receipt"]["filesChanged"].to_string(), "[\"new.txt\",\"../up.txt\"]");
}

#[test]
fn a_retry_after_a_conflict_starts_from_what_was_in_the_way() {
    let stage = Stage::new(ONCE);
    stage.agent("x", "", "echo x > same.txt\nlegation submit --status completed --summary x");
    stage.agent(
        "y",
        "",
        "if [ -e same.txt ]; then echo y >> same.txt; else echo y > same.txt; fi\n\
        legation submit --status completed --summary y",
    );
    let plan = "{\"pattern\":\"parallel\",\"subtasks\":[{\"id\":\"x\",\"agent\":\"x\"},\
                {\"id\":\"y\",\"agent\":\"y\"}]}";
    std::fs::write(stage.out("plan.json"), plan).unwrap();
    let file = stage.out("plan.json");
    let (_, view) = stage.json(&["delegate", "--plan", file.to_str().unwrap(), "Both"]);
    let id = view["delegationId"].as_str().unwrap();
    let blocked = view["subtasks"].as_array().unwrap().iter();
    let mut blocked = blocked.filter(|subtask| status(subtask) == "blocked");
    let blocked = blocked.next().and_then(|subtask| subtask["id"].as_str()).unwrap().to_owned();
    let (code, again) = stage.json(&["retry", id, &blocked, "--note", "mind the other", "--wait"]);
    assert_eq!((code, again["status"].as_str()), (0, Some("completed")), "{again}");
}
