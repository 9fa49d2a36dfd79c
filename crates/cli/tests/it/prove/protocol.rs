//! An agent by protocol under the real engine: what it has to ask.

use serde_json::json;

use super::stage::{Stage, wait_for};

/// An agent that wants to run a command, and does so if it is let.
const AGENT: &str = r#"
    while IFS= read -r line; do
        case "$line" in
        *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';;
        *'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}';;
        *'"method":"session/prompt"'*) echo '{"jsonrpc":"2.0","id":"q1","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t1","kind":"execute","rawInput":{"command":"echo yes"}},"options":[{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}';;
        *'"id":"q1"'*)
            case "$line" in *'"once"'*) echo yes > asked.txt;; esac
            legation submit --status completed --summary 'It is done.' > /dev/null
            echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}';;
        esac
    done"#;

#[test]
fn a_tool_that_an_agent_by_protocol_has_to_ask_for_waits_for_a_human() {
    let stage = Stage::new("");
    let tools = "tools: {ask: [shell], allow: [read, edit]}\n";
    stage.agent("m", tools, AGENT);
    let path = ".legation/agents/m.md";
    let text = std::fs::read_to_string(stage.project().join(path)).unwrap();
    stage.write(path, &text.replace("runner: command", "runner: acp"));
    for (word, files) in [("approve", json!(["asked.txt"])), ("reject", json!([]))] {
        let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "m", word]);
        let id = begun["delegationId"].as_str().unwrap();
        wait_for("the question", || (stage.json(&[word, id]).0 == 0).then_some(()));
        let view = wait_for("the end", || {
            let (_, view) = stage.json(&["status", id]);
            let is_over = view["status"] != "running" && view["status"] != "pending";
            is_over.then_some(view)
        });
        let receipt = &view["subtasks"][0]["receipt"];
        assert_eq!(
            (&view["status"], &receipt["filesChanged"]),
            (&json!("completed"), &files),
            "{view}"
        );
        assert_eq!(receipt["denied"].get("shell").is_some(), word == "reject", "{receipt}");
    }
    assert!(stage.processes().is_empty());
}
