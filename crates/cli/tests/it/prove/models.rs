//! Our own agent under the real engine: what it used and cost, and what it has to ask.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::stage::{Stage, wait_for};

/// A model that says one thing after another, and the last again and again.
pub(super) fn model(answers: Vec<Value>) -> String {
    listening_model(answers).0
}

/// The same, with what it is asked.
pub(super) fn listening_model(answers: Vec<Value>) -> (String, Receiver<Value>) {
    let (tell, asked) = channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for no in 0.. {
            let Ok((connection, _)) = listener.accept() else { return };
            let mut reader = BufReader::new(connection);
            let mut length = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok() && line.trim() != "" {
                let lower = line.to_lowercase();
                if let Some(told) = lower.strip_prefix("content-length:") {
                    length = told.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            // Not everybody wants to know.
            let _ = tell.send(serde_json::from_slice(&body).unwrap());
            let answer = answers.get(no).or(answers.last()).unwrap();
            let usage = json!({"prompt_tokens": 1_000, "completion_tokens": 100});
            let text = format!(
                "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [{"delta": answer, "finish_reason": "stop"}]}),
                json!({"choices": [], "usage": usage})
            );
            let head = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                text.len()
            );
            // Whoever was stopped has hung up.
            let _ = reader.get_mut().write_all((head + &text).as_bytes());
        }
    });
    (address, asked)
}

pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]})
}

pub(super) fn submit() -> Value {
    call("submit_result", &json!({"status": "completed", "summary": "Written."}))
}

fn write() -> Value {
    call("write", &json!({"path": "new.txt", "content": "new\n"}))
}

pub(super) fn agent(stage: &Stage, tools: &str, address: &str) {
    let text = format!(
        "---\nid: m\nname: m\ndescription: test agent\nmodel: openai/test-model\n{tools}legation:\n  \
         runner: llm\n  timeout: 60s\n  env: {{OPENAI_BASE_URL: \"{address}\"}}\n---\nDo it.\n"
    );
    stage.write(".legation/agents/m.md", &text);
}

#[test]
fn what_a_model_used_is_priced_by_the_table_of_the_project() {
    let stage = Stage::new("[prices.\"test-model\"]\ninput = 1.0\noutput = 10.0\n");
    agent(&stage, "", &model(vec![write(), submit()]));
    let (exit, view) = stage.json(&["delegate", "--agent", "m", "Write it"]);
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!((exit, &view["status"]), (0, &json!("completed")), "{view}");
    assert_eq!(receipt["filesChanged"], json!(["new.txt"]), "{receipt}");
    assert_eq!(receipt["toolCalls"], json!({"edit": 1, "submit_result": 1}), "{receipt}");
    assert_eq!(receipt["tokens"]["input"], 2_000, "{receipt}");
    let cost = json!([receipt["costUsd"], receipt["costEstimatedUsd"], receipt["costBasis"]]);
    assert_eq!(cost, json!([0.004, 0.004, "table"]));
}

#[test]
fn a_cap_on_cost_holds_for_a_model_that_tells_none() {
    let config =
        "[limits]\nmaxCostUsd = 0.005\n[prices.\"test-model\"]\ninput = 1.0\noutput = 10.0\n";
    let stage = Stage::new(config);
    agent(&stage, "", &model(vec![write()]));
    let (_, view) = stage.json(&["delegate", "--agent", "m", "Write it"]);
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!(receipt["stopReason"], "budget", "{view}");
    assert!(stage.processes().is_empty());
}

#[test]
fn without_a_price_the_cost_is_not_known() {
    let stage = Stage::new("");
    agent(&stage, "", &model(vec![write(), submit()]));
    let (_, view) = stage.json(&["delegate", "--agent", "m", "Write it"]);
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!((&receipt["costUsd"], receipt.get("costBasis")), (&Value::Null, None), "{receipt}");
}

#[test]
fn a_tool_that_has_to_be_asked_for_waits_for_a_human() {
    let stage = Stage::new("");
    let shell = call("shell", &json!({"command": "echo yes > asked.txt"}));
    let tools = "tools: {ask: [shell], allow: [read, edit]}\n";
    for (word, files) in [("approve", json!(["asked.txt"])), ("reject", json!([]))] {
        agent(&stage, tools, &model(vec![shell.clone(), submit()]));
        let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "m", word]);
        let id = begun["delegationId"].as_str().unwrap();
        wait_for("the question", || {
            let (exit, _) = stage.json(&[word, id]);
            (exit == 0).then_some(())
        });
        let ended = wait_for("the end", || {
            let (_, view) = stage.json(&["status", id]);
            let status = view["status"].as_str().unwrap_or_default().to_owned();
            (status != "running" && status != "pending").then_some(view)
        });
        let receipt = &ended["subtasks"][0]["receipt"];
        assert_eq!(
            (&ended["status"], &receipt["filesChanged"]),
            (&json!("completed"), &files),
            "{ended}"
        );
    }
}

/// What the model was told of its tools in each request after the first.
fn results(asked: &Receiver<Value>) -> Vec<String> {
    let last = |request: Value| {
        let messages = request["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap_or_default().to_owned()
    };
    asked.try_iter().skip(1).map(last).collect()
}

#[test]
fn a_model_delegates_through_our_own_door() {
    let stage = Stage::new("");
    stage.agent("helper", "", "cat > /dev/null; echo helped > help.txt; legation submit --status completed --summary Helped.");
    let delegate = call("mcp__legation__delegate", &json!({"agent": "helper", "task": "Help."}));
    let (address, asked) = listening_model(vec![delegate, submit()]);
    agent(&stage, "subagents: {allow: [helper]}\n", &address);
    let (exit, view) = stage.json(&["delegate", "--agent", "m", "Have it done"]);
    assert_eq!((exit, &view["status"]), (0, &json!("completed")), "{view}");
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!(receipt["toolCalls"]["mcp:legation/delegate"], 1, "{receipt}");
    assert_eq!(receipt["grandchildren"][0]["ended"], "completed", "{receipt}");
    let told = results(&asked).join("\n");
    assert!(told.contains("Helped.") && told.contains("remaining"), "{told}");
    assert!(stage.processes().is_empty());
}

/// A server with one tool that writes into the folder it works in.
const SERVER: &str = r#"#!/bin/sh
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*[{,]"id":\([0-9]*\),.*/\1/p')
    say() { printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
    case "$line" in
    *'"method":"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}';;
    *'"method":"tools/list"'*) say '{"tools":[{"name":"note"},{"name":"burn"}]}';;
    *'"name":"note"'*) echo "$NOTE" > note.txt; echo x > "$OUTSIDE" 2> /dev/null; say '{"content":[{"type":"text","text":"Noted."}]}';;
    esac
done
"#;

#[test]
fn a_model_uses_servers_of_the_project_inside_its_fence_and_by_its_permissions() {
    let stage = Stage::new("[permissions]\nallow = [\"read\", \"edit\", \"mcp:notes/*\"]\n");
    std::fs::write(stage.project().join(".legation/agents/notes.sh"), SERVER).unwrap();
    let executable = stage.shell("chmod +x .legation/agents/notes.sh");
    assert!(executable.status.success());
    let outside = stage.project().join("outside.txt");
    let env = json!({"NOTE": "${MCP_NOTE:-a note}", "OUTSIDE": outside});
    let servers = json!({"mcpServers": {
        "notes": {"command": "./notes.sh", "env": env},
        "gone": {"command": "no-such-program"},
        "other": {"command": "no-such-program"},
    }});
    stage.write(".mcp.json", &servers.to_string());
    let (address, asked) = listening_model(vec![
        call("mcp__notes__note", &json!({})),
        call("mcp__notes__burn", &json!({})),
        submit(),
    ]);
    let tools = "tools: {deny: [\"mcp:notes/burn\"]}\n";
    agent(&stage, tools, &address);
    let (exit, view) = stage.json(&["delegate", "--agent", "m", "Note it"]);
    assert_eq!((exit, &view["status"]), (0, &json!("completed")), "{view}");
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!(receipt["filesChanged"], json!(["note.txt"]), "{receipt}");
    assert_eq!(receipt["toolCalls"], json!({"mcp:notes/note": 1, "submit_result": 1}));
    assert!(receipt["denied"].get("mcp:notes/burn").is_some(), "{receipt}");
    assert_eq!(receipt.get("unavailable"), None, "{receipt}");
    assert_eq!(results(&asked)[0], "Noted.");
    assert!(!outside.exists());
    assert!(stage.processes().is_empty());
}

#[test]
fn a_server_that_is_not_there_is_in_the_receipt() {
    let stage = Stage::new("[permissions]\nallow = [\"read\", \"edit\", \"mcp:gone/*\"]\n");
    let tools = "mcpServers:\n  gone: {command: no-such-program}\n";
    agent(&stage, tools, &model(vec![submit()]));
    let (exit, view) = stage.json(&["delegate", "--agent", "m", "Do it"]);
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!((exit, &view["status"]), (0, &json!("completed")), "{view}");
    let why = receipt["unavailable"]["gone"].as_str().unwrap();
    assert_eq!(why, "there is no program `no-such-program` in PATH");
}
