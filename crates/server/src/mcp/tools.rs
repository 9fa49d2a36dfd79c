//! The tools that are offered. What each takes is written here once and read by
//! models in every turn, so it is short.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Bytes that all tools together may have, as they are listed.
pub const MAX_BYTES: usize = 6_000;

/// Every tool there is.
#[must_use]
pub fn all() -> Vec<Tool> {
    [handing_over(), looking_on(), belonging()].concat()
}

/// Handing work over.
fn handing_over() -> Vec<Tool> {
    vec![
        tool(
            "delegate",
            "Hand a task to a sub-agent working in its own copy of the project. Waits and \
             returns its checked result; wait=false returns a delegationId at once.",
            &json!({
                "task": {"type": "string", "description": "What to do and what done looks like"},
                "agent": {"type": "string", "description": "From list_agents; chosen if absent"},
                "context": {"enum": ["task_only", "summary", "full"]},
                "timeout": span(), "budget": tokens(), "wait": {"type": "boolean"},
                "idempotencyKey": {"type": "string"},
            }),
            &["task"],
        )
        .with_raw_output_schema(answer()),
        tool(
            "delegate_batch",
            "Hand several tasks to sub-agents at once.",
            &json!({
                "mode": {"enum": ["parallel", "parallel_streaming", "sequential", "dag"]},
                "subtasks": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "required": ["id"], "properties": {
                        "id": {"type": "string"}, "task": {"type": "string"},
                        "title": {"type": "string"}, "agent": {"type": "string"},
                        "dependsOn": {"type": "array", "items": {"type": "string"}},
                        "timeout": span(), "budget": tokens(),
                        "required": {"type": "boolean"},
                        "files": {"type": "array", "items": {"type": "string"}},
                    },
                }},
                "wait": {"type": "boolean"},
            }),
            &["subtasks"],
        )
        .with_raw_output_schema(answer()),
    ]
}

/// What becomes of it.
fn looking_on() -> Vec<Tool> {
    vec![
        tool(
            "delegate_wait",
            "Wait for a delegation; at the timeout it goes on and its status is returned.",
            &json!({"delegationId": id(), "timeout": span()}),
            &["delegationId"],
        )
        .with_raw_output_schema(answer()),
        looking(
            "delegate_status",
            "How a delegation stands now.",
            &json!({"delegationId": id()}),
            &["delegationId"],
        )
        .with_raw_output_schema(answer()),
        looking("delegate_list", "Delegations under way, then recent ones.", &json!({}), &[])
            .with_raw_output_schema(having(&json!({"delegations": {"type": "array"}}))),
        tool(
            "delegate_cancel",
            "Stop a delegation, or one subtask of it, and everything below. Work is kept.",
            &json!({
                "delegationId": id(), "subtaskId": {"type": "string"},
                "reason": {"type": "string"},
            }),
            &["delegationId"],
        )
        .with_raw_output_schema(having(&json!({"delegationId": id(), "status": id()}))),
    ]
}

/// Who there is, and one's own result.
fn belonging() -> Vec<Tool> {
    vec![
        looking("list_agents", "Agents you may delegate to.", &json!({}), &[])
            .with_raw_output_schema(having(&json!({"agents": {"type": "array"}}))),
        looking(
            "explain_permissions",
            "Which tools an agent would have under you or under a parent, and why.",
            &json!({"child": {"type": "string"}, "parent": {"type": "string"}}),
            &["child"],
        )
        .with_raw_output_schema(having(&json!({
            "allowed": {"type": "boolean"}, "tools": {"type": "array"},
        }))),
        tool(
            "submit_result",
            "Hand in your own result, if you were given a task by a delegation. The last counts.",
            &json!({
                "status": {"enum": ["completed", "partial", "failed", "blocked"]},
                "summary": {"type": "string", "minLength": 1, "maxLength": 500},
                "artifacts": {"type": "array", "items": {
                    "type": "object", "required": ["type", "path"], "properties": {
                        "type": {"type": "string"}, "path": {"type": "string"},
                        "summary": {"type": "string"},
                    },
                }},
                "errors": {"type": "array", "items": {
                    "type": "object", "required": ["type", "message"], "properties": {
                        "type": {"type": "string"}, "message": {"type": "string"},
                        "recoverable": {"type": "boolean"},
                        "recommendation": {"type": "string"},
                    },
                }},
                "next_steps": {"type": "string"}, "data": {},
            }),
            &["status", "summary"],
        )
        .with_raw_output_schema(having(&json!({"submitted": {"type": "boolean"}}))),
    ]
}

fn tool(name: &'static str, what: &'static str, properties: &Value, required: &[&str]) -> Tool {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Tool::new(name, what, Arc::new(object(schema)))
}

/// A tool that changes nothing.
fn looking(name: &'static str, what: &'static str, properties: &Value, required: &[&str]) -> Tool {
    tool(name, what, properties, required).annotate(ToolAnnotations::new().read_only(true))
}

fn id() -> Value {
    json!({"type": "string"})
}

fn tokens() -> Value {
    json!({"type": "integer", "minimum": 0, "description": "Tokens"})
}

fn span() -> Value {
    json!({"type": "string", "description": "Such as 90s, 30m, 2h"})
}

/// What every answer about a delegation has.
fn answer() -> Arc<JsonObject> {
    Arc::new(object(json!({
        "type": "object", "required": ["delegationId", "status"], "properties": {
            "delegationId": {"type": "string"}, "status": {"type": "string"},
            "summary": {"type": "string"}, "subtasks": {"type": "array"},
            "remaining": {"type": "object"},
        },
    })))
}

/// An answer that has all of these.
fn having(properties: &Value) -> Arc<JsonObject> {
    let names: Vec<&String> =
        properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    Arc::new(object(json!({"type": "object", "required": names, "properties": properties})))
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            JsonObject::new()
        }
    }
}
