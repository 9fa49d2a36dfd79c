//! The definition of an agent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::server::McpServer;
use crate::config::Pattern;
use crate::ids::AgentId;

/// The agent that always exists: the parent's own prompt, tools and runner.
pub const GENERAL_PURPOSE: &str = "general-purpose";

/// What an agent file says, whatever vendor's format it was written in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Definition {
    /// Its id, in kebab-case.
    pub id: Option<AgentId>,
    /// Its name for people.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// The model it wants.
    pub model: Option<String>,
    /// The sampling temperature it wants.
    pub temperature: Option<f64>,
    /// Turns it may take at most.
    pub max_turns: Option<u32>,
    /// What it may use, in canonical tool names.
    pub tools: ToolRules,
    /// Whom it may delegate to; absent means nobody.
    pub subagents: Option<Subagents>,
    /// Servers of tools that it wants; nothing in the place of one means the one that the
    /// project has under that name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, Option<McpServer>>,
    /// Colour in user interfaces.
    pub color: Option<String>,
    /// Icon in user interfaces.
    pub icon: Option<String>,
    /// Its own version.
    pub version: Option<String>,
    /// Its own file switches it off.
    pub disabled: bool,
    /// What only Legation knows.
    pub legation: LegationKey,
    /// The system prompt.
    pub prompt: String,
}

/// Tool rules of one layer. An absent `allow` says "as the layer above"; an empty one says none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolRules {
    /// Names or globs that are allowed.
    pub allow: Option<Vec<String>>,
    /// Names or globs that need a human's word.
    pub ask: Vec<String>,
    /// Names or globs that are denied; this wins.
    pub deny: Vec<String>,
}

/// Whom an agent may delegate to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", default)]
pub struct Subagents {
    /// Names or globs; empty means none.
    pub allow: Vec<String>,
    /// Names or globs; this wins.
    pub deny: Vec<String>,
    /// The pattern of its batches where none is given.
    pub execution: Option<Pattern>,
    /// How many of its children may run at once.
    pub max_concurrent: Option<u32>,
    /// Whether it may appear below itself.
    pub recursive: bool,
}

/// The `legation:` key of an agent file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LegationKey {
    /// What executes the agent.
    pub runner: Option<Runner>,
    /// The program of a `command` runner and its arguments.
    pub command: Vec<String>,
    /// Environment the child gets beside the allow-list.
    pub env: BTreeMap<String, String>,
    /// The time class.
    pub operation: Option<Operation>,
    /// The time allowed, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// How much of the parent's context it is handed.
    pub context: Option<ContextMode>,
    /// When to start it again.
    pub retry: Option<Retry>,
    /// Commands that the runtime runs itself after a `completed`.
    pub verify: Vec<String>,
    /// A JSON Schema of `data` in the return.
    pub schema: Option<Value>,
}

/// What executes an agent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// Any program.
    Command,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// Any agent that speaks the Agent Client Protocol.
    Acp,
    /// A model behind an HTTP API.
    Llm,
}

impl Runner {
    /// Every runner there is.
    pub const ALL: [Self; 7] = [
        Self::Command,
        Self::ClaudeCode,
        Self::Codex,
        Self::OpenCode,
        Self::Gemini,
        Self::Acp,
        Self::Llm,
    ];

    /// The runner as it is written in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
            Self::Acp => "acp",
            Self::Llm => "llm",
        }
    }
}

/// The class of an operation: it decides the time allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Finding out.
    Research,
    /// Planning.
    Plan,
    /// Making.
    Implement,
    /// Changing what was made.
    Revise,
    /// Judging what was made.
    Review,
    /// A small thing.
    Simple,
}

impl Operation {
    /// What it is called.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Revise => "revise",
            Self::Review => "review",
            Self::Simple => "simple",
        }
    }

    /// Milliseconds allowed where nobody asks for another time.
    pub const fn default_ms(self) -> u64 {
        match self {
            Self::Research | Self::Review => 3_600_000,
            Self::Plan | Self::Revise => 1_800_000,
            Self::Implement => 7_200_000,
            Self::Simple => 300_000,
        }
    }

    /// Milliseconds a call may ask for at most.
    pub const fn max_ms(self) -> u64 {
        match self {
            Self::Research | Self::Review => 7_200_000,
            Self::Plan | Self::Revise => 3_600_000,
            Self::Implement => 14_400_000,
            Self::Simple => 300_000,
        }
    }
}

/// How much of the parent's context a child is handed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// The task alone.
    #[default]
    TaskOnly,
    /// Also what those above it were asked to do, in a line each, and what came of the work
    /// they handed on before.
    Summary,
    /// The same in full, and what its caller has said so far.
    #[serde(alias = "full_history")]
    Full,
}

/// When to start a failed attempt again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Retry {
    /// How often at most; absent means as configured.
    pub max: Option<u32>,
    /// Milliseconds before the first retry; doubled each time.
    pub backoff_ms: Option<u64>,
}
