//! Everything outside the rules: clock, chance, workspaces, processes.
//!
//! The engine hands over what is owed and never waits for it: what came of an act
//! arrives later as a command in the tree's mailbox.

use std::future::Future;

use legation_core::ids::{AgentId, AttemptId, DelegationId, SessionId, SubtaskId};
use legation_core::money::Usd;
use legation_core::returns::StopReason;
use legation_core::time::Now;
use legation_core::tree::brief::Brief;
use legation_core::tree::event::Process;

use crate::mail::Mailbox;

/// What the engine cannot do by itself.
pub trait World: Send + Sync + 'static {
    /// The time.
    fn now(&self) -> Now;

    /// A number that nobody can guess.
    fn draw(&self) -> u64;

    /// Waits until that time.
    fn until(&self, at: Now) -> impl Future<Output = ()> + Send;

    /// Begins to do something. What comes of it is told to the mailbox.
    fn act(&self, act: Act, mail: Mailbox);

    /// The instructions and the schema that an agent's file adds to a brief.
    fn manner(&self, agent: &AgentId, parent: Option<&AgentId>) -> Manner;

    /// What an attempt has said so far, as far as that is at hand.
    fn said(&self, _attempt: &AttemptId, _agent: &AgentId) -> Option<String> {
        None
    }

    /// A tree is over: nothing starts in it unless somebody asks for that.
    fn over(&self, _tree: &DelegationId) {}
}

/// What an agent's file adds to a brief.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manner {
    /// The system prompt.
    pub prompt: String,
    /// A JSON Schema of `data` in the return.
    pub schema: Option<serde_json::Value>,
    /// Whether it may delegate in turn.
    pub delegates: bool,
}

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Act {
    /// Make a workspace and start the agent's program in it.
    Spawn(Box<Job>),
    /// The engine has started again: look for the program, and go on with it or say it is lost.
    Find(Box<Job>),
    /// Stop an attempt and everything it has started.
    Stop {
        /// Which.
        attempt: AttemptId,
        /// Why.
        reason: StopReason,
    },
    /// Freeze the processes of an attempt, or let them run again.
    Freeze {
        /// Which.
        attempt: AttemptId,
        /// Frozen or thawed.
        frozen: bool,
    },
    /// The time of an attempt goes by in another way from now on.
    SetDeadline {
        /// Which.
        attempt: AttemptId,
        /// When it is up; none while it stands still.
        deadline: Option<Now>,
    },
    /// Tell an attempt what a human said.
    Answer {
        /// Which.
        attempt: AttemptId,
        /// Yes or no.
        approved: bool,
    },
    /// Keep the work of an attempt that waits for its turn to be merged. Nobody is told:
    /// whoever merges it does what is not done by then.
    Keep(Work),
    /// Merge the work of an attempt into its delegation's result.
    Merge(Work),
    /// Break off whatever is still run before the work of an attempt is merged.
    StopMerge {
        /// Which.
        attempt: AttemptId,
    },
    /// Take back what a delegation merged.
    RollBack {
        /// The tree.
        tree: DelegationId,
        /// Which.
        delegation: DelegationId,
    },
    /// Bring a delegation's result to the attempt that asked for it.
    Bring {
        /// The tree.
        tree: DelegationId,
        /// Which.
        delegation: DelegationId,
        /// Who asked.
        into: Work,
    },
    /// Keep the work of an attempt and remove its workspace.
    Remove(Work),
}

/// An attempt to be started or found.
#[derive(Clone, Debug)]
pub struct Job {
    /// The tree.
    pub tree: DelegationId,
    /// The delegation.
    pub delegation: DelegationId,
    /// The subtask.
    pub subtask: SubtaskId,
    /// The attempt.
    pub attempt: AttemptId,
    /// What it is called in its return.
    pub session: SessionId,
    /// Who runs.
    pub agent: AgentId,
    /// Who asked, if it is an agent.
    pub parent: Option<AgentId>,
    /// The subtask in a line.
    pub title: String,
    /// What it is told.
    pub brief: Brief,
    /// What its workspace is made from.
    pub base: Base,
    /// What it may cost from now on, as things stand.
    pub cost_left: Usd,
    /// When its time is up; none while it stands still.
    pub deadline: Option<Now>,
    /// Whether its processes are frozen, as far as is recorded.
    pub frozen: bool,
    /// How to find its process, where it was recorded.
    pub process: Option<Process>,
    /// Its workspace, where it was recorded.
    pub workspace: Option<String>,
    /// The commit it started from, where it was recorded.
    pub base_commit: Option<String>,
}

/// What a workspace is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// The workspace of the attempt that asked; none means the user's own checkout.
    pub parent: Option<(AttemptId, String)>,
    /// The attempts whose merged work it builds on.
    pub with: Vec<AttemptId>,
    /// The attempt whose work could not be merged, where this one is to bring it together
    /// with the delegation's result.
    pub resolves: Option<AttemptId>,
    /// Whether uncommitted files come along.
    pub include_dirty: bool,
}

/// The work of an attempt that ended.
#[derive(Clone, Debug)]
pub struct Work {
    /// The tree.
    pub tree: DelegationId,
    /// The delegation.
    pub delegation: DelegationId,
    /// The subtask.
    pub subtask: SubtaskId,
    /// The attempt.
    pub attempt: AttemptId,
    /// What it is called in its return.
    pub session: SessionId,
    /// Who ran.
    pub agent: AgentId,
    /// The agents above it, and itself.
    pub path: Vec<AgentId>,
    /// Who asked, if it is an agent.
    pub parent: Option<AgentId>,
    /// Its workspace.
    pub workspace: Option<String>,
    /// The commit it started from.
    pub base: Option<String>,
    /// The agent whose conflict it resolved, where that is what it was for.
    pub resolves: Option<AgentId>,
    /// What it cost; absent where unknown.
    pub cost: Option<Usd>,
    /// The subtask in a line.
    pub title: String,
}
