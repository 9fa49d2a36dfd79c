//! What is said at the door itself: messages that are none, arguments that cannot be used,
//! and what the tools promise to answer.

use std::io::Write as _;

use serde_json::{Value, json};

use super::{Client, done, project};
use crate::session::Session;

#[test]
fn a_line_that_is_no_message_is_answered_and_the_next_one_is_heard() {
    let session = Session::new();
    let mut client = Client::silent(&session);
    // Before the handshake, and after it.
    for line in ["this is not JSON", "{\"jsonrpc\": \"2.0\", \"id\": 1", "\u{1}"] {
        writeln!(client.stdin.as_mut().unwrap(), "\n   \n{line}").unwrap();
        let answer = client.read();
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
        assert_eq!(answer.get("id"), Some(&Value::Null), "{answer}");
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    }
    drop(client);
    let mut client = Client::of(&session);
    writeln!(client.stdin.as_mut().unwrap(), "{}", "[".repeat(100_000)).unwrap();
    assert_eq!(client.read()["error"]["code"], -32700);
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 9);
    assert_eq!(client.hang_up(), Some(0));
}

#[test]
fn parameters_that_cannot_be_read_are_an_error_that_says_why() {
    let session = Session::new();
    let mut client = Client::of(&session);
    let cases = [
        ("tools/call", json!({"name": "delegate", "arguments": []}), "expected a map"),
        ("tools/call", json!({"name": 5}), "expected a string"),
        ("tools/call", json!({"arguments": {}}), "missing field `name`"),
        ("resources/read", json!({"uri": 5}), "expected a string"),
    ];
    for (method, params, why) in cases {
        let answer = client.ask(method, &params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(method) && message.contains(why), "{message}");
    }
    let answer = client.ask("tools/burn", &json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[test]
fn one_subtask_is_cancelled_and_the_answer_does_not_wait_for_the_others() {
    let session = project(&[("w", "sleep 30")]);
    let mut client = Client::of(&session);
    let subtasks = json!([
        {"id": "a", "agent": "w", "task": "one"}, {"id": "b", "agent": "w", "task": "two"},
    ]);
    let handle = client.call("delegate_batch", &json!({"wait": false, "subtasks": subtasks}));
    let id = handle["structuredContent"]["delegationId"].clone();
    let answer = client.call("delegate_cancel", &json!({"delegationId": id, "subtaskId": "a"}));
    assert_eq!(answer["structuredContent"]["status"], "running", "{answer}");
    let seen = client.call("delegate_status", &json!({"delegationId": id}));
    let part = |no: usize| seen["structuredContent"]["subtasks"][no]["status"].clone();
    assert_eq!(part(0), "cancelled", "{seen}");
    assert!(part(1) == "running" || part(1) == "pending", "{seen}");
    // On the command line it is the same.
    let id = id.as_str().unwrap();
    let told = session.run(&["cancel", id, "b", "--wait", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["delegationId"], id, "{told}");
    let end = client.call("delegate_wait", &json!({"delegationId": id}));
    assert_ne!(end["structuredContent"]["status"], "running", "{end}");
}

#[test]
fn an_argument_that_cannot_be_used_is_named_with_what_is_allowed() {
    let session = project(&[("w", &done("did it"))]);
    let mut client = Client::of(&session);
    let cases = [
        ("timeout", json!(-1), "a whole number of seconds"),
        ("timeout", json!(1.5), "a whole number of seconds"),
        ("timeout", json!([]), "such as 90s, 30m or 2h"),
        ("timeout", json!(0), "leaves no time"),
        ("timeout", json!("0s"), "leaves no time"),
        ("budget", json!(-1), "invalid value: integer `-1`"),
        ("wait", json!("no"), "expected a boolean"),
        ("depth", json!(9), "unknown field"),
    ];
    for (field, value, why) in cases {
        let mut arguments = json!({"agent": "w", "task": "x"});
        arguments[field] = value;
        let result = client.call("delegate", &arguments);
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"], "VALIDATION_FAILED", "{arguments}: {result}");
        let message = error["message"].as_str().unwrap();
        assert_eq!(message.matches(&format!("`{field}`")).count(), 1, "{message}");
        assert!(message.contains(why), "{message}");
    }
    let missing = client.call("delegate", &json!({"agent": "w"}));
    let message = missing["structuredContent"]["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("cannot be used: missing field `task`."), "{message}");
}

#[test]
fn every_answer_has_what_its_tool_promises() {
    let session = project(&[("w", "sleep 300")]);
    let mut client = Client::of(&session);
    let listed = client.ask("tools/list", &json!({}));
    let handle = client.call("delegate", &json!({"agent": "w", "task": "x", "wait": false}));
    let id = handle["structuredContent"]["delegationId"].clone();
    let cases = [
        ("delegate_status", json!({"delegationId": id})),
        ("delegate_list", json!({})),
        ("list_agents", json!({})),
        ("explain_permissions", json!({"child": "w"})),
        ("delegate_cancel", json!({"delegationId": id})),
    ];
    for (tool, arguments) in cases {
        let tools = listed["result"]["tools"].as_array().unwrap();
        let schema = &tools.iter().find(|it| it["name"] == tool).unwrap()["outputSchema"];
        let answer = client.call(tool, &arguments)["structuredContent"].clone();
        let required = schema["required"].as_array().unwrap();
        assert!(!required.is_empty(), "{tool} promises nothing");
        for field in required.iter().map(|field| field.as_str().unwrap()) {
            let kind = match &answer[field] {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            assert_eq!(schema["properties"][field]["type"], kind, "{tool} {field}: {answer}");
        }
    }
}

#[test]
fn the_agent_that_always_exists_is_listed_with_whether_it_can_run() {
    let session = project(&[("w", &done("did it"))]);
    let mut client = Client::of(&session);
    let listed = client.call("list_agents", &json!({}));
    let agents = listed["structuredContent"]["agents"].as_array().unwrap();
    let ids: Vec<&Value> = agents.iter().map(|agent| &agent["id"]).collect();
    assert_eq!(ids, ["general-purpose", "w"], "{listed}");
    assert!(agents[0]["runnable"].is_boolean(), "{listed}");
    assert_eq!(agents[1]["runnable"], true, "{listed}");
}
