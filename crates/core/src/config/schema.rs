//! The JSON Schema of the configuration: structure, words and descriptions
//! from the model, ranges from the table of keys.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::keys::{self, Key, Node};
use super::kind::{Kind, MAX_CHARS, MAX_ITEMS};
use super::model::Config;
use super::path::KeyPath;

/// Made once; nothing in it depends on anything that could change.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let generated = settings.into_generator().into_root_schema_for::<Config>();
    let mut schema = generated.to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("title".to_owned(), json!("Legation configuration"));
    }
    section(&mut schema, &KeyPath::default());
    schema
});

/// The schema of the settings, as they stand in `.legation/config.toml`.
///
/// A file on its own that it accepts loads without a problem and without a
/// warning, and the other way round.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// What a key or a section is for, in a sentence.
pub fn about(path: &KeyPath) -> &'static str {
    let schema = below(path).and_then(|schema| schema.get("description"));
    schema.and_then(Value::as_str).unwrap_or_default()
}

/// The words that a key takes, and what each means.
pub(super) fn words(path: &KeyPath) -> Vec<(&'static str, &'static str)> {
    let choices = below(path).and_then(|schema| schema.get("oneOf"));
    let choices = choices.and_then(Value::as_array).into_iter().flatten();
    let word = |choice: &'static Value| {
        let text = |field: &str| choice.get(field).and_then(Value::as_str);
        Some((text("const")?, text("description")?))
    };
    choices.filter_map(word).collect()
}

/// The part of the schema for one path.
fn below(path: &KeyPath) -> Option<&'static Value> {
    path.parts().try_fold(&*SCHEMA, |schema, part| match part {
        "*" => schema.get("additionalProperties"),
        _ => schema.get("properties")?.get(part),
    })
}

/// Closes a section against unknown keys and narrows what is in it.
fn section(schema: &mut Value, path: &KeyPath) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    // The defaults of a section are those of its keys.
    fields.remove("default");
    if let Some(family) = fields.get_mut("additionalProperties") {
        node(family, &path.child("*"));
        return;
    }
    fields.insert("additionalProperties".to_owned(), json!(false));
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    for (name, schema) in properties.into_iter().flatten() {
        node(schema, &path.child(name));
    }
}

fn node(schema: &mut Value, path: &KeyPath) {
    match keys::at(path) {
        Node::Key(key) => narrow_key(schema, key),
        Node::Section => {
            section(schema, path);
            if let Some(key) = keys::short_form(path) {
                or_word(schema, key);
            }
        }
        // A field of the model without a row in the table cannot be set at all.
        Node::Unknown => *schema = json!(false),
    }
}

/// Lets a section have a word in its place, where that is short for one of its keys.
fn or_word(schema: &mut Value, key: &Key) {
    if let (Some(fields), Kind::Word(words)) = (schema.as_object_mut(), key.kind) {
        fields.insert("type".to_owned(), json!(["object", "string"]));
        fields.insert("if".to_owned(), json!({"type": "string"}));
        fields.insert("then".to_owned(), json!({"enum": words}));
    }
}

fn narrow_key(schema: &mut Value, key: &Key) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    narrow(fields, key.kind);
    if key.is_optional {
        let kind = fields.get("type").cloned().unwrap_or_default();
        fields.insert("type".to_owned(), json!([kind, "null"]));
    }
}

/// Puts the range of a kind into the schema of a field.
fn narrow(fields: &mut Map<String, Value>, kind: Kind) {
    fields.remove("format");
    let rules = match kind {
        Kind::Flag => json!({"type": "boolean"}),
        // The model knows the words, and what each means.
        Kind::Word(_) => json!({}),
        Kind::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
        Kind::Text => json!({"type": "string", "minLength": 1, "maxLength": MAX_CHARS}),
        Kind::List | Kind::Grants => json!({"type": "array", "maxItems": MAX_ITEMS}),
    };
    fields.extend(rules.as_object().cloned().unwrap_or_default());
    let items = fields.get_mut("items").and_then(Value::as_object_mut);
    if let Some(item) = items {
        narrow_item(item, kind);
    }
}

fn narrow_item(item: &mut Map<String, Value>, kind: Kind) {
    if kind != Kind::Grants {
        narrow(item, Kind::Text);
        return;
    }
    item.insert("additionalProperties".to_owned(), json!(false));
    let properties = item.get_mut("properties").and_then(Value::as_object_mut);
    for (_, field) in properties.into_iter().flatten() {
        let is_list = field.get("items").is_some();
        if let Some(fields) = field.as_object_mut() {
            narrow(fields, if is_list { Kind::List } else { Kind::Text });
        }
    }
}
