//! What is said over the socket: one JSON value a line, a request first, then
//! whatever there is to tell about it, and one last line with the outcome.

use std::collections::BTreeMap;

use legation_core::call::{Call, Chosen};
use legation_core::config::Pattern;
use legation_core::ids::{AgentId, DelegationId, SubtaskId};
use legation_core::tree::rejection::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::news::News;
use crate::read::Sight;

/// The version of what is said here.
pub const VERSION: u16 = 1;
/// Bytes a request may have.
pub const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// What a program wants of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The version it speaks.
    pub v: u16,
    /// Whose name it acts in, where it is an attempt's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The part of its environment that speaks of delegation.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the program calls itself, where it acts for nobody but itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The part of its environment that children of a new tree may see.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub passed_on: BTreeMap<String, String>,
    /// What it wants.
    pub wish: Wish,
}

/// What a program wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Hand a task to sub-agents.
    Delegate(Box<Call>),
    /// Wait for a delegation.
    Wait {
        /// Which.
        delegation: DelegationId,
    },
    /// Say how a delegation stands.
    Look {
        /// Which.
        delegation: DelegationId,
        /// What of it.
        #[serde(default)]
        sight: Sight,
    },
    /// List delegations: those under way, then the last that ended.
    List,
    /// List the agents that the caller may delegate to.
    Agents,
    /// Say what an agent would be allowed.
    Explain {
        /// Under whom; absent means the caller itself.
        parent: Option<AgentId>,
        /// Which.
        child: AgentId,
    },
    /// Steer a delegation.
    Steer(Steer),
    /// A return was handed in; the attempt may take a moment to end.
    Submitted,
    /// Say who the caller is.
    Who,
    /// Say what the caller may still ask for.
    Remaining,
    /// Ask a human whether the attempt may do something, and wait for the word. An envoy
    /// says this.
    Ask {
        /// What it wants to do.
        what: String,
    },
    /// Say how you are.
    Ping,
    /// Stay for as long as the caller is there.
    Attend,
}

/// Steering a delegation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steer {
    /// Which.
    pub delegation: DelegationId,
    /// Where to.
    pub to: To,
    /// Whether to wait for its end afterwards, or for that of the one subtask that is cancelled.
    #[serde(default)]
    pub wait: bool,
}

/// Where a delegation is steered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// Start nothing new.
    Pause {
        /// Also freeze what runs.
        now: bool,
        /// Why.
        reason: String,
    },
    /// Go on.
    Resume,
    /// Stop.
    Cancel {
        /// Only this subtask.
        subtask: Option<SubtaskId>,
        /// Why.
        reason: String,
        /// Also take back what was merged.
        rollback: bool,
    },
    /// Try a subtask again.
    Retry {
        /// Which.
        subtask: SubtaskId,
        /// Another agent.
        agent: Option<AgentId>,
        /// What the next attempt should know.
        note: Option<String>,
    },
    /// Do without a subtask.
    Skip {
        /// Which.
        subtask: SubtaskId,
        /// Why.
        reason: String,
    },
    /// A human's word on what waits for it.
    Approve {
        /// Only this subtask.
        subtask: Option<SubtaskId>,
        /// Yes or no.
        approved: bool,
        /// Why.
        reason: String,
    },
}

/// What the engine says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The delegation was accepted; it may have been there before.
    Accepted {
        /// Which.
        delegation: DelegationId,
        /// Whether the same call had been made before.
        again: bool,
        /// How the subtasks are run.
        pattern: Pattern,
        /// Who does what, and why.
        chosen: Vec<Told>,
    },
    /// Something happened.
    News(Box<News>),
    /// Something the caller should know.
    Note(String),
    /// It is over: the answer.
    Answer {
        /// How it ended.
        status: String,
        /// What there is to show.
        view: Value,
    },
    /// What was asked for is done.
    Done(Value),
    /// What was asked for cannot be had.
    Refused(Refused),
}

/// Who was chosen for a subtask, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// The subtask.
    pub subtask: SubtaskId,
    /// In a line.
    pub title: String,
    /// The agent.
    pub agent: AgentId,
    /// Why this one.
    pub reason: String,
}

impl From<&Chosen> for Told {
    fn from(chosen: &Chosen) -> Self {
        Self {
            subtask: chosen.subtask.clone(),
            title: chosen.title.clone(),
            agent: chosen.agent.clone(),
            reason: chosen.reason.clone(),
        }
    }
}

/// Why something cannot be had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// The stable code.
    pub code: String,
    /// The first line.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The figures, for programs.
    #[serde(default)]
    pub details: Value,
    /// The figures, for people.
    #[serde(default)]
    pub figures: Vec<String>,
    /// What may still be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Value>,
}

impl From<&Refusal> for Refused {
    fn from(refusal: &Refusal) -> Self {
        Self {
            code: refusal.code.to_string(),
            message: refusal.message.clone(),
            hint: refusal.hint.clone(),
            details: (*refusal.details).clone(),
            figures: refusal.figures.to_vec(),
            remaining: None,
        }
    }
}
