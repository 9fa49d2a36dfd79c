//! The tools that the suite calls.

#![expect(deprecated, reason = "the versions of the protocol that have logs are offered")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ErrorData,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::fixture::{made, result};

/// A picture of one pixel.
pub(crate) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A sound of no length.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// How long a tool takes between two words.
const BREATH: Duration = Duration::from_millis(50);

/// All of them.
pub(crate) fn all() -> Result<Vec<Tool>, ErrorData> {
    let plain = |name: &str| {
        json!({
            "name": name, "description": "For the suite.",
            "inputSchema": {"type": "object", "properties": {}},
        })
    };
    let mut tools: Vec<Value> = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "test_tool_with_logging",
        "test_logging_tool",
        "test_streaming_elicitation",
        "test_missing_capability",
    ]
    .into_iter()
    .map(plain)
    .collect();
    tools.push(json!({
        "name": "test_custom_headers", "description": "Takes a header.",
        "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "verbose": {"type": "boolean", "x-mcp-header": "Verbose"},
        }},
    }));
    tools.push(schema());
    made(Value::Array(tools))
}

/// A tool whose schema has whatever schemas may have.
fn schema() -> Value {
    let text = || json!({"type": "string"});
    let needs = |name: &str| json!({"required": [name]});
    json!({
        "name": "json_schema_2020_12_tool", "description": "Its schema has to arrive whole.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef", "type": "object",
                "properties": {"street": text(), "city": text()},
            }},
            "properties": {
                "name": text(), "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": text(), "email": text(),
            },
            "allOf": [{"anyOf": [needs("phone"), needs("email")]}],
            "if": {
                "properties": {"contactMethod": {"const": "phone"}},
                "required": ["contactMethod"],
            },
            "then": needs("phone"), "else": needs("email"), "additionalProperties": false,
        },
    })
}

/// Calls one.
pub(crate) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let image = || json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
    let content = match request.name.as_ref() {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image()]),
        "test_audio_content" => {
            json!([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}])
        }
        "test_embedded_resource" => json!([{"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        }}]),
        "test_multiple_content_types" => {
            let data = json!({"test": "data", "value": 123}).to_string();
            let resource = json!({
                "uri": "test://mixed-content-resource", "mimeType": "application/json", "text": data,
            });
            let resource = json!({"type": "resource", "resource": resource});
            json!([text("Multiple content types test:"), image(), resource])
        }
        "test_error_handling" => {
            let said = [text("This tool intentionally returns an error for testing")];
            let failed = json!({"content": said, "isError": true});
            return result::<CallToolResult>(failed).map(Into::into);
        }
        "test_tool_with_progress" => {
            progress(context).await;
            json!([text("It went on.")])
        }
        "test_tool_with_logging" => {
            log(&context.peer).await;
            json!([text("It was logged.")])
        }
        "test_missing_capability" => return Err(needs_sampling()?),
        "test_custom_headers"
        | "test_logging_tool"
        | "test_streaming_elicitation"
        | "json_schema_2020_12_tool" => json!([text("Done.")]),
        _ => return Err(ErrorData::invalid_params("no such tool", None)),
    };
    result::<CallToolResult>(json!({"content": content})).map(Into::into)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

async fn progress(context: &RequestContext<RoleServer>) {
    for step in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let note = ProgressNotificationParam::new(token, step).with_total(100.0);
            let _ = context.peer.notify_progress(note).await;
        }
        sleep(BREATH).await;
    }
}

async fn log(peer: &Peer<RoleServer>) {
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
        let _ = peer.notify_logging_message(note).await;
        sleep(BREATH).await;
    }
}

fn needs_sampling() -> Result<ErrorData, ErrorData> {
    let required: ClientCapabilities = made(json!({"sampling": {}}))?;
    Ok(ErrorData::missing_required_client_capability(required))
}
