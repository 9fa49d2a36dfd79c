//! The forms of what comes to be: trees, delegations, subtasks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::config::Pattern;
use crate::ids::{AgentId, AttemptId, DelegationId, SubtaskId, TaskId};
use crate::tree::arena::{AttemptNo, SubtaskNo};
use crate::tree::command::Habits;
use crate::tree::ledger::Amount;
use crate::tree::plan::Aggregate;

/// Who asks for a delegation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// A human, the API or an agent outside: the start of a path.
    Root {
        /// `user`, or an MCP client's name.
        name: AgentId,
        /// How deep the caller says it stands; it may only tighten.
        depth: u32,
    },
    /// An attempt of this tree, known by its token.
    Attempt(AttemptId),
}

/// The bounds and habits of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The five bounds, already tightened by task and call.
    pub limits: crate::config::Limits,
    /// What happens after a failure.
    pub recovery: crate::config::Recovery,
    /// Below this measured quality a completed subtask is tried once more.
    pub quality_threshold: Option<u32>,
    /// Whether anything may be delegated at all.
    pub enabled: bool,
}

/// A delegation that was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its id.
    pub id: DelegationId,
    /// Who asked.
    pub caller: Caller,
    /// The attempt that asked, below a root.
    pub parent: Option<AttemptNo>,
    /// The task's id.
    pub task_id: TaskId,
    /// The task, in a line.
    pub title: String,
    /// The task, in full.
    pub task: String,
    /// How the subtasks are run.
    pub pattern: Pattern,
    /// Rounds of a debate or review.
    pub rounds: u32,
    /// How an ensemble comes to one answer.
    pub aggregate: Aggregate,
    /// Agents of a debate, review or ensemble, in the order given.
    pub cast: Vec<Cast>,
    /// Who judges an ensemble in the end, if anybody does.
    #[serde(default)]
    pub judge: Option<Cast>,
    /// Who is handed conflicts between the subtasks' work, if anybody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolver: Option<Resolver>,
    /// How many attempts may run at once.
    pub width: u32,
    /// How deep the tree may go below.
    pub max_depth: u32,
    /// What its subtasks may spend together.
    pub cap: Option<Amount>,
    /// Milliseconds it may take, from its first start.
    pub timeout_ms: u64,
    /// The subtasks it starts with.
    pub subtasks: Vec<NewSubtask>,
    /// How many of them the caller asked for.
    pub asked: u32,
    /// Whether the caller's uncommitted files come along.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_dirty: bool,
    /// Whether the caller waits, and gives its slot back meanwhile.
    pub waits: bool,
    /// The caller's key for asking twice.
    pub idempotency_key: Option<String>,
    /// What makes a repeated identical call recognisable.
    pub call_key: Arc<str>,
}

/// An agent with a part in a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    /// Who.
    pub agent: AgentId,
    /// What its definition says.
    pub habits: Habits,
    /// The time the call asks for.
    pub timeout_ms: Option<u64>,
    /// Tokens the call allows.
    pub tokens: Option<u64>,
    /// Whether a human must say yes before it starts.
    pub needs_approval: bool,
    /// What the caller's plan calls it and asks of it, beside the task of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Own>,
}

/// What a plan says of one part in a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// The id it gives.
    pub id: SubtaskId,
    /// What is asked of this part, in a line.
    pub title: String,
    /// The same in full; absent where the plan says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// Who was named to resolve conflicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolver {
    /// An agent that the caller may use.
    Cast(Cast),
    /// One that it may not: conflicts stay with whoever asked.
    Refused {
        /// Who.
        agent: AgentId,
        /// Why not.
        why: String,
    },
}

/// The part a subtask plays in its pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Does its share of the work.
    #[default]
    Worker,
    /// Drafts, and draws the conclusions of a debate.
    Proposer,
    /// Finds fault with a proposal.
    Critic,
    /// Makes the work that is reviewed.
    Creator,
    /// Judges the work.
    Reviewer,
    /// One of an ensemble.
    Member,
    /// Chooses the best of an ensemble.
    Judge,
    /// Brings together two sides that could not be merged.
    Resolver,
}

/// A subtask that came to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewSubtask {
    /// Its id within its delegation.
    pub id: SubtaskId,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, in full.
    pub task: Arc<str>,
    /// Who does it.
    pub agent: AgentId,
    /// The part it plays.
    pub role: Role,
    /// The round of its pattern, from 1; 0 outside rounds.
    pub round: u32,
    /// The subtasks whose results it gets, and which come before it.
    pub depends_on: Vec<SubtaskNo>,
    /// Whether the delegation needs it to succeed.
    pub required: bool,
    /// Whether a human must say yes before it starts.
    pub needs_approval: bool,
    /// What it may spend.
    pub reserved: Amount,
    /// Tokens the call allows it: later reservations hold to it too.
    pub tokens: Option<u64>,
    /// Milliseconds each attempt may take.
    pub timeout_ms: u64,
    /// The time the call asked for, where it did.
    pub asked_ms: Option<u64>,
    /// Agent and hash of the task: what must not repeat on a path.
    pub call_key: Arc<str>,
    /// Files it means to change.
    pub files: Vec<String>,
    /// What its agent's definition says.
    pub habits: Habits,
    /// The subtask whose conflict it resolves, if that is what it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolves: Option<SubtaskNo>,
}
