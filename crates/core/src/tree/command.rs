//! What somebody wants, or what somebody saw. Time comes in beside it.

use super::event::{MergeOutcome, NotBrought, Process, Settings};
use super::plan::Aggregate;
use crate::agent::{ContextMode, Operation, Refusal};
use crate::code::Code;
use crate::config::Pattern;
use crate::ids::{AgentId, AttemptId, DelegationId, SessionId, SubtaskId, TaskId};
use crate::money::Usd;
use crate::returns::{Receipt, Return, Tokens, Violation};
use crate::time::Now;

pub use super::event::Caller;

/// A wish or an observation about one tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Hand a task to sub-agents.
    Delegate(Box<Delegate>),
    /// A slot was found: start an attempt.
    Start(Start),
    /// The process of an attempt runs.
    Spawned(Spawned),
    /// An attempt used tokens or money.
    Use(Usage),
    /// An attempt got on.
    Progress(Progress),
    /// An attempt made no progress for too long.
    Stall {
        /// Which.
        attempt: AttemptId,
    },
    /// An attempt needs a human's word.
    Ask {
        /// Which.
        attempt: AttemptId,
        /// What it wants to do.
        what: String,
    },
    /// The runner was told what the human said.
    Answered {
        /// Which.
        attempt: AttemptId,
    },
    /// An attempt froze, or runs again.
    Froze {
        /// Which.
        attempt: AttemptId,
        /// Frozen or thawed.
        frozen: bool,
    },
    /// An attempt ended, with all its processes.
    End(Box<End>),
    /// A merge was tried.
    Merged {
        /// Whose work.
        attempt: AttemptId,
        /// How it went.
        outcome: MergeOutcome,
    },
    /// What a delegation merged was taken back.
    RolledBack {
        /// Which.
        delegation: DelegationId,
    },
    /// The work of an attempt is kept and its workspace is gone.
    WorkspaceRemoved {
        /// Which.
        attempt: AttemptId,
        /// Where the work is kept, if there was any.
        kept: Option<String>,
    },
    /// What a delegation merged could not be taken back, and is still there.
    ResultLeft {
        /// Which.
        delegation: DelegationId,
        /// Why.
        why: String,
    },
    /// The work of an attempt could not be kept, so its workspace is still there.
    WorkspaceLeft {
        /// Which.
        attempt: AttemptId,
        /// Why, and where it is.
        why: String,
    },
    /// An attempt waits for a delegation it had started without waiting.
    Await {
        /// Who waits.
        attempt: AttemptId,
        /// For what.
        delegation: DelegationId,
    },
    /// The answer of a delegation was handed over.
    Delivered {
        /// Which.
        delegation: DelegationId,
        /// Why its files could not be.
        not_brought: Option<NotBrought>,
    },
    /// Start nothing new.
    Pause {
        /// Where.
        delegation: DelegationId,
        /// Also freeze what runs.
        freeze: bool,
        /// Why.
        reason: String,
    },
    /// Go on.
    Resume {
        /// Where.
        delegation: DelegationId,
    },
    /// Stop a delegation, or one subtask, and everything below.
    Cancel(Cancel),
    /// Try a subtask again.
    Retry(Retry),
    /// Do without a subtask.
    Skip {
        /// Where.
        delegation: DelegationId,
        /// Which.
        subtask: SubtaskId,
        /// Why.
        reason: String,
    },
    /// A human's word on what waits for it.
    Approve(Approve),
    /// The runtime is back after a crash.
    Recover {
        /// Whether somebody keeps the engine running on purpose.
        serving: bool,
    },
    /// After a crash an attempt was looked for and not found.
    Lose {
        /// Which.
        attempt: AttemptId,
    },
    /// Time has passed.
    Tick,
    /// Decide what follows from what is recorded.
    Advance,
}

/// Hand a task to sub-agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Delegate {
    /// The new delegation's id.
    pub id: DelegationId,
    /// Who asks.
    pub caller: Caller,
    /// The bounds and habits of a new tree; ignored below a root.
    pub settings: Settings,
    /// The task's id.
    pub task_id: TaskId,
    /// The task, in a line.
    pub title: String,
    /// The task, in full.
    pub task: String,
    /// How the subtasks are run.
    pub pattern: Pattern,
    /// Rounds of a debate or review.
    pub rounds: Option<u32>,
    /// How an ensemble comes to one answer.
    pub aggregate: Aggregate,
    /// Who judges an ensemble, if anybody is named; ignored where nobody has to.
    pub judge: Option<Candidate>,
    /// Who is handed conflicts between the subtasks' work, if anybody is named.
    pub resolver: Option<Candidate>,
    /// Who does what.
    pub subtasks: Vec<Target>,
    /// What the caller allows for this call.
    pub call: CallLimits,
    /// Whether the caller's uncommitted files come along.
    pub include_dirty: bool,
    /// Whether the caller waits for the answer, and gives its slot back meanwhile.
    pub waits: bool,
    /// The same key gives the same delegation.
    pub idempotency_key: Option<String>,
}

/// What one call allows; it may only tighten.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallLimits {
    /// How deep the tree may go below this call.
    pub max_depth: Option<u32>,
    /// How many attempts may run at once.
    pub width: Option<u32>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Dollars.
    pub cost: Option<Usd>,
    /// Milliseconds for each subtask.
    pub timeout_ms: Option<u64>,
}

/// A subtask with what is known of the agent it goes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The subtask's id within its delegation.
    pub id: SubtaskId,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, in full.
    pub task: String,
    /// Who does it.
    pub agent: AgentId,
    /// The subtasks that come before it.
    pub depends_on: Vec<SubtaskId>,
    /// Whether the delegation needs it to succeed.
    pub required: bool,
    /// The time the call asks for.
    pub timeout_ms: Option<u64>,
    /// Tokens the call allows.
    pub tokens: Option<u64>,
    /// Files it means to change.
    pub files: Vec<String>,
    /// Whether the caller may use this agent: the refusal if not.
    pub permitted: Permitted,
    /// Whether a human must say yes before it starts.
    pub needs_approval: bool,
    /// What its definition says.
    pub habits: Habits,
    /// Whether the caller's plan gave it its id and its words. Where everyone has the same
    /// task, they are the pattern's otherwise.
    pub planned: bool,
}

/// Whether the one who asks may use an agent: the refusal if not. It is asked where the
/// agents are known, for the path from the root to whoever asks.
pub type Permitted = Result<(), Refusal>;

/// An agent for a part that no subtask of the call names, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Who.
    pub agent: AgentId,
    /// Whether the caller may use this agent.
    pub permitted: Permitted,
    /// Whether a human must say yes before it starts.
    pub needs_approval: bool,
    /// What its definition says.
    pub habits: Habits,
}

/// What an agent's definition says about running it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Habits {
    /// Whether it may appear below itself.
    pub recursive: bool,
    /// Whether its runner can report neither tokens nor cost.
    pub unmetered: bool,
    /// Its time class.
    pub operation: Option<Operation>,
    /// Its time allowed.
    pub timeout_ms: Option<u64>,
    /// How often it is started again.
    pub max_retries: Option<u32>,
    /// Milliseconds before the first retry.
    pub backoff_ms: Option<u64>,
    /// How many of its children may run at once.
    pub max_concurrent: Option<u32>,
    /// What it is handed.
    pub context: ContextMode,
}

/// A slot was found: start an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Where.
    pub delegation: DelegationId,
    /// Which subtask.
    pub subtask: SubtaskId,
    /// The new attempt's id.
    pub attempt: AttemptId,
    /// What it is called in its return.
    pub session: SessionId,
}

/// The process of an attempt runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawned {
    /// Which.
    pub attempt: AttemptId,
    /// How to find it again.
    pub process: Option<Process>,
    /// Where it works.
    pub workspace: Option<String>,
    /// The commit it started from.
    pub base: Option<String>,
}

/// What an attempt has used so far, in all: the figures only ever grow, so a
/// report that comes twice or late changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Which.
    pub attempt: AttemptId,
    /// Tokens by kind.
    pub tokens: Tokens,
    /// Dollars; absent where unknown.
    pub cost: Option<Usd>,
    /// Tokens in its context now; absent where unknown.
    pub context: Option<u64>,
}

/// How far an attempt says it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Which.
    pub attempt: AttemptId,
    /// Steps done.
    pub current: u64,
    /// Steps in all.
    pub total: u64,
    /// What it did last.
    pub last_action: String,
}

/// An attempt ended, with all its processes.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Which.
    pub attempt: AttemptId,
    /// What it said.
    pub said: Said,
    /// What the runtime saw.
    pub receipt: Receipt,
    /// Measured quality, 0 to 100; absent where unknown.
    pub quality: Option<u32>,
    /// The provider's word: not before this time, and it is nobody's fault.
    pub hold_until: Option<Now>,
    /// The raw text, where no return could be had from it.
    pub raw: Option<String>,
    /// What its runtime knows of when it ended, and why.
    pub timing: Timing,
}

/// How the end of an attempt lies in time, as far as its runtime saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// It ended by itself: neither its time nor a word to stop reached it before.
    pub by_itself: bool,
    /// When it ended, where nobody was there to see it.
    pub ended_at: Option<Now>,
    /// When its return was handed in.
    pub handed_in_at: Option<Now>,
}

/// What was heard of an attempt at its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A return that passed every check.
    Return(Return),
    /// A return that did not, after every chance to mend it.
    Invalid(Violation),
    /// Nothing that could be a return.
    Nothing,
    /// It never began.
    NotStarted {
        /// The kind of obstacle.
        code: Code,
        /// The obstacle.
        why: String,
    },
}

/// Stop a delegation, or one subtask, and everything below.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancel {
    /// Which.
    pub delegation: DelegationId,
    /// Only this subtask.
    pub subtask: Option<SubtaskId>,
    /// Who says so.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Also take back what was merged.
    pub rollback: bool,
}

/// Try a subtask again.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// Where.
    pub delegation: DelegationId,
    /// Which.
    pub subtask: SubtaskId,
    /// Another agent, which the one who delegated must be allowed to use.
    pub agent: Option<Candidate>,
    /// What the next attempt should know.
    pub note: Option<String>,
}

/// A human's word on what waits for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// Where.
    pub delegation: DelegationId,
    /// Only this subtask.
    pub subtask: Option<SubtaskId>,
    /// Yes or no.
    pub approved: bool,
    /// Who says so.
    pub by: String,
    /// Why.
    pub reason: String,
}
