//! What others wrote, before an agent reads it: text is data, and nothing in it may pass for
//! somebody else's turn, wherever in an answer it stands.
//!
//! What is ours has nothing in it that would be changed, so nobody has to tell whose a text
//! is.

use legation_core::returns::neutralise;
use serde_json::Value;

/// The same value with every text in it neutralised, names of fields too. Where two names
/// become one, the later field counts, as it does in JSON.
pub(in crate::mcp) fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(neutralise(&text).into_owned()),
        Value::Array(list) => Value::Array(list.into_iter().map(harmless).collect()),
        Value::Object(fields) => {
            let field =
                |(name, value): (String, Value)| (neutralise(&name).into_owned(), harmless(value));
            Value::Object(fields.into_iter().map(field).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
