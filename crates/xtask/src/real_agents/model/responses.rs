//! OpenAI's Responses, which Codex speaks.

use serde_json::{Value, json};

use super::http::Response;
use super::script::{Asked, Move, Said, Tool};
use super::{INPUT, OUTPUT, fresh, list, text, text_of};

pub(super) fn read(body: &Value) -> Asked {
    let mut turns = Vec::new();
    for item in list(body, "input") {
        match text(item, "type") {
            "message" | "" => turns.push(Said {
                is_user: text(item, "role") != "assistant",
                text: item.get("content").map(text_of).unwrap_or_default(),
                calls: 0,
            }),
            kind if kind.ends_with("_call") => {
                turns.push(Said { is_user: false, text: String::new(), calls: 1 });
            }
            _ => {}
        }
    }
    let mut tools = Vec::new();
    for tool in list(body, "tools") {
        match text(tool, "type") {
            "function" => tools.push(one(tool, None)),
            "namespace" => {
                let group = text(tool, "name");
                tools.extend(list(tool, "tools").iter().map(|tool| one(tool, Some(group))));
            }
            _ => {}
        }
    }
    Asked { turns, tools }
}

fn one(tool: &Value, group: Option<&str>) -> Tool {
    Tool {
        name: text(tool, "name").to_owned(),
        schema: tool.get("parameters").cloned().unwrap_or_default(),
        group: group.map(str::to_owned),
    }
}

pub(super) fn answer(body: &Value, next: &Move) -> Response {
    let id = fresh();
    let item = match next {
        Move::Say(words) => {
            json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": words, "annotations": []}]})
        }
        Move::Use { tool, group, arguments } => {
            let mut call = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
                "name": tool, "arguments": arguments.to_string(), "status": "completed"});
            if let (Some(group), Some(call)) = (group, call.as_object_mut()) {
                call.insert("namespace".to_owned(), json!(group));
            }
            call
        }
    };
    let usage = json!({"input_tokens": INPUT, "output_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0}});
    let response = json!({"id": format!("resp_{id}"), "object": "response", "created_at": 1,
        "model": body.get("model"), "status": "completed", "output": [item], "usage": usage});
    if body.get("stream") != Some(&json!(true)) {
        return Response::Json(response);
    }
    let begun = json!({"id": format!("resp_{id}"), "object": "response", "created_at": 1,
        "model": body.get("model"), "status": "in_progress", "output": []});
    let events = [
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response}),
    ];
    let named = events.map(|event| (Some(text(&event, "type").to_owned()), event));
    Response::Events(named.into())
}
