//! What the programs of four vendors print, in the form of recorded output.

use serde_json::{Value, json};

use super::super::story::{End, Part, Turn};
use super::line;

/// The conversation, as the programs call it.
const SESSION: &str = "5f0c";

/// One message a step; figures and cost at the end are those of the whole conversation.
pub(super) fn claude_code(no: usize, turn: &Turn) -> Vec<u8> {
    let mut said = line(&json!({"type": "system", "subtype": "init", "session_id": SESSION}));
    let message = |content: Value| json!({"id": "m", "role": "assistant", "content": [content]});
    for (step, part) in turn.parts.iter().enumerate() {
        let (Part::Runs(command) | Part::IsDenied(command)) = part else {
            let Part::Says(text) = part else { continue };
            let content = message(json!({"type": "text", "text": text}));
            said += &line(&json!({"type": "assistant", "message": content}));
            continue;
        };
        let id = format!("toolu_{no}_{step}");
        let call =
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        said += &line(&json!({"type": "assistant", "message": message(call)}));
        if matches!(part, Part::IsDenied(_)) {
            said += &line(&json!({
                "type": "system", "subtype": "permission_denied", "tool_name": "Bash",
                "tool_use_id": id, "message": "Permission to use Bash has been denied",
            }));
        }
        if turn.end != End::Hangs {
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
            said +=
                &line(&json!({"type": "user", "message": {"role": "user", "content": [result]}}));
        }
    }
    let one = json!({
        "input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 3,
    });
    let all = json!({"claude-sonnet-4-5": {
        "inputTokens": 100 * no, "outputTokens": 10 * no, "cacheReadInputTokens": 20 * no,
        "cacheCreationInputTokens": 3 * no,
    }});
    let over = json!({"type": "result", "subtype": "success", "is_error": false});
    said += &match turn.end {
        End::Over if turn.is_unused => {
            let zero = json!({"input_tokens": 0, "output_tokens": 0});
            line(&with(over, &json!({"usage": zero, "total_cost_usd": 0})))
        }
        End::Over => {
            let cost = 0.005 * no as f64;
            let figures = json!({"usage": one, "modelUsage": all, "total_cost_usd": cost});
            line(&with(over, &figures))
        }
        End::Limited => {
            let error = json!({"is_error": true, "api_error_status": 429, "result": "429"});
            line(&with(over, &error))
        }
        End::Breaks | End::Hangs => String::new(),
    };
    said.into_bytes()
}

/// Figures are those of the whole thread, cached and reasoning tokens among the others.
pub(super) fn codex(no: usize, turn: &Turn) -> Vec<u8> {
    let mut said = line(&json!({"type": "thread.started", "thread_id": SESSION}));
    said += &line(&json!({"type": "turn.started"}));
    for (step, part) in turn.parts.iter().enumerate() {
        let item = |kind: &str, item: &Value| {
            let item = with(json!({"id": format!("item_{step}")}), item);
            line(&json!({"type": format!("item.{kind}"), "item": item}))
        };
        let run = |command: &str, status: &str| json!({"type": "command_execution", "command": command, "status": status});
        said += &match part {
            Part::Says(text) => item("completed", &json!({"type": "agent_message", "text": text})),
            Part::Runs(command) if turn.end == End::Hangs => {
                item("started", &run(command, "in_progress"))
            }
            Part::Runs(command) => {
                let started = item("started", &run(command, "in_progress"));
                started + &item("completed", &run(command, "completed"))
            }
            Part::IsDenied(command) => item("completed", &run(command, "declined")),
        };
    }
    let usage = json!({
        "input_tokens": 123 * no, "cached_input_tokens": 20 * no,
        "cache_write_input_tokens": 3 * no, "output_tokens": 10 * no,
    });
    let usage = if turn.is_unused { json!({}) } else { usage };
    said += &match turn.end {
        End::Over => line(&json!({"type": "turn.completed", "usage": usage})),
        End::Limited => {
            let error = json!({"message": "exceeded retry limit, last status: 429"});
            line(&json!({"type": "turn.failed", "error": error}))
        }
        End::Breaks | End::Hangs => String::new(),
    };
    said.into_bytes()
}

/// A step a turn, in which all is done and said; no last line.
pub(super) fn opencode(no: usize, turn: &Turn) -> Vec<u8> {
    let event =
        |kind: &str, part: &Value| line(&json!({"type": kind, "sessionID": SESSION, "part": part}));
    let mut said = event("step_start", &json!({"type": "step-start"}));
    for (step, part) in turn.parts.iter().enumerate() {
        let tool = |state: &Value| {
            let call =
                json!({"type": "tool", "tool": "bash", "callID": format!("call_{no}_{step}")});
            event("tool_use", &with(call, &json!({"state": state})))
        };
        said += &match part {
            Part::Says(text) => event("text", &json!({"type": "text", "text": text})),
            Part::Runs(command) => {
                tool(&json!({"status": "completed", "output": "ok", "input": {"command": command}}))
            }
            Part::IsDenied(command) => tool(&json!({
                "status": "error", "input": {"command": command},
                "error": "The user has specified a rule which prevents you from using this tool",
            })),
        };
    }
    let tokens =
        json!({"input": 100, "output": 10, "reasoning": 0, "cache": {"read": 20, "write": 3}});
    let figures = if turn.is_unused {
        json!({"tokens": {"input": 0}, "cost": 0})
    } else {
        json!({"tokens": tokens, "cost": 0.005})
    };
    said += &match turn.end {
        End::Over => event("step_finish", &with(json!({"reason": "stop"}), &figures)),
        End::Limited => {
            let data = json!({"message": "busy", "statusCode": 429});
            line(&json!({"type": "error", "error": {"name": "APIError", "data": data}}))
        }
        End::Breaks | End::Hangs => String::new(),
    };
    said.into_bytes()
}

/// Words in pieces; figures at the end are those of the turn, thoughts only in the total.
pub(super) fn gemini(no: usize, turn: &Turn) -> Vec<u8> {
    let mut said =
        line(&json!({"type": "init", "session_id": SESSION, "model": "gemini-2.5-flash"}));
    for (step, part) in turn.parts.iter().enumerate() {
        let id = format!("run_{no}_{step}");
        let call = |command: &str| {
            line(&json!({
                "type": "tool_use", "tool_name": "run_shell_command", "tool_id": id,
                "parameters": {"command": command},
            }))
        };
        let back = |more: &Value| line(&with(json!({"type": "tool_result", "tool_id": id}), more));
        said += &match part {
            Part::Says(text) => {
                let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at));
                let (first, second) = text.split_at(half.unwrap());
                let piece = |text: &str| {
                    line(&json!({
                        "type": "message", "role": "assistant", "content": text, "delta": true,
                    }))
                };
                piece(first) + &piece(second)
            }
            Part::Runs(command) if turn.end == End::Hangs => call(command),
            Part::Runs(command) => call(command) + &back(&json!({"status": "success"})),
            Part::IsDenied(command) => {
                let error = json!({"type": "policy_violation", "message": "Denied by policy."});
                call(command) + &back(&json!({"status": "error", "error": error}))
            }
        };
    }
    let stats =
        json!({"total_tokens": 137, "input_tokens": 120, "output_tokens": 10, "cached": 20});
    let stats = if turn.is_unused { json!({"total_tokens": 0}) } else { stats };
    said += &match turn.end {
        End::Over => line(&json!({"type": "result", "status": "success", "stats": stats})),
        End::Limited => line(&json!({
            "type": "result", "status": "error", "error": {"type": "Error", "message": "busy"},
        })),
        End::Breaks | End::Hangs => String::new(),
    };
    said.into_bytes()
}

/// One object with the fields of another.
fn with(mut one: Value, other: &Value) -> Value {
    let fields = other.as_object().unwrap().iter();
    one.as_object_mut().unwrap().extend(fields.map(|(name, value)| (name.clone(), value.clone())));
    one
}
