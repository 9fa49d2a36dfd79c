//! What an agent may do when it asks, by our levels.
//!
//! Pure. What a tool is goes by the kind that the agent gives it; one that lies about it
//! is held by the fence, and by nothing here.

use std::path::Path;

use legation_core::agent::Level;
use serde_json::Value;

use super::wire::{Choice, ToolCall};
use crate::envoy::Tools;
use crate::llm::gate;

/// Tools behind our own door, the longer names first.
const DOOR: &[&str] = &[
    "explain_permissions",
    "delegate_cancel",
    "delegate_status",
    "delegate_batch",
    "delegate_list",
    "delegate_wait",
    "submit_result",
    "list_agents",
    "delegate",
];

/// A tool in our words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The canonical name; the agent's own where we have none.
    pub(super) tool: String,
    /// What for: a command, paths, or what the agent calls it.
    pub(super) what: Vec<String>,
}

impl Use {
    /// What a call means.
    pub(super) fn of(call: &ToolCall) -> Self {
        if let Some(tool) = door(call) {
            return Self { tool: format!("mcp:legation/{tool}"), what: Vec::new() };
        }
        let title = || call.title.clone().unwrap_or_default();
        let (tool, what) = match call.kind.as_deref() {
            Some("read" | "search") => ("read", paths(call)),
            Some("edit" | "delete" | "move") => ("edit", paths(call)),
            Some("execute") => ("shell", vec![command(call).unwrap_or_else(title)]),
            Some("fetch") => ("web", vec![title()]),
            Some("think") => ("think", Vec::new()),
            Some(_) | None => {
                let name = call.name.clone().filter(|name| !name.is_empty());
                return Self { tool: name.unwrap_or_else(title), what: Vec::new() };
            }
        };
        let what = if what.is_empty() { vec![title()] } else { what };
        Self { tool: tool.to_owned(), what }
    }

    /// The same with paths as they are written from the workspace.
    pub(super) fn below(mut self, root: &Path) -> Self {
        for what in &mut self.what {
            if let Ok(below) = Path::new(what.as_str()).strip_prefix(root) {
                *what = below.to_string_lossy().into_owned();
            }
        }
        self
    }

    /// How freely it may be done.
    pub(super) fn level(&self, tools: &Tools) -> Level {
        if let Some(tool) = self.tool.strip_prefix("mcp:legation/") {
            let by_name = gate::server_level(tools, "legation", tool);
            return match tool {
                "submit_result" => Level::Allow,
                "explain_permissions" => by_name,
                _ => by_name.max(tools.delegate),
            };
        }
        if self.tool == "think" {
            return Level::Allow;
        }
        let is_outside = |what: &String| what.starts_with('/') || what.starts_with("../");
        if self.tool == "edit" && self.what.iter().any(is_outside) {
            return Level::Deny;
        }
        let levels = self.what.iter().map(|what| gate::level(tools, &self.tool, what));
        levels.min().unwrap_or_else(|| gate::level(tools, &self.tool, ""))
    }
}

/// The answer to choose: once, whatever else is offered; nothing means to call it off.
pub(super) fn choose(options: &[Choice], is_allowed: bool) -> Option<&str> {
    let kinds =
        if is_allowed { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
    let of_kind = |kind: &&str| options.iter().find(|option| option.kind == **kind);
    kinds.iter().find_map(of_kind).map(|option| option.option_id.as_str())
}

/// Which tool behind our door is meant, if it is one. Every agent writes them differently.
fn door(call: &ToolCall) -> Option<&'static str> {
    let server =
        call.raw_input.as_ref().and_then(|input| input.get("server")).and_then(Value::as_str);
    let is_plain = matches!(call.kind.as_deref(), Some("other") | None);
    let names = [call.name.as_deref(), call.title.as_deref()];
    let named = |tool: &&&str| {
        let forms = [
            format!("mcp__legation__{tool}"),
            format!("mcp.legation.{tool}"),
            format!("legation_{tool}"),
            format!("mcp_legation_{tool}"),
            format!("{tool} (legation MCP Server)"),
        ];
        names.iter().flatten().any(|name| forms.iter().any(|form| form == name))
    };
    // One agent calls such tools commands, and says in what they are given whose they are.
    DOOR.iter().find(|tool| (is_plain || server == Some("legation")) && named(tool)).copied()
}

fn command(call: &ToolCall) -> Option<String> {
    match call.raw_input.as_ref()?.get("command")? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn paths(call: &ToolCall) -> Vec<String> {
    let named = call.locations.iter().map(|location| location.path.clone());
    let input = call.raw_input.as_ref();
    let given = ["path", "file_path", "filePath", "abs_path"].iter();
    let given = given.filter_map(|key| input?.get(key)?.as_str().map(str::to_owned));
    let mut paths: Vec<String> = named.chain(given).collect();
    paths.dedup();
    paths
}
