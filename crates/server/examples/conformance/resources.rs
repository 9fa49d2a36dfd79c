//! The resources that the suite reads.

use serde_json::{Value, json};

use crate::tools::PIXEL;

const TEMPLATE: &str = "test://template/";

/// Those that have an address of their own.
pub(crate) fn list() -> Value {
    json!({"resources": [
        {"uri": "test://static-text", "name": "text", "description": "Words.",
         "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "binary", "description": "A picture.",
         "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched", "description": "Never changes.",
         "mimeType": "text/plain"},
    ]})
}

/// Those that have many.
pub(crate) fn templates() -> Value {
    json!({"resourceTemplates": [
        {"uriTemplate": format!("{TEMPLATE}{{id}}/data"), "name": "template",
         "description": "One for each number.", "mimeType": "application/json"},
    ]})
}

/// What is at an address.
pub(crate) fn read(uri: &str) -> Option<Value> {
    let content = match uri {
        "test://static-text" => json!({
            "uri": uri, "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Calm."}),
        _ => {
            let id = uri.strip_prefix(TEMPLATE)?.strip_suffix("/data")?;
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Some(json!({"contents": [content]}))
}
