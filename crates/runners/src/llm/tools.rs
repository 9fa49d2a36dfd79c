//! The tools that a model is offered, and using them.
//!
//! Only what the agent may use is offered, and each use is looked at again. Paths stay in
//! the workspace, output has limits, and what a command starts is ended by the keeper.

mod files;
mod place;
mod search;
mod shell;

use std::collections::BTreeMap;
use std::path::PathBuf;

use legation_core::agent::Level;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) use place::inside;

use super::gate;
use super::message::{Call, Offer};
use super::provider;
use crate::envoy::{Charge, Tools};

/// Bytes that one tool may tell at most.
pub(super) const MAX_TOLD: usize = 48 << 10;

/// One tool of ours.
struct Own {
    name: &'static str,
    /// The canonical name.
    tool: &'static str,
    description: &'static str,
    properties: fn() -> Value,
    required: &'static [&'static str],
}

const OWN: &[Own] = &[
    Own {
        name: "read",
        tool: "read",
        description: "Read a text file. Long files come in parts: `offset` is the first line, from 1.",
        properties: || json!({"path": text(), "offset": whole(), "limit": whole()}),
        required: &["path"],
    },
    Own {
        name: "list",
        tool: "read",
        description: "List a folder; folders end in `/`.",
        properties: || json!({"path": text()}),
        required: &[],
    },
    Own {
        name: "grep",
        tool: "read",
        description: "Search files for an extended regular expression; answers with file:line:text.",
        properties: || json!({"pattern": text(), "path": text()}),
        required: &["pattern"],
    },
    Own {
        name: "write",
        tool: "edit",
        description: "Write a whole file; folders are made as needed.",
        properties: || json!({"path": text(), "content": text()}),
        required: &["path", "content"],
    },
    Own {
        name: "edit",
        tool: "edit",
        description: "Replace text in a file. `old` must occur exactly once, unless `all` is true.",
        properties: || json!({"path": text(), "old": text(), "new": text(), "all": {"type": "boolean"}}),
        required: &["path", "old", "new"],
    },
    Own {
        name: "shell",
        tool: "shell",
        description: "Run a command with `sh -c` in the workspace. `timeout` is in seconds, at most 600.",
        properties: || json!({"command": text(), "timeout": whole()}),
        required: &["command"],
    },
];

fn text() -> Value {
    json!({"type": "string"})
}

fn whole() -> Value {
    json!({"type": "integer", "minimum": 1})
}

/// What a use is for, and how freely the tool may be used for that.
pub(super) struct Use {
    /// The canonical name of the tool.
    pub(super) tool: &'static str,
    /// The path or the command.
    pub(super) what: String,
    /// How freely.
    pub(super) level: Level,
    wish: Wish,
}

enum Wish {
    Read(files::Read),
    List(files::List),
    Grep(search::Grep),
    Write(files::Write),
    Edit(files::Edit),
    Shell(shell::Shell),
}

/// What came of a use: what the model is told, good or bad.
pub(super) type Came = Result<String, String>;

/// The tools of one agent.
pub(super) struct Toolbox {
    root: PathBuf,
    tools: Tools,
    env: BTreeMap<String, String>,
}

impl Toolbox {
    pub(super) fn of(charge: &Charge, mut env: BTreeMap<String, String>) -> std::io::Result<Self> {
        // What a model has run need not know what it is paid with.
        provider::keys().for_each(|name| drop(env.remove(name)));
        let root = std::fs::canonicalize(&charge.workspace)?;
        Ok(Self { root, tools: charge.tools.clone(), env })
    }

    /// The tools as the model is told of them.
    pub(super) fn offers(&self) -> Vec<Offer> {
        let offered = OWN.iter().filter(|own| gate::is_offered(&self.tools, own.tool));
        let offer = |own: &Own| Offer {
            name: own.name.to_owned(),
            description: own.description.to_owned(),
            schema: json!({
                "type": "object", "properties": (own.properties)(), "required": own.required,
                "additionalProperties": false,
            }),
        };
        offered.map(offer).collect()
    }

    /// What a call of one of our tools means; nothing means that it is none of ours.
    pub(super) fn read(&self, call: &Call) -> Option<Result<Use, String>> {
        let own = OWN.iter().find(|own| own.name == call.name)?;
        Some(wish(call).map(|wish| {
            let what = wish.what();
            let level = match &wish {
                Wish::Grep(_) | Wish::List(_) | Wish::Read(_) | Wish::Write(_) | Wish::Edit(_) => {
                    gate::level(&self.tools, own.tool, what)
                }
                Wish::Shell(_) => gate::level(&self.tools, "shell", what),
            };
            Use { tool: own.tool, what: what.to_owned(), level, wish }
        }))
    }

    /// Does it. Whether it may be done was asked before.
    pub(super) async fn apply(&self, wanted: Use) -> Came {
        match wanted.wish {
            Wish::Read(read) => files::read(&self.root, &read),
            Wish::List(list) => files::list(&self.root, &list),
            Wish::Write(write) => files::write(&self.root, &write),
            Wish::Edit(edit) => files::edit(&self.root, &edit),
            Wish::Grep(grep) => search::grep(&self.root, &grep, &self.env).await,
            Wish::Shell(shell) => shell::run(&self.root, &shell, &self.env).await,
        }
    }
}

fn wish(call: &Call) -> Result<Wish, String> {
    Ok(match call.name.as_str() {
        "read" => Wish::Read(arguments(call)?),
        "list" => Wish::List(arguments(call)?),
        "grep" => Wish::Grep(arguments(call)?),
        "write" => Wish::Write(arguments(call)?),
        "edit" => Wish::Edit(arguments(call)?),
        _ => Wish::Shell(arguments(call)?),
    })
}

impl Wish {
    fn what(&self) -> &str {
        match self {
            Self::Read(read) => &read.path,
            Self::List(list) => list.path.as_deref().unwrap_or("."),
            Self::Grep(grep) => grep.path.as_deref().unwrap_or("."),
            Self::Write(write) => &write.path,
            Self::Edit(edit) => &edit.path,
            Self::Shell(shell) => &shell.command,
        }
    }
}

/// What a model gives to a tool, or what is wrong with it.
pub(super) fn arguments<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let mut reader = serde_json::Deserializer::from_str(text);
    let given = T::deserialize(&mut reader).and_then(|given| reader.end().map(|()| given));
    given.map_err(|problem| format!("The arguments of `{}` cannot be used: {problem}", call.name))
}

/// Text that fits, with a word on what is missing.
pub(super) fn fitting(text: String, whole: usize) -> String {
    if text.len() <= MAX_TOLD && whole <= text.len() {
        return text;
    }
    let end = (0..=MAX_TOLD.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let kept = end.and_then(|end| text.get(..end)).unwrap_or_default();
    format!("{kept}\n[{} of {} bytes are shown]", kept.len(), whole.max(text.len()))
}

/// What a model gives to a tool that takes anything.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Anything(pub(super) serde_json::Map<String, Value>);
