//! What an agent may do when it asks, by our levels.
//!
//! What a tool is goes by the kind that the agent gives it; one that lies about it is held
//! by the fence, and by nothing here. Of the world only this is looked at: where the paths
//! really lead that the agent names.

use std::path::Path;

use legation_core::agent::Level;
use serde_json::Value;

use super::wire::{Choice, ToolCall};
use crate::envoy::Tools;
use crate::llm::{gate, wherever};

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

/// What agents call the paths that they give to tools.
const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "filepath",
    "abs_path",
    "absolute_path",
    "dir_path",
    "notebook_path",
    "source",
    "destination",
    "new_path",
];

/// A tool in our words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The canonical name; the agent's own where we have none.
    pub(super) tool: String,
    /// What for: a command, paths, or what the agent calls it.
    pub(super) what: Vec<String>,
    /// The files that are meant, where it is about files.
    places: Vec<Place>,
}

/// A place in the file system, written from the workspace if it lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// As the agent writes it; nobody has looked where it leads.
    Named(String),
    /// One file.
    One(String),
    /// A folder with all that is in it.
    All(String),
    /// A folder in which the whole workspace lies.
    Above,
    /// Nobody can tell where it is.
    Astray,
}

impl Use {
    /// What a call means.
    pub(super) fn of(call: &ToolCall) -> Self {
        let plain = |tool: String, what| Self { tool, what, places: Vec::new() };
        if let Some(tool) = door(call) {
            return plain(format!("mcp:legation/{tool}"), Vec::new());
        }
        let title = || call.title.clone().unwrap_or_default();
        let tool = match call.kind.as_deref() {
            Some("read" | "search") => "read",
            Some("edit" | "delete" | "move") => "edit",
            Some("execute") => {
                return plain("shell".to_owned(), vec![command(call).unwrap_or_else(title)]);
            }
            Some("fetch") => return plain("web".to_owned(), vec![title()]),
            Some("think") => return plain("think".to_owned(), vec![title()]),
            Some(_) | None => {
                let name = call.name.clone().filter(|name| !name.is_empty());
                return plain(name.unwrap_or_else(title), Vec::new());
            }
        };
        let paths = paths(call);
        if paths.is_empty() {
            // One that does not say which files may mean any.
            let places = vec![Place::All(String::new())];
            return Self { tool: tool.to_owned(), what: vec![title()], places };
        }
        let places = paths.iter().cloned().map(Place::Named).collect();
        Self { tool: tool.to_owned(), what: paths, places }
    }

    /// The same with paths as they really are, written from the workspace.
    pub(super) fn below(mut self, root: &Path) -> Self {
        for (what, place) in self.what.iter_mut().zip(&mut self.places) {
            let Place::Named(named) = &place else { continue };
            *place = Place::of(root, named);
            match place {
                Place::One(path) | Place::All(path) if !path.is_empty() => what.clone_from(path),
                Place::All(_) => ".".clone_into(what),
                Place::One(_) | Place::Named(_) | Place::Above | Place::Astray => {}
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
        if self.places.is_empty() {
            let levels = self.what.iter().map(|what| gate::level(tools, &self.tool, what));
            return levels.min().unwrap_or_else(|| gate::level(tools, &self.tool, ""));
        }
        let levels = self.places.iter().map(|place| match place {
            Place::One(path) | Place::All(path) if self.tool == "edit" && path.starts_with('/') => {
                Level::Deny
            }
            Place::Above if self.tool == "edit" => Level::Deny,
            Place::Above => gate::level_of_all(tools, &self.tool, ""),
            Place::One(path) => gate::level(tools, &self.tool, path),
            Place::All(path) => gate::level_of_all(tools, &self.tool, path),
            Place::Named(_) | Place::Astray => Level::Deny,
        });
        levels.min().unwrap_or(Level::Deny)
    }
}

impl Place {
    /// Where a path leads.
    fn of(root: &Path, named: &str) -> Self {
        let Some(at) = wherever(root, named) else { return Self::Astray };
        if at != root && root.starts_with(&at) {
            return Self::Above;
        }
        let below = at.strip_prefix(root).unwrap_or(&at).to_string_lossy().into_owned();
        if at.is_dir() { Self::All(below) } else { Self::One(below) }
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
    let given = PATHS.iter().filter_map(|key| input?.get(key)?.as_str().map(str::to_owned));
    let mut paths: Vec<String> = Vec::new();
    for path in named.chain(given) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}
