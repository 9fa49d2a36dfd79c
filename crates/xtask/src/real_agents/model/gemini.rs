//! Google's generateContent, which Gemini CLI speaks.

use serde_json::{Value, json};

use super::http::Response;
use super::script::{Asked, Move, Said, Tool};
use super::{INPUT, OUTPUT, fresh, list, text};

pub(super) fn read(body: &Value) -> Asked {
    let turns = list(body, "contents").iter().map(|content| {
        let parts = list(content, "parts");
        let words: Vec<&str> = parts.iter().map(|part| text(part, "text")).collect();
        Said {
            is_user: text(content, "role") != "model",
            text: words.join("\n"),
            calls: parts.iter().filter(|part| part.get("functionCall").is_some()).count(),
        }
    });
    let declared = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
    let tools = declared.map(|tool| Tool {
        name: text(tool, "name").to_owned(),
        schema: tool
            .get("parametersJsonSchema")
            .or_else(|| tool.get("parameters"))
            .cloned()
            .unwrap_or_default(),
        group: None,
    });
    Asked { turns: turns.collect(), tools: tools.collect() }
}

pub(super) fn answer(is_streamed: bool, body: &Value, next: &Move) -> Response {
    let id = fresh();
    let settings = body.get("generationConfig");
    let wants_json = settings.is_some_and(|settings| {
        settings.get("responseJsonSchema").is_some()
            || text(settings, "responseMimeType") == "application/json"
    });
    let part = match next {
        // The program asks such things on the side: who speaks next, which model to take.
        _ if wants_json => {
            let said = json!({"reasoning": "scripted", "next_speaker": "user",
                "model_choice": "flash", "complexity_reasoning": "none", "complexity_score": 1});
            json!({"text": said.to_string()})
        }
        Move::Say(words) => json!({"text": words}),
        Move::Use { tool, arguments, .. } => {
            json!({"functionCall": {"name": tool, "args": arguments, "id": format!("call-{id}")}})
        }
    };
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP",
            "index": 0}],
        "usageMetadata": {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT,
            "totalTokenCount": INPUT + OUTPUT},
        "modelVersion": "gemini-2.5-flash", "responseId": format!("response-{id}"),
    });
    if is_streamed { Response::Events(vec![(None, whole)]) } else { Response::Json(whole) }
}
