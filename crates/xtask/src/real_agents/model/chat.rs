//! OpenAI's chat completions, which OpenCode and many servers speak.

use serde_json::{Value, json};

use super::http::Response;
use super::script::{Asked, Move, Said, Tool};
use super::{INPUT, OUTPUT, fresh, list, text, text_of};

pub(super) fn read(body: &Value) -> Asked {
    let said = list(body, "messages").iter().filter(|message| text(message, "role") != "tool");
    let turns = said.map(|message| Said {
        is_user: matches!(text(message, "role"), "user" | "system" | "developer"),
        text: message.get("content").map(text_of).unwrap_or_default(),
        calls: list(message, "tool_calls").len(),
    });
    let tools = list(body, "tools").iter().filter_map(|tool| {
        let function = tool.get("function")?;
        let schema = function.get("parameters").cloned().unwrap_or_default();
        Some(Tool { name: text(function, "name").to_owned(), schema, group: None })
    });
    Asked { turns: turns.collect(), tools: tools.collect() }
}

pub(super) fn answer(body: &Value, next: &Move) -> Response {
    let id = fresh();
    let usage = json!({"prompt_tokens": INPUT, "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT});
    let (message, reason) = match next {
        Move::Say(words) => (json!({"role": "assistant", "content": words}), "stop"),
        Move::Use { tool, arguments, .. } => {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": format!("call_{id}"), "type": "function",
                "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let model = body.get("model");
    if body.get("stream") != Some(&json!(true)) {
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        return Response::Json(json!({"id": format!("chatcmpl-{id}"), "object": "chat.completion",
            "created": 1, "model": model, "choices": [choice], "usage": usage}));
    }
    let chunk = |choices: Value, usage: Option<&Value>| {
        let event = json!({"id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": 1,
            "model": model, "choices": choices, "usage": usage});
        (None, event)
    };
    Response::EventsAndDone(vec![
        chunk(json!([{"index": 0, "delta": message, "finish_reason": null}]), None),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]), None),
        chunk(json!([]), Some(&usage)),
    ])
}
