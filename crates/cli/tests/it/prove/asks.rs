//! What waits for a person's word, wherever in a tree it stands.

use serde_json::Value;

use super::stage::{Stage, shown, wait_for};

#[test]
fn an_approval_below_a_root_is_listed_with_what_answers_it() {
    let stage = Stage::new("[permissions]\nask = [\"delegate(leaf)\"]\n");
    let nests = "legation delegate --json --agent leaf 'A part' > $OUT/nested\n\
                 legation submit --status completed --summary both";
    stage.agent("lead", "subagents:\n  allow: [leaf]\n", nests);
    stage.agent("leaf", "", "legation submit --status completed --summary part");
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "lead", "All of it"]);
    let root = begun["delegationId"].as_str().unwrap();
    let waits = |listed: &Value| {
        let entries = listed["delegations"].as_array().unwrap().iter();
        let mut waiting = entries.filter(|entry| entry["waitingFor"][0].is_string());
        waiting.next().cloned()
    };
    let entry = wait_for("it to wait", || waits(&stage.json(&["status"]).1));
    assert_eq!(entry["parentId"], root);
    let below = entry["delegationId"].as_str().unwrap();
    let said = format!("sub-1 for an approval: legation approve {below} sub-1");
    assert_eq!(entry["waitingFor"], serde_json::json!([said]));
    for looks in [&["status"][..], &["status", root]] {
        let ran = stage.legation(looks).output().unwrap();
        let page = String::from_utf8_lossy(&ran.stdout).into_owned();
        // It may take two lines.
        let page: Vec<&str> = page.split_whitespace().filter(|word| *word != "│").collect();
        let answer = format!("for an approval: legation approve {below} sub-1");
        assert!(page.join(" ").contains(&answer), "{page:?}{}", shown(&ran));
    }
    let answer: Vec<&str> = said.split_once("legation ").unwrap().1.split(' ').collect();
    assert_eq!(stage.json(&answer).0, 0);
    assert_eq!(stage.json(&["resume", root, "--wait"]).1["status"], "completed");
}
