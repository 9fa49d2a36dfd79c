//! What an agent is told before the conversation begins.

use legation_core::agent::{Level, Runner};
use legation_runners::envoy::Outcome;
use legation_runners::permissions::told;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::talked::tools;

/// An agent of that name whose new session says this, up to its second answer.
fn hello(name: &str, session: &Value) -> String {
    let hello = json!({"protocolVersion": 1, "agentInfo": {"name": name}});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "result": hello});
    format!("{hello}\n{}", json!({"jsonrpc": "2.0", "id": 2, "result": session}))
}

fn answer(id: u64, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[test]
fn sub_agents_of_its_own_are_off_where_it_can_be_told() {
    let end = answer(3, &json!({"stopReason": "end_turn"}));
    let last =
        format!("printf %s \"$OPENCODE_PERMISSION\" > told\necho '{end}'\ncat > /dev/null\n");
    for (name, is_claude) in [("@agentclientprotocol/claude-agent-acp", true), ("opencode", false)]
    {
        let mut stage = Stage::playing(&hello(name, &json!({"sessionId": "s"})), &last);
        assert_eq!(stage.say("Go."), Outcome::Over);
        let new = stage.said().into_iter().find(|said| said["method"] == "session/new").unwrap();
        let denied = &new["params"]["_meta"]["claudeCode"]["options"]["disallowedTools"];
        let denied = denied.as_array().cloned().unwrap_or_default();
        for tool in ["Task", "Agent", "Workflow"] {
            assert_eq!(denied.contains(&json!(tool)), is_claude, "{name}: {tool}");
        }
        let told = std::fs::read(stage.folder().join("told")).unwrap();
        let told: Value = serde_json::from_slice(&told).unwrap();
        assert_eq!((&told["task"], &told["bash"]), (&json!("deny"), &json!("ask")));
    }
}

#[test]
fn people_are_shown_that_its_sub_agents_are_off() {
    let rows = told(Runner::Acp, &tools(Level::Allow));
    let row = rows.iter().find(|row| row.tool == "its own sub-agents").unwrap();
    assert_eq!(row.level, Level::Deny);
}
