//! What others wrote, before an agent reads it: text is data, and nothing in it may pass for
//! somebody else's turn, wherever in an answer it stands.
//!
//! What is ours has nothing in it that would be changed, so nobody has to tell whose a text
//! is.

use serde_json::Value;

use super::neutralise::neutralise;
use crate::text::shown::clip;

/// Letters of one text that enter another agent's context: about 2,000 tokens.
const MAX_TEXT_CHARS: usize = 8_000;

/// The same value with every text in it neutralised, names of fields too. Where two names
/// become one, the later field counts, as it does in JSON.
pub fn harmless(value: Value) -> Value {
    each_text(value, &|text| neutralise(text).into_owned())
}

/// The same for an agent that has not asked for all of it: long texts are cut as well.
pub(super) fn for_context(value: Value) -> Value {
    each_text(value, &|text| clip(&neutralise(text), MAX_TEXT_CHARS).into_owned())
}

fn each_text(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(list) => list.into_iter().map(|value| each_text(value, change)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| (change(&name), each_text(value, change));
            fields.into_iter().map(field).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
