//! What an agent is answered when it asks.

use std::os::unix::fs::symlink;

use legation_core::agent::Level;
use legation_runners::envoy::{Outcome, Told};
use serde_json::{Value, json};

use super::stage::Stage;
use crate::talked::tools;

const BEGIN: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#;
const END: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;

/// Asks one thing; answers with what the agent was told, and which tools were denied.
fn asked(method: &str, params: &Value, shell: Level) -> (Value, Vec<String>, Stage) {
    asked_after(method, params, |stage| stage.charge.tools = tools(shell))
}

/// The same after some preparation; `{}` in what is asked is the name of the workspace.
fn asked_after(
    method: &str,
    params: &Value,
    prepare: impl FnOnce(&mut Stage),
) -> (Value, Vec<String>, Stage) {
    let question = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params});
    let mut stage = Stage::playing(&format!("{BEGIN}\n{question}\n{END}"), "cat > /dev/null\n");
    prepare(&mut stage);
    let script = std::fs::read_to_string(stage.folder().join("agent")).unwrap();
    let name = stage.folder().file_name().unwrap().to_str().unwrap().to_owned();
    std::fs::write(stage.folder().join("agent"), script.replace("/{}/", &format!("/{name}/")))
        .unwrap();
    assert_eq!(stage.say("Go."), Outcome::Over);
    let denied =
        stage.heard.told().into_iter().filter_map(|told| {
            if let Told::Denied { tool, .. } = told { Some(tool) } else { None }
        });
    let denied = denied.collect();
    let answer = stage.said().into_iter().find(|said| said["id"] == "q").unwrap();
    (answer, denied, stage)
}

fn permission(call: &Value) -> Value {
    let options = json!([
        {"optionId": "always", "kind": "allow_always"}, {"optionId": "once", "kind": "allow_once"},
        {"optionId": "no", "kind": "reject_once"},
    ]);
    json!({"sessionId": "s", "toolCall": call, "options": options})
}

#[test]
fn levels_decide_and_never_for_more_than_once() {
    let shell = |command: &str| json!({"toolCallId": "t", "kind": "execute", "rawInput": {"command": command}});
    let path = |kind: &str, path: &str| json!({"toolCallId": "t", "kind": kind, "locations": [{"path": path}]});
    let other = |title: &str| json!({"toolCallId": "t", "kind": "other", "title": title});
    for (call, level, expected) in [
        (shell("ls"), Level::Allow, "once"),
        (shell("ls"), Level::Deny, "no"),
        (shell("ls"), Level::Ask, "no"),
        (path("edit", "src/a.rs"), Level::Deny, "once"),
        (path("edit", "/etc/passwd"), Level::Allow, "no"),
        (path("read", "/usr/include/stdio.h"), Level::Allow, "once"),
        (json!({"toolCallId": "t", "kind": "fetch", "title": "https://x"}), Level::Allow, "no"),
        (other("mcp__legation__submit_result"), Level::Deny, "once"),
        (other("submit_result (legation MCP Server)"), Level::Deny, "once"),
        (other("legation_delegate"), Level::Allow, "no"),
        (other("SwitchMode"), Level::Allow, "no"),
        // A command that calls itself our own tool is a command.
        (
            json!({"toolCallId": "t", "kind": "execute", "title": "mcp__legation__submit_result"}),
            Level::Deny,
            "no",
        ),
    ] {
        let (answer, denied, _) = asked("session/request_permission", &permission(&call), level);
        assert_eq!(answer["result"]["outcome"]["optionId"], expected, "{call} {level:?}");
        assert_eq!(denied.len(), usize::from(expected == "no"), "{call}");
    }
}

#[test]
fn a_part_that_is_denied_is_so_however_the_agent_writes_its_path() {
    let call = |kind: &str, path: &str| json!({"toolCallId": "t", "kind": kind, "rawInput": {"file_path": path}});
    let none = |kind: &str| json!({"toolCallId": "t", "kind": kind, "title": "all of it"});
    for (wanted, expected) in [
        (call("read", "secrets/key"), "no"),
        (call("read", "./secrets/key"), "no"),
        (call("read", "src/../secrets//key"), "no"),
        (call("read", "src/../../{}/secrets/key"), "no"),
        (call("read", "innocent/key"), "no"),
        (call("edit", "./README.md"), "no"),
        (call("edit", "dangling"), "no"),
        (call("delete", "."), "no"),
        (call("delete", ".."), "no"),
        (call("search", "."), "no"),
        (call("search", "/"), "no"),
        (none("search"), "no"),
        (none("edit"), "no"),
        (call("search", "src"), "once"),
        (call("read", "src/a"), "once"),
        (call("edit", "secrets/key"), "once"),
    ] {
        let prepare = |stage: &mut Stage| {
            let others = &mut stage.charge.tools.others;
            others.insert("read(secrets/*)".to_owned(), Level::Deny);
            others.insert("edit(README.md)".to_owned(), Level::Deny);
            for folder in ["secrets", "src"] {
                std::fs::create_dir(stage.folder().join(folder)).unwrap();
            }
            symlink("secrets", stage.folder().join("innocent")).unwrap();
            symlink("README.md", stage.folder().join("dangling")).unwrap();
        };
        let (answer, ..) = asked_after("session/request_permission", &permission(&wanted), prepare);
        assert_eq!(answer["result"]["outcome"]["optionId"], expected, "{wanted}");
    }
}

#[test]
fn where_there_is_no_way_to_say_no_it_is_called_off() {
    let mut wanted =
        permission(&json!({"toolCallId": "t", "kind": "execute", "rawInput": {"command": "ls"}}));
    wanted["options"] = json!([{"optionId": "once", "kind": "allow_once"}]);
    let (answer, ..) = asked("session/request_permission", &wanted, Level::Deny);
    assert_eq!(answer["result"], json!({"outcome": {"outcome": "cancelled"}}));
}

#[test]
fn files_go_through_us_by_level_and_inside_the_workspace() {
    let (answer, _, stage) = asked(
        "fs/write_text_file",
        &json!({"sessionId": "s", "path": "new/a.txt", "content": "a\nb\nc\n"}),
        Level::Deny,
    );
    assert_eq!(answer["result"], json!({}));
    assert_eq!(std::fs::read_to_string(stage.folder().join("new/a.txt")).unwrap(), "a\nb\nc\n");
    let (answer, ..) = asked(
        "fs/read_text_file",
        &json!({"sessionId": "s", "path": "agent", "line": 1, "limit": 1}),
        Level::Deny,
    );
    assert_eq!(answer["result"], json!({"content": "#!/bin/sh\n"}));
    for params in [
        json!({"path": "/etc/passwd"}),
        json!({"path": "../x"}),
        json!({"path": "."}),
        json!({"path": 5}),
        json!({}),
    ] {
        let (answer, ..) = asked("fs/read_text_file", &params, Level::Allow);
        assert!(answer.get("error").is_some(), "{params}: {answer}");
    }
    let (answer, denied, _) =
        asked("fs/write_text_file", &json!({"path": "/tmp/x", "content": ""}), Level::Allow);
    assert!(answer.get("error").is_some());
    assert_eq!(denied, ["edit"]);
    let params = json!({"path": "./secret", "content": ""});
    let (answer, denied, stage) = asked_after("fs/write_text_file", &params, |stage| {
        stage.charge.tools.others.insert("edit(secret)".to_owned(), Level::Deny);
    });
    assert!(answer.get("error").is_some() && !stage.folder().join("secret").exists());
    assert_eq!(denied, ["edit"]);
}

#[test]
fn what_is_not_offered_is_refused() {
    for method in ["terminal/create", "session/unheard_of", ""] {
        let (answer, ..) = asked(method, &json!({}), Level::Allow);
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    let (answer, ..) = asked("session/request_permission", &json!({"options": 5}), Level::Allow);
    assert_eq!(answer["error"]["code"], -32602);
}
