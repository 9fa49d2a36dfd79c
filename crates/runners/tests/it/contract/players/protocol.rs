//! An agent that speaks the Agent Client Protocol.

use serde_json::{Value, json};

use super::super::story::{End, Part, Turn};
use super::line;

pub(super) fn prints(no: usize, turn: &Turn) -> Vec<u8> {
    let update = |update: &Value| {
        let params = json!({"sessionId": "s", "update": update});
        line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    };
    let mut said = String::new();
    for (step, part) in turn.parts.iter().enumerate() {
        said += &match part {
            Part::Says(text) => update(&json!({
                "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
            })),
            Part::Runs(command) | Part::IsDenied(command) => {
                let mut call = json!({
                    "toolCallId": format!("t{no}-{step}"), "kind": "execute",
                    "rawInput": {"command": command},
                });
                let options = json!([{"optionId": "once", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]);
                let wanted = line(&json!({
                    "jsonrpc": "2.0", "id": format!("q{no}-{step}"),
                    "method": "session/request_permission",
                    "params": {"sessionId": "s", "toolCall": call, "options": options},
                }));
                call["sessionUpdate"] = json!("tool_call_update");
                call["status"] = json!("completed");
                let over = if turn.end == End::Hangs { String::new() } else { update(&call) };
                wanted + &over
            }
        };
    }
    let usage = json!({"inputTokens": 100, "outputTokens": 10, "cachedReadTokens": 20, "cachedWriteTokens": 3, "totalTokens": 133});
    let usage = if turn.is_unused { json!({"inputTokens": 0}) } else { usage };
    let id = no + 2;
    said += &match turn.end {
        End::Over => {
            let result = json!({"stopReason": "end_turn", "usage": usage});
            line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
        }
        End::Limited => {
            let error = json!({"code": -32603, "message": "429 too many requests"});
            line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
        }
        End::Breaks | End::Hangs => String::new(),
    };
    said.into_bytes()
}
