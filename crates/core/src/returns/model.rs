//! The forms of a return and of a receipt.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::ids::{AgentId, SessionId};
use crate::money::Usd;
use crate::prices::CostBasis;

/// How a piece of work ended, in the child's own words or in ours.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ReturnStatus {
    /// All of it is done.
    Completed,
    /// Some of it is done.
    Partial,
    /// Nothing usable came of it.
    Failed,
    /// It cannot go on without somebody else.
    Blocked,
}

/// What a sub-agent says it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Return {
    /// How it ended.
    pub status: ReturnStatus,
    /// What happened, in 1 to 500 characters.
    #[schemars(length(min = 1, max = 500))]
    pub summary: String,
    /// What was made.
    pub artifacts: Vec<Artifact>,
    /// Who says so.
    pub metadata: Metadata,
    /// What went wrong; non-empty unless completed.
    #[serde(default)]
    pub errors: Vec<ReturnError>,
    /// What should be done next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_steps: Option<String>,
    /// A structured answer, checked against the agent's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// A file or folder that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifact {
    /// What kind of thing it is: `implementation`, `report`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it is, relative to the workspace.
    pub path: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Who made the return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// The session it answers.
    pub session_id: SessionId,
    /// The agent.
    pub agent_type: AgentId,
    /// How deep it stands.
    pub delegation_depth: u32,
    /// The agents above it, and itself.
    pub delegation_path: Vec<AgentId>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
}

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReturnError {
    /// What kind of trouble: `timeout`, `build_error`, `execution`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// What happened.
    pub message: String,
    /// A stable code, ours or the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether trying again can help.
    #[serde(default)]
    pub recoverable: bool,
    /// What to do about it.
    #[serde(default)]
    pub recommendation: String,
}

/// Tokens by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Tokens {
    /// Input that was not cached.
    pub input: u64,
    /// Output, without reasoning where the runner tells them apart.
    pub output: u64,
    /// Reasoning.
    pub reasoning: u64,
    /// Input read from a cache: recorded and priced, not counted.
    pub cache_read: u64,
    /// Input written to a cache.
    pub cache_write: u64,
}

impl Tokens {
    /// What counts against a budget.
    pub fn counted(&self) -> u64 {
        self.input
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
            .saturating_add(self.reasoning)
    }

    /// The larger of both, kind by kind: figures that only ever grow.
    #[must_use]
    pub fn at_least(&self, other: &Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }

    /// Both together, kind by kind.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    /// How much more this is than the other, kind by kind; never less than nothing.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            reasoning: self.reasoning.saturating_sub(other.reasoning),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
        }
    }
}

/// Why an attempt stopped, as the runtime saw it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It ended by itself.
    #[default]
    Exited,
    /// Its time was used up.
    Timeout,
    /// It made no progress.
    Stalled,
    /// Somebody cancelled it.
    Cancelled,
    /// Its tokens or its money were used up.
    Budget,
    /// Nobody answered what it asked.
    Unanswered,
    /// A signal ended it that was not ours.
    Killed,
    /// It could not be started.
    NotStarted,
    /// The runtime died under it, and it was not found again.
    Lost,
}

/// What the runtime itself saw an attempt do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// The exit code, if there was a process and it had one.
    pub exit_code: Option<i32>,
    /// Tool calls, counted by kind.
    pub tool_calls: BTreeMap<String, u64>,
    /// Tools that it wanted to use and was not allowed to, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub denied: BTreeMap<String, String>,
    /// Servers of tools that it was to have and could not use, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unavailable: BTreeMap<String, String>,
    /// Entries in its output that nobody was asked to do, and why not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEntry>,
    /// Files that differ from the base, from the file system.
    pub files_changed: Vec<String>,
    /// Those of them that lie in submodules: they are kept, and are no part of what is merged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_submodules: Vec<String>,
    /// Commits made.
    pub commits: Vec<String>,
    /// Verification commands and how they ended.
    pub verify: Vec<Verification>,
    /// Tokens by kind; absent where the runner told none.
    pub tokens: Option<Tokens>,
    /// Cost: what the runner said, else tokens times prices; absent where neither is known.
    pub cost_usd: Option<Usd>,
    /// Tokens times prices, also where the runner said what it cost; absent where a price
    /// is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_estimated_usd: Option<Usd>,
    /// Where the cost comes from; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_basis: Option<CostBasis>,
    /// How long it took.
    pub duration_ms: u64,
    /// Delegations below it and how they ended.
    pub grandchildren: Vec<Grandchild>,
    /// What held its processes together; absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supervised_by: Option<String>,
    /// Whether the fence was on; absent where nobody knows.
    pub fenced: Option<bool>,
    /// What the fence did not hold; where it was off, why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fence_gaps: Vec<String>,
    /// Folders that `workspace.share` names and its workspace could not be given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_shared: Vec<String>,
    /// What the fence refused; absent where the kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence_refused: Option<Vec<FenceRefusal>>,
    /// Whether the output ended in the middle.
    pub truncated: bool,
    /// What the brief left out to fit.
    pub brief_cut: Vec<String>,
    /// What the runtime makes of it.
    pub evidence: Evidence,
    /// Why the status is not the one the child claimed.
    pub downgraded: Vec<String>,
}

/// A `[delegate:…]` entry that was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedEntry {
    /// The entry, or its beginning.
    pub entry: String,
    /// What kind of reason.
    pub code: Code,
    /// The reason.
    pub message: String,
}

/// Something that the fence refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FenceRefusal {
    /// What it would not let happen, in the kernel's words, such as `fs.read_file`.
    pub what: String,
    /// The path, port or process that it was about, where the kernel says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// A verification command that the runtime ran itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// The command.
    pub command: String,
    /// Its exit code; absent if a signal or the time limit ended it.
    pub exit_code: Option<i32>,
}

/// A delegation below an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grandchild {
    /// Which one.
    pub delegation_id: crate::ids::DelegationId,
    /// How it ended; absent if it has not.
    pub ended: Option<String>,
}

/// How much of the return the runtime could see for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Tool calls or changes were seen.
    #[default]
    Seen,
    /// No tool call and no change at all.
    None,
}
