//! What an agent is told before the conversation begins.

use legation_core::agent::{Level, Runner};
use legation_runners::envoy::{FaultKind, Outcome};
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

#[test]
fn a_model_is_chosen_in_the_way_the_agent_offers_it() {
    let setting = |options: Value| {
        json!({"sessionId": "s", "configOptions": [
            {"id": "mode", "category": "mode", "options": [{"value": "big"}]},
            {"id": "m", "category": "model", "currentValue": "small", "options": options},
            {"id": "odd", "options": 5},
        ]})
    };
    for (session, method, named) in [
        (
            json!({"sessionId": "s", "models": {"availableModels": [{"modelId": "big"}]}}),
            "session/set_model",
            "modelId",
        ),
        (
            setting(json!([{"value": "small"}, {"value": "big"}])),
            "session/set_config_option",
            "value",
        ),
        (
            setting(json!([{"group": "g", "options": [{"value": "big"}]}])),
            "session/set_config_option",
            "value",
        ),
    ] {
        let end = answer(4, &json!({"stopReason": "end_turn"}));
        let recording = format!("{}\n{}\n{end}", hello("x", &session), answer(3, &json!({})));
        let mut stage = Stage::playing(&recording, "cat > /dev/null\n");
        stage.charge.model = Some("big".to_owned());
        assert_eq!(stage.say("Go."), Outcome::Over, "{session}");
        let said = stage.said();
        let set = said.iter().find(|said| said["method"] == method).unwrap();
        assert_eq!(set["params"][named], "big");
    }
}

#[test]
fn a_model_that_the_agent_does_not_offer_is_a_failure_that_says_so() {
    for (session, expected) in [
        (
            json!({"sessionId": "s", "models": {"availableModels": [{"modelId": "a"}, {"modelId": "b"}]}}),
            "The agent does not offer the model `big`. It offers: a, b",
        ),
        (json!({"sessionId": "s"}), "The agent lets nobody choose its model, and `big` is wanted."),
    ] {
        let mut stage = Stage::playing(&hello("x", &session), "cat > /dev/null\n");
        stage.charge.model = Some("big".to_owned());
        let Outcome::Broken(fault) = stage.say("Go.") else { panic!("it went on: {session}") };
        assert_eq!(fault.kind, FaultKind::NotStarted);
        assert!(fault.message.starts_with(expected), "{}", fault.message);
    }
}
