//! The form of a return as Codex's provider can enforce it: pure.
//!
//! The provider takes only schemas in which every object names all its members and allows
//! no others; what may be missing is `null` instead. A free `data` cannot be put like that,
//! so a schema is given only where the agent has one for `data` that can; else the return
//! is asked for in words, as everywhere, and checked the same.

use serde_json::{Value, json};

/// How deep a schema may be; providers refuse deeper ones.
const MAX_DEPTH: usize = 5;
/// What a schema may say to be enforced.
const KNOWN: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "description",
    "title",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "pattern",
    "format",
];

/// The schema of a whole return, where that of its `data` can be enforced.
pub fn return_schema(data: &Value) -> Option<Value> {
    is_strict(data, MAX_DEPTH).then(|| {
        let text = json!({"type": "string"});
        let maybe_text = json!({"type": ["string", "null"]});
        object(&[
            (
                "status",
                json!({"type": "string", "enum": ["completed", "partial", "failed", "blocked"]}),
            ),
            ("summary", text.clone()),
            (
                "artifacts",
                list(&object(&[
                    ("type", text.clone()),
                    ("path", text.clone()),
                    ("summary", maybe_text.clone()),
                ])),
            ),
            (
                "metadata",
                object(&[
                    ("session_id", text.clone()),
                    ("agent_type", text.clone()),
                    ("delegation_depth", json!({"type": "integer"})),
                    ("delegation_path", list(&text)),
                    ("duration_seconds", json!({"type": ["number", "null"]})),
                ]),
            ),
            (
                "errors",
                list(&object(&[
                    ("type", text.clone()),
                    ("message", text.clone()),
                    ("code", maybe_text.clone()),
                    ("recoverable", json!({"type": "boolean"})),
                    ("recommendation", text.clone()),
                ])),
            ),
            ("next_steps", maybe_text),
            ("data", data.clone()),
        ])
    })
}

fn object(members: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Whether a provider can enforce a schema as it stands.
fn is_strict(schema: &Value, depth: usize) -> bool {
    let Some(schema) = schema.as_object().filter(|_| depth > 0) else { return false };
    if schema.is_empty() || schema.keys().any(|key| !KNOWN.contains(&key.as_str())) {
        return false;
    }
    let below = |value: &Value| is_strict(value, depth - 1);
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let properties = schema.get("properties").and_then(Value::as_object);
    if is_object || properties.is_some() {
        let required = schema.get("required").and_then(Value::as_array);
        let (Some(properties), Some(required)) = (properties, required) else { return false };
        let has_all = properties.keys().all(|name| required.iter().any(|other| other == name));
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        if !has_all || !is_closed || !properties.values().all(below) {
            return false;
        }
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    schema.get("items").is_none_or(below) && choices.is_none_or(|all| all.iter().all(below))
}
