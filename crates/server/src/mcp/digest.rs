//! What a caller is told about a delegation: little enough for its context, with the
//! rest behind a link, and nothing in it that could pass for anything but data.

mod shorten;

use legation_core::returns::harmless;
use legation_engine::protocol::Refused;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Map, Value, json};

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
    // What is made harmless may become longer, so that comes first.
    let mut told: Map<String, Value> =
        digest(view).into_iter().map(|(key, value)| (key, harmless(value))).collect();
    let id = view.get("delegationId").and_then(Value::as_str).unwrap_or_default();
    let is_long = shorten::shorten(&mut told, view, &address(id));
    let told = Value::Object(told);
    let mut result =
        if bad { CallToolResult::structured_error(told) } else { CallToolResult::structured(told) };
    if is_long {
        let link = Resource::new(address(id), id).with_mime_type("application/json");
        result.content.push(ContentBlock::resource_link(link));
    }
    result
}

/// Something else that was asked for.
pub(super) fn plain(value: Value) -> CallToolResult {
    CallToolResult::structured(harmless(value))
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
    CallToolResult::structured_error(harmless(value))
}

/// Whether an answer lacks what may still be asked for.
pub(super) fn lacks_remaining(result: &CallToolResult) -> bool {
    let told = result.structured_content.as_ref();
    told.is_some_and(|told| told.get("remaining").is_none_or(Value::is_null))
}

/// Adds what may still be asked for, in both forms of an answer.
pub(super) fn add_remaining(result: &mut CallToolResult, remaining: Value) {
    let Some(told) = result.structured_content.as_mut() else { return };
    if let Some(told) = told.as_object_mut() {
        told.insert("remaining".to_owned(), remaining);
    }
    let text = ContentBlock::text(told.to_string());
    result.content.iter_mut().take(1).for_each(|first| *first = text.clone());
}

fn digest(view: &Value) -> Map<String, Value> {
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
    told
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
    for key in ["filesChanged", "notShared", "downgraded", "denied", "costUsd"] {
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
