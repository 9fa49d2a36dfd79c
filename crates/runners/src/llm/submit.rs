//! Handing in the return as a tool call, for models that keep a form better there.
//!
//! It is checked like any other and then said as the last word of the turn, so that it
//! goes the way of every return.

use serde_json::{Value, json};

use super::message::{Call, Offer};
use super::tools::{Anything, arguments};
use crate::envoy::{Charge, violation};

/// What the tool is called.
pub(super) const NAME: &str = "submit_result";

/// The tool as the model is told of it.
pub(super) fn offer() -> Offer {
    let text = || json!({"type": "string"});
    let artifact = json!({
        "type": "object", "required": ["type", "path"],
        "properties": {"type": text(), "path": text(), "summary": text()},
    });
    let error = json!({
        "type": "object", "required": ["type", "message", "recoverable", "recommendation"],
        "properties": {
            "type": text(), "message": text(), "code": text(),
            "recoverable": {"type": "boolean"}, "recommendation": text(),
        },
    });
    let schema = json!({
        "type": "object", "required": ["status", "summary"],
        "properties": {
            "status": {"enum": ["completed", "partial", "failed", "blocked"]},
            "summary": text(),
            "artifacts": {"type": "array", "items": artifact},
            "errors": {"type": "array", "items": error},
            "next_steps": text(),
            "data": {"type": "object"},
        },
    });
    let description = "Hand in your return. Call it once, last; what is wrong with it is told.";
    Offer { name: NAME.to_owned(), description: description.to_owned(), schema }
}

/// The return as text, if it is valid. What the model need not know is added.
pub(super) fn check(charge: &Charge, call: &Call) -> Result<String, String> {
    let Anything(mut given) = arguments(call)?;
    let known = serde_json::to_value(&charge.known).unwrap_or_default();
    let metadata = given.entry("metadata").or_insert_with(|| known.clone());
    if metadata.get("session_id").is_none() {
        *metadata = known;
    }
    for list in ["artifacts", "errors"] {
        given.entry(list).or_insert_with(|| json!([]));
    }
    let text = Value::Object(given).to_string();
    match violation(charge, &text) {
        None => Ok(text),
        Some(violation) => Err(violation.message),
    }
}
