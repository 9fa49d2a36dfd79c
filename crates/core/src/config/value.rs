//! Values in words: for messages, for tables and for the terminal.

use serde_json::Value;

/// Values are quoted in messages up to this many characters.
const MAX_QUOTED: usize = 60;

/// A value for a message: short, on one line.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", shortened(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(fields) => format!("a section of {}", fields.len()),
    }
}

/// A value and its kind for a message.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::String(_) => format!("the text {}", quoted(value)),
        Value::Number(_) => format!("the number {value}"),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => quoted(value),
    }
}

/// The beginning of a text, with a mark if there is more.
pub(super) fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MAX_QUOTED).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// A value as a user would type it: texts without quotes, 20 instead of 20.0.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            // `Display` of a float leaves out a fraction of zero.
            Some(float) if number.is_f64() => float.to_string(),
            Some(_) | None => number.to_string(),
        },
        Value::Null => "none".to_owned(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
