//! What is said of a delegation while it goes on, and what whoever may not ask is told.

use serde_json::{Value, json};

use super::stage::{Stage, shown, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";
const DONE: &str = "legation submit --status completed --summary done";

/// Starts something and waits until its agent has said that it is up.
fn started(stage: &Stage, agent: &str) -> String {
    let (code, view) = stage.json(&["delegate", "--detach", "--agent", agent, "Work"]);
    assert_eq!(code, 0, "{view}");
    wait_for("it to start", || stage.out("up").exists().then_some(()));
    view["delegationId"].as_str().unwrap().to_owned()
}

/// The delegation as `status` lists it.
fn listed(stage: &Stage, id: &str) -> Value {
    let (_, all) = stage.json(&["status"]);
    let mut entries = all["delegations"].as_array().unwrap().iter();
    entries.find(|entry| entry["delegationId"] == id).cloned().unwrap_or_default()
}

#[test]
fn a_cancel_that_goes_on_is_said_in_words_that_exist_and_nothing_is_paused_meanwhile() {
    let stage = Stage::new(ONCE);
    stage.agent("stubborn", "", "trap '' TERM; touch $OUT/up; while :; do sleep 0.1; done");
    let id = started(&stage, "stubborn");
    let (code, said) = stage.json(&["cancel", &id]);
    let wanted = json!({
        "success": true, "delegationId": id, "status": "running", "cancelRequested": true,
    });
    assert_eq!((code, &said), (0, &wanted));
    let entry = listed(&stage, &id);
    assert_eq!((&entry["status"], &entry["cancelRequested"]), (&json!("running"), &json!(true)));
    let (_, view) = stage.json(&["status", &id]);
    assert_eq!((&view["status"], &view["cancelRequested"]), (&json!("running"), &json!(true)));
    let (code, refused) = stage.json(&["pause", &id]);
    assert_eq!((code, &refused["error"]["code"]), (1, &json!("CONFLICT")), "{refused}");

    let (code, end) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!((code, &end["status"]), (5, &json!("cancelled")), "{end}");
    assert_eq!(end.get("cancelRequested"), None);
    let log = std::fs::read_to_string(stage.paths().logs.join("delegation.jsonl")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ends: Vec<Value> = lines.filter_map(|line| line.get("status").cloned()).collect();
    assert_eq!(ends, ["started", "cancelled"]);
    assert_eq!(end["subtasks"][0]["receipt"]["evidence"], "none", "{end}");
}

#[test]
fn what_waits_to_be_tried_again_is_listed_with_why_and_until_when() {
    let stage = Stage::new("[recovery]\nmaxRetries = 1\n");
    stage.agent("frail", "", "exit 3");
    let path = stage.project().join(".legation/agents/frail.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let patient = text.replace("timeout: 60s", "timeout: 60s\n  retry: {max: 1, backoff: 10m}");
    std::fs::write(&path, patient).unwrap();
    let (_, view) = stage.json(&["delegate", "--detach", "--agent", "frail", "Work"]);
    let id = view["delegationId"].as_str().unwrap();
    let waiting = wait_for("it to wait", || {
        listed(&stage, id)["waitingFor"].get(0).and_then(Value::as_str).map(str::to_owned)
    });
    let (until, why) = waiting.split_once("Z: ").unwrap();
    assert!(until.starts_with("sub-1 until 20"), "{waiting}");
    assert_eq!(why, "it failed and is tried again");
    let (_, view) = stage.json(&["status", id]);
    assert_eq!(view["subtasks"][0]["waits"]["why"], "it failed and is tried again", "{view}");
    stage.json(&["cancel", id, "--wait"]);
}

#[test]
fn nothing_is_known_of_what_was_used_and_the_list_of_workspaces_names_the_agent() {
    let stage = Stage::new(ONCE);
    stage.agent("w", "", &format!("touch $OUT/up; until [ -e $OUT/go ]; do :; done\n{DONE}"));
    let id = started(&stage, "w");
    let (_, list) = stage.json(&["workspaces", "list"]);
    assert_eq!(list["workspaces"][0]["agent"], "w", "{list}");
    std::fs::write(stage.out("go"), "").unwrap();
    let (_, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!(view["metrics"]["tokensUsed"], Value::Null, "{view}");
    let (_, history) = stage.json(&["history"]);
    assert_eq!(history["delegations"][0]["tokensUsed"], Value::Null, "{history}");
}

#[test]
fn levels_above_a_root_take_from_what_is_left_and_are_none_of_its_tree() {
    let stage = Stage::new(ONCE);
    stage.agent("w", "", &format!("echo $DELEGATION_DEPTH > $OUT/depth; {DONE}"));
    let call = |depth: &str| {
        let mut call = stage.legation(&["delegate", "--json", "--agent", "w", "Work"]);
        let ran = call.env("DELEGATION_DEPTH", depth).output().unwrap();
        let said: Value = serde_json::from_slice(&ran.stdout).unwrap();
        (ran.status.code().unwrap(), said)
    };
    let (code, view) = call("2");
    assert_eq!(code, 0, "{view}");
    let subtask = &view["subtasks"][0];
    assert_eq!((&subtask["depth"], &subtask["path"]), (&json!(1), &json!(["user", "w"])));
    assert_eq!(view["remaining"]["depth"], 1, "{view}");
    assert_eq!(stage.told("depth"), "1\n");
    assert_eq!(call("3").1["error"]["code"], "MAX_DEPTH_EXCEEDED");
    for odd in ["abc", "-2"] {
        let (code, refused) = call(odd);
        let message = refused["error"]["message"].as_str().unwrap();
        assert_eq!((code, message.contains("DELEGATION_DEPTH")), (2, true), "{refused}");
    }
}

#[test]
fn a_looser_limit_is_ignored_and_said_so() {
    let stage = Stage::new(ONCE);
    stage.agent("w", "", DONE);
    stage.write(
        "tasks.json",
        r#"[{"id": "T", "title": "Work", "delegationConfig": {"maxDepth": 5}}]"#,
    );
    let looser = ["-d", "5", "-a", "99", "-b", "99999999", "--max-cost", "99", "--agent", "w", "T"];
    for how in [
        &["delegate", "--json"][..],
        &["delegate", "--json", "--dry-run"],
        &["delegate", "--json", "--detach"],
    ] {
        let ran = stage.legation(how).args(looser).output().unwrap();
        let view: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let warnings = view["warnings"].as_array().unwrap_or_else(|| panic!("{how:?} {view}"));
        let holds = "but limits may only be tightened:";
        let wanted = [
            format!("delegationConfig: limits.maxDepth = 5 was asked for, {holds} 3 holds"),
            format!("call: limits.maxDepth = 5 was asked for, {holds} 3 holds"),
            format!("call: limits.maxConcurrentAgents = 99 was asked for, {holds} 5 holds"),
            format!("call: limits.maxTotalTokens = 99999999 was asked for, {holds} 2000000 holds"),
            format!("call: limits.maxCostUsd = 99.0 was asked for, {holds} 20.0 holds"),
        ];
        assert_eq!(warnings, &wanted, "{how:?}");
        let said = shown(&ran);
        assert!(wanted.iter().all(|line| said.contains(&format!("warning: {line}"))), "{said}");
    }
}

#[test]
fn every_refused_call_says_what_is_left_and_a_session_that_is_not_its_own_is_refused() {
    let stage = Stage::new(ONCE);
    stage.write("bad.json", "{\"subtasks\": [");
    let (code, refused) = stage.json(&["delegate", "--plan", "bad.json", "Work"]);
    assert_eq!((code, &refused["remaining"]["depth"]), (2, &json!(3)), "{refused}");
    stage.agent(
        "w",
        "subagents:\n  allow: ['*']\n",
        &format!(
            "cd $LEGATION_WORKSPACE; echo '{{' > bad.json\n\
             env -u LEGATION_TOKEN legation delegate --json --agent w One > $OUT/none\n\
             LEGATION_TOKEN=bogus legation delegate --json --agent w Two > $OUT/bogus\n\
             legation delegate --json --plan bad.json Three > $OUT/plan\n\
             LEGATION_SESSION_ID=sess_1_aaaaaa {DONE} --json > $OUT/session\n{DONE}"
        ),
    );
    let (code, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!(code, 0, "{view}");
    let told = |name: &str| serde_json::from_str::<Value>(&stage.told(name)).unwrap();
    let nothing =
        json!({"depth": 0, "width": 0, "count": 0, "tokens": 0, "costUsd": 0.0, "timeMs": 0});
    for name in ["none", "bogus"] {
        let refused = told(name);
        assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
        assert_eq!(refused["remaining"], nothing, "{name}");
    }
    assert_eq!(told("plan")["remaining"]["depth"], 2, "{}", told("plan"));
    let session = told("session");
    assert_eq!(session["error"]["details"]["check"], "session", "{session}");
}

#[test]
fn where_no_workspace_can_be_had_the_first_line_says_so() {
    let first = "Failed to create child worktree for delegation.\n";
    let says = |stage: &Stage| {
        stage.agent("w", "", DONE);
        let (code, refused) = stage.json(&["delegate", "--agent", "w", "Work"]);
        assert_eq!((code, &refused["error"]["code"]), (1, &json!("WORKSPACE_FAILED")), "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(first), "{message}");
    };
    let stage = Stage::new("[workspace]\ndir = \"../file/work\"\n");
    std::fs::write(stage.root().join("file"), "").unwrap();
    says(&stage);
    let stage = Stage::new(ONCE);
    std::fs::create_dir_all(stage.root().join("home/.local/state")).unwrap();
    std::fs::write(stage.root().join("home/.local/state/legation"), "").unwrap();
    says(&stage);
}

#[test]
fn what_ended_blocked_is_listed_with_its_blocker_until_somebody_moves_it_on() {
    let stage = Stage::new(ONCE);
    stage.agent("done", "", DONE);
    let stuck = "legation submit --status blocked --summary stuck --error 'access:need a key'";
    stage.agent("stuck", "", stuck);
    stage.json(&["delegate", "--agent", "done", "Work"]);
    let (code, view) = stage.json(&["delegate", "--agent", "stuck", "Open the door"]);
    assert_eq!(code, 4, "{view}");
    let id = view["delegationId"].as_str().unwrap();
    let (_, all) = stage.json(&["status"]);
    let list = all["delegations"].as_array().unwrap();
    assert_eq!(list.len(), 1, "what is completed is not listed: {all}");
    let waits = json!(["sub-1 is blocked: need a key"]);
    assert_eq!((&list[0]["status"], &list[0]["waitingFor"]), (&json!("blocked"), &waits), "{all}");
    let page = stage.legation(&["status"]).output().unwrap().stdout;
    let page = String::from_utf8_lossy(&page);
    assert!(page.contains("waits: sub-1 is blocked: need a key"), "{page}");
    let (_, history) = stage.json(&["status", "--all"]);
    assert_eq!(history["delegations"][0]["waitingFor"], waits, "{history}");
    let subtask = view["subtasks"][0]["id"].as_str().unwrap();
    stage.json(&["skip", id, subtask]);
    wait_for("it to be moved on", || listed(&stage, id).is_null().then_some(()));
}
