//! What is said at the door itself: messages that are none, arguments that cannot be used,
//! and what the tools promise to answer.

use std::io::Write as _;

use serde_json::{Value, json};

use super::{Client, project};
use crate::session::Session;

#[test]
fn a_line_that_is_no_message_is_answered_and_the_next_one_is_heard() {
    let session = Session::new();
    let mut client = Client::silent(&session);
    // Before the handshake, and after it.
    for line in ["this is not JSON", "{\"jsonrpc\": \"2.0\", \"id\": 1", "\u{1}"] {
        writeln!(client.stdin.as_mut().unwrap(), "\n   \n{line}").unwrap();
        let answer = client.read();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null));
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
