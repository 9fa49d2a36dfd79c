//! What is written down for people: receipts, log files, and what could not be done.

use serde_json::Value;

use super::stage::{Stage, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";

/// The lines of a log file.
fn lines(stage: &Stage, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.paths().logs.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// These keys of a line, as text.
fn told(line: &Value, keys: &[&str]) -> String {
    let words: Vec<String> = keys.iter().map(|key| format!("{key}={}", line[*key])).collect();
    words.join(" ")
}

#[test]
fn every_start_and_every_end_of_an_attempt_is_one_line_of_the_log() {
    let stage = Stage::new(ONCE);
    let good = "echo x > x.txt\n\
                legation submit --status completed --summary 'all done' --tokens-in 7 \
                --tokens-out 3 --cost-usd 0.25";
    stage.agent("good", "", good);
    stage.agent("bad", "", "exit 7");
    let (_, done) = stage.json(&["delegate", "--agent", "good", "Good work"]);
    let (_, failed) = stage.json(&["delegate", "--agent", "bad", "Bad work"]);
    let keys = [
        "status",
        "agent",
        "depth",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "success",
        "files_changed",
        "summary",
    ];
    let all = lines(&stage, "delegation.jsonl");
    let attempts: Vec<&Value> = all.iter().filter(|line| line.get("status").is_some()).collect();
    let shown: Vec<String> = attempts.iter().map(|line| told(line, &keys)).collect();
    let nothing = "tokens_in=null tokens_out=null cost_usd=null";
    assert_eq!(
        shown,
        [
            format!(
                "status=\"started\" agent=\"good\" depth=1 {nothing} success=null \
                     files_changed=null summary=null"
            ),
            "status=\"completed\" agent=\"good\" depth=1 tokens_in=7 tokens_out=3 cost_usd=0.25 \
             success=true files_changed=[\"x.txt\"] summary=\"all done\""
                .to_owned(),
            format!(
                "status=\"started\" agent=\"bad\" depth=1 {nothing} success=null \
                     files_changed=null summary=null"
            ),
            format!(
                "status=\"failed\" agent=\"bad\" depth=1 {nothing} success=false \
                     files_changed=[] summary={}",
                failed["subtasks"][0]["return"]["summary"]
            ),
        ]
    );
    for (pair, view) in attempts.chunks(2).zip([&done, &failed]) {
        let session = &view["subtasks"][0]["sessionId"];
        assert!(pair.iter().all(|line| &line["session_id"] == session), "{pair:?}");
        assert!(pair.iter().all(|line| line["delegation"] == view["delegationId"]), "{pair:?}");
    }
    // Everything else says what it is, and has no status.
    assert!(all.iter().all(|line| line.get("status").is_some() != line.get("event").is_some()));
    assert!(all.iter().all(|line| line["timestamp"].as_str().is_some_and(|at| at.ends_with('Z'))));
    let wrong = lines(&stage, "errors.jsonl");
    let subtask = &failed["subtasks"][0];
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong[0]["session_id"], subtask["sessionId"]);
    assert_eq!(wrong[0]["subtask"], subtask["id"]);
    assert_eq!(wrong[0]["message"], subtask["return"]["errors"][0]["message"]);
    assert_eq!(wrong[0]["command"], "bad");
}

#[test]
fn a_refusal_is_written_down_with_who_asked_and_for_what() {
    let stage = Stage::new("[limits]\nmaxDepth = 1\n[recovery]\nmaxRetries = 0\n");
    let asks = "legation delegate --json --agent leaf 'Too deep' > $OUT/said\n\
                legation submit --status completed --summary tried";
    stage.agent("asks", "subagents:\n  allow: ['*']\n", asks);
    stage.agent("leaf", "", "exit 0");
    let (_, view) = stage.json(&["delegate", "--agent", "asks", "Ask for more"]);
    assert_eq!(stage.json(&["delegate", "--agent", "nobody", "Who does it?"]).0, 1);
    let wrong = lines(&stage, "errors.jsonl");
    let keys = ["type", "code", "command", "session_id", "task", "subtask"];
    let shown: Vec<String> = wrong.iter().map(|line| told(line, &keys)).collect();
    let subtask = &view["subtasks"][0];
    assert_eq!(
        shown,
        [
            format!(
                "type=\"refused\" code=\"MAX_DEPTH_EXCEEDED\" command=\"asks\" session_id={} \
                 task={} subtask={}",
                subtask["sessionId"], view["taskId"], subtask["id"]
            ),
            "type=\"refused\" code=\"AGENT_NOT_FOUND\" command=\"user\" session_id=null \
             task=\"Who does it?\" subtask=null"
                .to_owned(),
        ]
    );
}

#[test]
fn entries_that_are_not_carried_out_are_told_with_their_reason() {
    let stage = Stage::new("[limits]\nmaxDepth = 1\n[recovery]\nmaxRetries = 0\n");
    let script = "echo '[delegate:Write the tests:2]'; echo '[delegate:No hours]'\n\
                  legation submit --status completed --summary ok";
    stage.agent("asks", "subagents:\n  allow: ['*']\n", script);
    stage.agent("mute", "", script);
    for (agent, code) in [("asks", "MAX_DEPTH_EXCEEDED"), ("mute", "AGENT_NOT_ALLOWED")] {
        let (_, view) = stage.json(&["delegate", "--agent", agent, "Ask in words"]);
        let receipt = &view["subtasks"][0]["receipt"];
        let refused = receipt["refused"].as_array().unwrap_or_else(|| panic!("{view}"));
        let shown: Vec<String> =
            refused.iter().map(|entry| told(entry, &["entry", "code"])).collect();
        let wanted = [
            "entry=\"[delegate:No hours]\" code=\"VALIDATION_FAILED\"".to_owned(),
            format!("entry=\"[delegate:Write the tests:2]\" code=\"{code}\""),
        ];
        assert_eq!(shown, wanted, "{agent}");
        assert_eq!(receipt["toolCalls"]["delegate_refused"], 2, "{agent}");
        assert!(refused[0]["message"].as_str().unwrap().contains("line 2"), "{refused:?}");
        let session = &view["subtasks"][0]["sessionId"];
        let wrong = lines(&stage, "errors.jsonl");
        let of_attempt = wrong.iter().filter(|line| &line["session_id"] == session);
        let codes: Vec<&str> = of_attempt.map(|line| line["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["VALIDATION_FAILED", code], "{agent}");
    }
}

#[test]
fn a_verification_that_fails_makes_a_completed_return_partial() {
    let stage = Stage::new(ONCE);
    let good = "echo x > x.txt\n\
                legation submit --status completed --summary ok --artifact file:x.txt";
    for (id, line, status) in
        [("passes", "test -s x.txt", "completed"), ("fails", "exit 9", "partial")]
    {
        stage.agent(id, "", good);
        let path = format!(".legation/agents/{id}.md");
        let text = std::fs::read_to_string(stage.project().join(&path)).unwrap();
        let verify = format!("  timeout: 60s\n  verify: [\"true\", \"{line}\"]");
        stage.write(&path, &text.replace("  timeout: 60s", &verify));
        let (_, view) = stage.json(&["delegate", "--agent", id, "Work"]);
        let subtask = &view["subtasks"][0];
        assert_eq!(subtask["status"], status, "{subtask}");
        let verify = &subtask["receipt"]["verify"];
        let wanted = if status == "completed" { 0 } else { 9 };
        assert_eq!((&verify[0]["exitCode"], &verify[1]["exitCode"]), (&0.into(), &wanted.into()));
        assert_eq!(verify[1]["command"], line);
        let downgraded = subtask["receipt"]["downgraded"].to_string();
        assert_eq!(downgraded.contains(line), status == "partial", "{downgraded}");
    }
}

#[test]
fn a_workspace_whose_work_cannot_be_kept_stays_and_it_is_said_where() {
    let stage = Stage::new(ONCE);
    // A folder in the place of the lock keeps git from writing any ref of ours.
    let script = format!(
        "echo work > work.txt; rm -rf '{0}/.git/refs/legation'; echo > '{0}/.git/refs/legation'\n\
         legation submit --status failed --summary no --error other:no",
        stage.project().display()
    );
    stage.agent("w", "", &script);
    let (_, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    let left = view["leftBehind"][0].as_str().unwrap_or_else(|| panic!("{view}"));
    let place = left.split_once(" was left").unwrap().0;
    assert_eq!(std::fs::read_to_string(format!("{place}/work.txt")).unwrap(), "work\n", "{left}");
    let wrong = lines(&stage, "errors.jsonl");
    assert!(wrong.iter().any(|line| line["type"] == "left_behind" && line["message"] == left));
    let id = view["delegationId"].as_str().unwrap();
    let (_, again) = stage.json(&["status", id]);
    assert_eq!(again["leftBehind"][0], left);
}

#[test]
fn direct_is_no_delegation_and_runs_where_that_is_switched_off() {
    let stage = Stage::new("enabled = false\n[recovery]\nmaxRetries = 0\n");
    let asks = "legation delegate --json --agent leaf more > $OUT/said; echo $? > $OUT/code\n\
                legation submit --status completed --summary ok";
    stage.agent("w", "subagents:\n  allow: ['*']\n", asks);
    stage.agent("leaf", "", "touch $OUT/ran");
    let (code, refused) = stage.json(&["delegate", "--agent", "w", "Hand it on"]);
    assert_eq!((code, refused["error"]["code"].as_str()), (6, Some("DELEGATION_DISABLED")));
    let (code, view) = stage.json(&["direct", "--agent", "w", "Do it"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    assert_eq!(stage.told("code").trim(), "6");
    assert!(stage.told("said").contains("DELEGATION_DISABLED"), "{}", stage.told("said"));
    assert!(!stage.out("ran").exists());
}

#[test]
fn a_rollback_that_fails_is_told_and_changes_nothing() {
    let stage = Stage::new(ONCE);
    stage.agent("a", "", "echo a > a.txt; legation submit --status completed --summary a");
    stage.agent("b", "", "touch $OUT/up; exec sleep 600");
    let plan = "{\"pattern\":\"sequential\",\"subtasks\":[\
                {\"id\":\"a\",\"agent\":\"a\"},{\"id\":\"b\",\"agent\":\"b\"}]}";
    std::fs::write(stage.out("plan.json"), plan).unwrap();
    let file = stage.out("plan.json");
    let file = file.to_str().unwrap();
    let (_, first) = stage.json(&["delegate", "--detach", "--plan", file, "Both"]);
    let id = first["delegationId"].as_str().unwrap();
    wait_for("b to start", || stage.out("up").exists().then_some(()));
    let branch = format!("refs/heads/legation/{id}/result");
    let tip = stage.shell(&format!("git rev-parse {branch}")).stdout;
    std::fs::write(stage.project().join(format!(".git/{branch}.lock")), "").unwrap();
    stage.json(&["cancel", id, "--rollback"]);
    let view = wait_for("it to be over", || {
        let (_, view) = stage.json(&["status", id]);
        view.get("leftBehind").is_some().then_some(view)
    });
    assert_eq!(view["status"], "cancelled", "{view}");
    let left = view["leftBehind"].to_string();
    assert!(left.contains("was not taken back") && left.contains(id), "{left}");
    assert_eq!(stage.shell(&format!("git rev-parse {branch}")).stdout, tip);
    let wrong = lines(&stage, "errors.jsonl");
    assert!(wrong.iter().any(|line| line["type"] == "left_behind"), "{wrong:?}");
}
