//! The forms of what runs and ends: attempts, merges, subtasks, results.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::accepted::Role;
use super::clash::Hunk;
use crate::code::Code;
use crate::ids::{AgentId, AttemptId, SessionId, SubtaskId};
use crate::returns::{Artifact, Receipt, Return, ReturnError, ReturnStatus, Verification};
use crate::time::Now;
use crate::tree::arena::{AttemptNo, SubtaskNo};
use crate::tree::command::Habits;
use crate::tree::ledger::Amount;

/// An attempt was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptStarted {
    /// Which subtask.
    pub subtask: SubtaskNo,
    /// The attempt's id.
    pub id: AttemptId,
    /// What it is called in its return.
    pub session: SessionId,
    /// When its time is up.
    pub deadline: Now,
}

/// A process, so that it can be found again or known to be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When the kernel says it started, in the kernel's own ticks.
    pub started: u64,
}

/// An attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnded {
    /// Which.
    pub attempt: AttemptNo,
    /// What its work is worth, after looking.
    pub status: ReturnStatus,
    /// What it said, with the runtime's own lineage in it.
    pub answer: Return,
    /// What the runtime saw.
    pub receipt: Receipt,
    /// Measured quality; absent where unknown.
    pub quality: Option<u32>,
    /// The provider's word: not before this time.
    pub hold_until: Option<Now>,
    /// The raw text, where no return could be had from it.
    pub raw: Option<String>,
}

impl AttemptEnded {
    /// Whether there is anything that could be merged.
    pub fn has_work(&self) -> bool {
        !(self.receipt.files_changed.is_empty() && self.receipt.commits.is_empty())
    }
}

/// Why a subtask is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryCause {
    /// It failed, and trying again may help.
    Failure,
    /// The provider asked to wait.
    RateLimit,
    /// The runtime died under it.
    Lost,
    /// It was not good enough.
    Quality,
    /// Somebody asked for it.
    Request,
}

/// An agent that takes another's place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Substitute {
    /// Who.
    pub agent: AgentId,
    /// What its definition says.
    pub habits: Habits,
    /// Whether a human must say yes before it starts.
    #[serde(default)]
    pub needs_approval: bool,
}

/// A subtask will be tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retried {
    /// Which.
    pub subtask: SubtaskNo,
    /// Why.
    pub cause: RetryCause,
    /// Not before this time.
    pub not_before: Now,
    /// Another agent, if one was named.
    pub agent: Option<Substitute>,
    /// What the next attempt should know.
    pub note: Option<String>,
    /// What it may spend from here on, where its first reservation was released.
    pub reserved: Option<Amount>,
}

/// Why a nested delegation's files are not in the workspace of whoever asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotBrought {
    /// In words.
    pub why: String,
    /// Files that both sides changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What stands against what in them: first the asker's side, then the delegation's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Hunk>,
}

/// How a merge went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeOutcome {
    /// The result has moved on to this commit.
    Clean {
        /// The commit; absent outside git.
        commit: Option<String>,
    },
    /// These files were changed on both sides.
    Conflict {
        /// Relative paths.
        files: Vec<String>,
        /// What stands against what, as far as it can be shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hunks: Vec<Hunk>,
    },
    /// It fitted, and what came of it did not pass the agent's own verification: the result
    /// has not moved.
    Unverified {
        /// The commands that ran on the merged files.
        verify: Vec<Verification>,
    },
    /// It could not be tried.
    Failed {
        /// What went wrong.
        code: Code,
        /// In words.
        message: String,
    },
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All of it is done.
    Completed,
    /// Some of it is done.
    Partial,
    /// Nothing usable came of it.
    Failed,
    /// It cannot go on without somebody else.
    Blocked,
    /// Somebody stopped it.
    Cancelled,
    /// Somebody chose to do without it.
    Skipped,
}

impl Outcome {
    /// Whether what depends on it may go on.
    pub fn lets_on(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped)
    }

    /// The word on every surface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }
}

impl From<ReturnStatus> for Outcome {
    fn from(status: ReturnStatus) -> Self {
        match status {
            ReturnStatus::Completed => Self::Completed,
            ReturnStatus::Partial => Self::Partial,
            ReturnStatus::Failed => Self::Failed,
            ReturnStatus::Blocked => Self::Blocked,
        }
    }
}

/// A subtask ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubtaskEnded {
    /// Which.
    pub subtask: SubtaskNo,
    /// How.
    pub outcome: Outcome,
    /// What is in the way, where it did not come from an attempt.
    pub error: Option<ReturnError>,
}

/// What came of a delegation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DelegationResult {
    /// In words.
    pub summary: String,
    /// In structure.
    pub data: Value,
    /// What was made.
    pub artifacts: Vec<Artifact>,
    /// How an ensemble voted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// How a debate or review went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Turn>,
    /// What reviewers or critics still find wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Value>,
}

/// One answer of an ensemble and who gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The answer.
    pub choice: Value,
    /// The members that gave it.
    pub members: Vec<SubtaskId>,
}

/// One step of a debate or review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The subtask.
    pub subtask: SubtaskId,
    /// The part it played.
    pub role: Role,
    /// The round.
    pub round: u32,
    /// What it said.
    pub summary: String,
    /// `accept` or `revise`, from those who judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}
