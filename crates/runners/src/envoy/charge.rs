//! What an envoy is told: one JSON value on its standard input.

use std::collections::BTreeMap;
use std::path::PathBuf;

use legation_core::agent::{CANONICAL, Level, Permissions, Runner};
use legation_core::money::Usd;
use legation_core::returns::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::servers::Servers;

/// One conversation to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    /// With what kind of program.
    pub runner: Runner,
    /// The program, found already, and the arguments its agent gives it.
    pub program: Vec<String>,
    /// The model that the agent asks for.
    pub model: Option<String>,
    /// The sampling temperature that the agent asks for.
    pub temperature: Option<f64>,
    /// Turns it may take at most.
    pub max_turns: Option<u32>,
    /// What it may cost at most, for a program that can hold itself to that.
    #[serde(default)]
    pub max_cost: Option<Usd>,
    /// The agent's own instructions, in the place of a system prompt.
    pub instructions: String,
    /// The brief, as the first thing that is said.
    pub prompt: String,
    /// What its return has to say about itself.
    pub known: Metadata,
    /// A JSON Schema of `data` in the return.
    pub schema: Option<Value>,
    /// What it may use.
    pub tools: Tools,
    /// Whether a fence is around this envoy, so that a program need not build its own.
    pub is_fenced: bool,
    /// How the program reaches us.
    pub door: Door,
    /// Servers of tools beside our own, for an agent that has no other way to them.
    #[serde(default)]
    pub servers: Servers,
    /// A folder of the attempt's own, for files that a program wants to read.
    pub scratch: PathBuf,
    /// Where the program works.
    pub workspace: PathBuf,
    /// What is seen of the world from where the conversation is held. It is no part of what
    /// is told.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
}

/// The MCP server that every program is given: `legation mcp` in its attempt's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Door {
    /// The binary.
    pub exe: PathBuf,
    /// What the server needs in its environment. Some programs hand on nothing else.
    pub env: BTreeMap<String, String>,
}

/// What an agent may use, by canonical names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    /// Reading files.
    pub read: Level,
    /// Changing files.
    pub edit: Level,
    /// Running commands.
    pub shell: Level,
    /// The web.
    pub web: Level,
    /// Handing work on.
    pub delegate: Level,
    /// Everything else that a layer names: parts such as `shell(git *)`, tools of MCP
    /// servers, names that only one vendor knows.
    pub others: BTreeMap<String, Level>,
    /// What all of that was taken from, for names that nobody knows yet: those of the tools
    /// that a server will turn out to have.
    pub layers: Permissions,
}

impl Tools {
    /// What those permissions leave.
    pub fn of(permissions: &Permissions) -> Self {
        let level = |name: &str| permissions.verdict_checked_by_use(name).level;
        let named = permissions.tools().into_iter();
        let others = named.filter(|name| !CANONICAL.contains(&name.as_str()));
        Self {
            read: level("read"),
            edit: level("edit"),
            shell: level("shell"),
            web: level("web"),
            delegate: level("delegate"),
            others: others.map(|name| (name.clone(), permissions.verdict(&name).level)).collect(),
            layers: permissions.clone(),
        }
    }
}
