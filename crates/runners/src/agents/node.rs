//! A value from a file, with the line it stands on, whatever the format.

use serde_json::{Map, Value};

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// Counted from 1.
    pub(super) line: u32,
    pub(super) shape: Shape,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Null,
    Bool(bool),
    /// A number, and how it was written: `1.0` is a version that must not become `1`.
    Number(serde_json::Number, String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The line of the key.
    pub(super) line: u32,
    pub(super) value: Node,
}

impl Node {
    /// The text of a text, a number or a truth value; none of the rest has one.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.shape {
            Shape::Bool(value) => Some(value.to_string()),
            Shape::Number(_, written) => Some(written.clone()),
            Shape::Text(text) => Some(text.clone()),
            Shape::Null | Shape::List(_) | Shape::Map(_) => None,
        }
    }

    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Null => "nothing",
            Shape::Bool(_) => "a truth value",
            Shape::Number(..) => "a number",
            Shape::Text(_) => "text",
            Shape::List(_) => "a list",
            Shape::Map(_) => "a map",
        }
    }

    /// The same without lines. The depth was bounded when the file was parsed.
    pub(super) fn to_json(&self) -> Value {
        match &self.shape {
            Shape::Null => Value::Null,
            Shape::Bool(value) => Value::Bool(*value),
            Shape::Number(number, _) => Value::Number(number.clone()),
            Shape::Text(text) => Value::String(text.clone()),
            Shape::List(items) => items.iter().map(Self::to_json).collect(),
            Shape::Map(entries) => {
                let entries = entries.iter();
                let entries = entries.map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}
