//! What a caller is told about a delegation: little enough for its context, with the
//! rest behind a link.

use legation_engine::protocol::Refused;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Map, Value, json};

/// Characters of an answer that enter the caller's context: about two thousand tokens.
const MAX_CHARS: usize = 8_000;
/// What the address of a delegation begins with.
const ADDRESS: &str = "legation://delegation/";
/// Fields of a delegation that are told.
const TOLD: &[&str] = &["delegationId", "status", "pattern", "progress", "metrics", "remaining"];
/// Fields of a subtask that are told.
const TOLD_OF_SUBTASKS: &[&str] = &["id", "agent", "status", "sessionId", "blockedBy"];

/// The address of a delegation.
pub(super) fn address(id: &str) -> String {
    format!("{ADDRESS}{id}")
}

/// The delegation that an address names.
pub(super) fn at(address: &str) -> Option<&str> {
    address.strip_prefix(ADDRESS).filter(|id| !id.is_empty())
}

/// How a delegation stands, as the result of a tool. One that failed or was cancelled
/// is an answer, too, and marked as an error.
pub(super) fn answer(view: &Value) -> CallToolResult {
    let status = view.get("status").and_then(Value::as_str).unwrap_or_default();
    let bad = matches!(status, "failed" | "blocked" | "cancelled");
    let mut told = digest(view);
    let is_long = told.to_string().len() > MAX_CHARS;
    if is_long {
        shorten(&mut told);
    }
    let mut result =
        if bad { CallToolResult::structured_error(told) } else { CallToolResult::structured(told) };
    if is_long && let Some(id) = view.get("delegationId").and_then(Value::as_str) {
        let link = Resource::new(address(id), id).with_mime_type("application/json");
        result.content.push(ContentBlock::resource_link(link));
    }
    result
}

/// Something else that was asked for.
pub(super) fn plain(value: Value) -> CallToolResult {
    CallToolResult::structured(value)
}

/// A refusal, in the form that every surface has.
pub(super) fn refused(refused: &Refused) -> CallToolResult {
    let mut value = json!({"error": {
        "code": refused.code, "message": refused.message, "hint": refused.hint,
        "details": refused.details,
    }});
    if let (Some(remaining), Some(value)) = (&refused.remaining, value.as_object_mut()) {
        value.insert("remaining".to_owned(), remaining.clone());
    }
    CallToolResult::structured_error(value)
}

fn digest(view: &Value) -> Value {
    let mut told = picked(view, TOLD);
    let result = view.get("result").unwrap_or(&Value::Null);
    for key in ["summary", "data", "artifacts", "votes", "findings"] {
        if let Some(value) = result.get(key).filter(|value| !value.is_null()) {
            told.insert(key.to_owned(), value.clone());
        }
    }
    let subtasks = view.get("subtasks").and_then(Value::as_array);
    let subtasks = subtasks.into_iter().flatten().map(subtask).collect();
    told.insert("subtasks".to_owned(), Value::Array(subtasks));
    Value::Object(told)
}

fn subtask(view: &Value) -> Value {
    let mut told = picked(view, TOLD_OF_SUBTASKS);
    let returned = view.get("return").unwrap_or(&Value::Null);
    for key in ["summary", "errors", "artifacts", "next_steps"] {
        let there = returned.get(key).filter(|value| !value.is_null() && **value != json!([]));
        if let Some(value) = there {
            told.insert(key.to_owned(), value.clone());
        }
    }
    let receipt = view.get("receipt").unwrap_or(&Value::Null);
    for key in ["filesChanged", "downgraded", "costUsd"] {
        let there = receipt.get(key).filter(|value| !value.is_null() && **value != json!([]));
        if let Some(value) = there {
            told.insert(key.to_owned(), value.clone());
        }
    }
    Value::Object(told)
}

fn picked(view: &Value, keys: &[&str]) -> Map<String, Value> {
    let there = keys.iter().filter_map(|key| Some(((*key).to_owned(), view.get(*key)?.clone())));
    there.collect()
}

/// Leaves out what makes an answer long; what is left out is behind the link.
fn shorten(told: &mut Value) {
    let Some(object) = told.as_object_mut() else { return };
    object.remove("data");
    object.remove("votes");
    object.remove("findings");
    object.insert("shortened".to_owned(), Value::Bool(true));
    if let Some(subtasks) = object.get_mut("subtasks").and_then(Value::as_array_mut) {
        for subtask in subtasks.iter_mut().filter_map(Value::as_object_mut) {
            subtask.retain(|key, _| TOLD_OF_SUBTASKS.contains(&key.as_str()));
        }
    }
    for key in ["artifacts", "summary", "subtasks"] {
        if told.to_string().len() <= MAX_CHARS {
            return;
        }
        let Some(object) = told.as_object_mut() else { return };
        let count = object.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        let left_out = match key {
            "summary" => json!("The summary is long; read the linked resource."),
            _ => json!([format!("{count} entries are in the linked resource")]),
        };
        object.insert(key.to_owned(), left_out);
    }
}
