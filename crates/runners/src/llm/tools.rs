//! The tools that a model is offered, and using them.
//!
//! Only what the agent may use is offered, and each use is looked at again before a hand is
//! sent for it. There, paths stay in the workspace and output has limits; what a command
//! starts is ended by the hand's keeper.

mod files;
mod place;
mod search;
mod shell;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legation_core::agent::Level;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use place::{inside, wherever};

use super::gate;
use super::message::{Call, Offer};
use crate::envoy::{Charge, Tools};
use crate::hands::{Errand, Hand, Hands};
use crate::servers::VARIABLES;
use crate::vendors::KEYS;

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
        description: "Run a command with `sh -c` in the workspace. `timeout` is in seconds, at most 600. What it leaves running in the background ends with it.",
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
    env: Vec<(String, String)>,
    hands: Arc<Hands>,
}

/// One use of a tool, as a hand is told of it.
#[derive(Serialize, Deserialize)]
pub(super) struct Told<'a> {
    /// The workspace.
    pub(super) root: Cow<'a, Path>,
    /// The tool.
    pub(super) name: Cow<'a, str>,
    /// What the model gives to it.
    pub(super) arguments: Cow<'a, str>,
    /// What may be read at all, for a tool that comes upon files nobody has named.
    pub(super) tools: Option<Cow<'a, Tools>>,
}

impl Toolbox {
    pub(super) fn of(charge: &Charge, hands: Arc<Hands>) -> std::io::Result<Self> {
        let mut env = charge.env.clone();
        // What a model has run need not know what it is paid with.
        KEYS.iter().for_each(|name| drop(env.remove(*name)));
        // What is there for servers is theirs alone.
        env.retain(|name, _| !name.starts_with(VARIABLES.trim_end_matches('*')));
        let root = std::fs::canonicalize(&charge.workspace)?;
        let env = env.into_iter().collect();
        Ok(Self { root, tools: charge.tools.clone(), env, hands })
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
        Some(wish(call).and_then(|wish| {
            let path = match &wish {
                Wish::Read(read) => &read.path,
                Wish::List(files::List { path }) | Wish::Grep(search::Grep { path, .. }) => {
                    path.as_deref().unwrap_or(".")
                }
                Wish::Write(write) => &write.path,
                Wish::Edit(edit) => &edit.path,
                Wish::Shell(shell) => {
                    let what = shell.command.clone();
                    let level = gate::level(&self.tools, own.tool, &what);
                    return Ok(Use { tool: own.tool, what, level });
                }
            };
            // Rules are about files, and not about the ways to write where they are.
            let below = match inside(&self.root, path) {
                Ok(at) => below(&self.root, &at),
                Err(why) if gate::is_offered(&self.tools, own.tool) => return Err(why),
                Err(_) => path.to_owned(),
            };
            let mut level = gate::level(&self.tools, own.tool, &below);
            if matches!(wish, Wish::Edit(_)) {
                // Whoever may replace a text can find out what it is.
                level = level.min(gate::level(&self.tools, "read", &below));
            }
            let what = if below.is_empty() { ".".to_owned() } else { below };
            Ok(Use { tool: own.tool, what, level })
        }))
    }

    /// Has a hand do it. Whether it may be done was asked before.
    pub(super) async fn apply(&self, call: &Call) -> Came {
        let told = Told {
            root: self.root.as_path().into(),
            name: call.name.as_str().into(),
            arguments: call.arguments.as_str().into(),
            tools: gate::has_parts(&self.tools, "read").then_some(Cow::Borrowed(&self.tools)),
        };
        let stdin = serde_json::to_string(&told).unwrap_or_default();
        let errand = Errand { program: None, env: self.env.clone(), stdin };
        let Hand { mut output, finished } = self.hands.begin(errand, None);
        let mut said = Vec::new();
        while let Some(piece) = output.recv().await {
            said.extend(piece);
        }
        let finished = finished.await.unwrap_or_default();
        match (finished.not_started, serde_json::from_slice(&said)) {
            (Some(why), _) => Err(format!("The tool cannot be used: {why}.")),
            (None, Ok(came)) => came,
            (None, Err(_)) => Err("The tool broke off.".to_owned()),
        }
    }
}

/// Does what a hand is told, with what is seen of the world here.
pub(super) async fn apply(told: Told<'_>, env: &BTreeMap<String, String>) -> Came {
    let Told { root, name, arguments, tools } = told;
    let [name, arguments] = [name, arguments].map(Cow::into_owned);
    let ground = Ground { root: &root, tools: tools.as_deref() };
    wish(&Call { id: String::new(), name, arguments })?.apply(&ground, env).await
}

/// Where a tool is used, and what of it may be read.
struct Ground<'a> {
    root: &'a Path,
    /// Nothing where all may be.
    tools: Option<&'a Tools>,
}

impl Ground<'_> {
    /// Whether something that was come upon below a folder may be read as freely as that.
    fn is_open(&self, folder: &Path, file: &Path) -> bool {
        let level = |tools, at| gate::level(tools, "read", &below(self.root, at));
        self.tools.is_none_or(|tools| level(tools, file) >= level(tools, folder))
    }
}

/// A place in the workspace as it is written from there.
fn below(root: &Path, at: &Path) -> String {
    at.strip_prefix(root).unwrap_or(at).to_string_lossy().into_owned()
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
    async fn apply(&self, ground: &Ground<'_>, env: &BTreeMap<String, String>) -> Came {
        let root = ground.root;
        match self {
            Self::Read(read) => files::read(root, read),
            Self::List(list) => files::list(ground, list),
            Self::Write(write) => files::write(root, write),
            Self::Edit(edit) => files::edit(root, edit),
            Self::Grep(grep) => search::grep(ground, grep, env).await,
            Self::Shell(shell) => shell::run(root, shell, env).await,
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
