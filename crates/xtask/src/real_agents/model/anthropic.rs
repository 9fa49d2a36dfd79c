//! Anthropic's Messages.

use serde_json::{Value, json};

use super::http::Response;
use super::script::{Asked, Move, Said, Tool};
use super::{INPUT, OUTPUT, fresh, list, text};

pub(super) fn read(body: &Value) -> Asked {
    let turns = list(body, "messages").iter().map(|message| {
        let content = message.get("content").unwrap_or(&Value::Null);
        let parts = content.as_array().map_or(&[][..], Vec::as_slice);
        let calls = parts.iter().filter(|part| text(part, "type") == "tool_use").count();
        let words = parts.iter().filter(|part| text(part, "type") == "text");
        let words: Vec<&str> = words.map(|part| text(part, "text")).collect();
        let is_user = text(message, "role") == "user";
        let text = content.as_str().map_or_else(|| words.join("\n"), str::to_owned);
        Said { is_user, text, calls }
    });
    let tools = list(body, "tools").iter().map(|tool| Tool {
        name: text(tool, "name").to_owned(),
        schema: tool.get("input_schema").cloned().unwrap_or_default(),
        group: None,
    });
    Asked { turns: turns.collect(), tools: tools.collect() }
}

pub(super) fn answer(body: &Value, next: &Move) -> Response {
    let id = fresh();
    let (block, delta, reason) = match next {
        Move::Say(words) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": words}),
            "end_turn",
        ),
        Move::Use { tool, arguments, .. } => (
            json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": tool, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
    };
    let usage = json!({"input_tokens": INPUT, "output_tokens": 1,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0});
    if body.get("stream") != Some(&json!(true)) {
        let content = match next {
            Move::Say(words) => json!({"type": "text", "text": words}),
            Move::Use { tool, arguments, .. } => {
                json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": tool, "input": arguments})
            }
        };
        return Response::Json(
            json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant",
            "model": body.get("model"), "content": [content], "stop_reason": reason,
            "stop_sequence": null, "usage": {"input_tokens": INPUT, "output_tokens": OUTPUT}}),
        );
    }
    let message = json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant",
        "model": body.get("model"), "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": OUTPUT}}),
        json!({"type": "message_stop"}),
    ];
    let named = events.map(|event| (Some(text(&event, "type").to_owned()), event));
    Response::Events(named.into())
}
