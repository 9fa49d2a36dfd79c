//! What happened. Events are the only thing that is stored; everything else is
//! a fold of them.
//!
//! Each carries the version of its form. A form never changes: a new one gets a
//! new version, and the golden files keep the old ones readable.

mod accepted;
mod clash;
mod ended;
mod kind;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use accepted::{Accepted, Caller, Cast, NewSubtask, Own, Resolver, Role, Settings};
pub use clash::{Clash, Hunk, in_words};
pub use ended::{
    AttemptEnded, AttemptStarted, DelegationResult, MergeOutcome, NotBrought, Outcome, Process,
    Retried, RetryCause, Substitute, SubtaskEnded, Turn, Vote,
};

use super::arena::{AttemptNo, DelegationNo, SubtaskNo};
use super::ledger::Amount;
use crate::money::Usd;
use crate::returns::{StopReason, Tokens};
use crate::time::Now;

/// The version of every form below.
pub const VERSION: u16 = 1;

/// Something that happened in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of the body's form.
    pub v: u16,
    /// When.
    pub at: Now,
    /// What.
    pub body: Body,
}

impl Event {
    /// An event of the current version.
    pub fn new(at: Now, body: Body) -> Self {
        Self { v: VERSION, at, body }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A tree came to be.
    TreeOpened(Settings),
    /// A delegation fits within every bound and was accepted.
    DelegationAccepted(Box<Accepted>),
    /// A pattern added subtasks by its rule.
    SubtasksAdded {
        /// To which delegation.
        delegation: DelegationNo,
        /// What was added.
        subtasks: Vec<NewSubtask>,
    },
    /// An attempt was started; its clock runs.
    AttemptStarted(AttemptStarted),
    /// Its process runs.
    AttemptSpawned {
        /// Which.
        attempt: AttemptNo,
        /// How to find it again.
        process: Option<Process>,
        /// Where it works.
        workspace: Option<String>,
        /// The commit it started from.
        base: Option<String>,
    },
    /// What it has used so far was booked.
    UsageSettled {
        /// Which.
        attempt: AttemptNo,
        /// Tokens by kind, in all.
        tokens: Tokens,
        /// Dollars in all; absent where unknown.
        cost: Option<Usd>,
        /// Tokens in its context now; absent where unknown.
        context: Option<u64>,
    },
    /// It got on.
    ProgressMade {
        /// Which.
        attempt: AttemptNo,
        /// Steps done.
        current: u64,
        /// Steps in all.
        total: u64,
        /// What it did last.
        last_action: String,
    },
    /// It waits for a human, and gave its slot back.
    ApprovalAsked {
        /// Which.
        attempt: AttemptNo,
        /// What it wants to do.
        what: String,
    },
    /// A human said yes or no.
    ApprovalGiven {
        /// To which subtask.
        subtask: SubtaskNo,
        /// Yes or no.
        approved: bool,
        /// Who said so.
        by: String,
        /// Why.
        reason: String,
    },
    /// The runner knows what the human said.
    ApprovalDelivered {
        /// Which.
        attempt: AttemptNo,
    },
    /// It waits for a delegation of its own, and gave its slot back.
    WaitBegan {
        /// Which.
        attempt: AttemptNo,
        /// For what.
        delegation: DelegationNo,
    },
    /// It was frozen, or thawed.
    AttemptFroze {
        /// Which.
        attempt: AttemptNo,
        /// Frozen or thawed.
        frozen: bool,
    },
    /// It has to stop.
    StopRequested {
        /// Which.
        attempt: AttemptNo,
        /// Why.
        reason: StopReason,
    },
    /// It ended, with all its processes.
    AttemptEnded(Arc<AttemptEnded>),
    /// A subtask will be tried again.
    RetryScheduled(Retried),
    /// The time to try a subtask again has come.
    RetryDue {
        /// Which.
        subtask: SubtaskNo,
    },
    /// A subtask's work waits to be merged.
    MergeRequested {
        /// Which.
        subtask: SubtaskNo,
    },
    /// A merge was tried.
    MergeEnded {
        /// Which.
        subtask: SubtaskNo,
        /// How it went.
        outcome: MergeOutcome,
    },
    /// A subtask ended.
    SubtaskEnded(SubtaskEnded),
    /// An ensemble chose its answer.
    WinnerChosen {
        /// Which delegation.
        delegation: DelegationNo,
        /// The member.
        subtask: SubtaskNo,
    },
    /// Nothing new starts.
    Paused {
        /// Where.
        delegation: DelegationNo,
        /// Since when its time does not count: before the event, where the runtime was down.
        since: Now,
        /// What runs is frozen too.
        freeze: bool,
        /// Why.
        reason: String,
    },
    /// It goes on.
    Resumed {
        /// Where.
        delegation: DelegationNo,
    },
    /// A delegation's time is up.
    TimeRanOut {
        /// Which.
        delegation: DelegationNo,
    },
    /// A subtask failed, and the rest has to stop.
    RestStopped {
        /// Where.
        delegation: DelegationNo,
    },
    /// A delegation has to stop.
    CancelRequested {
        /// Which.
        delegation: DelegationNo,
        /// Who said so.
        by: String,
        /// Why.
        reason: String,
        /// Also take back what was merged.
        rollback: bool,
    },
    /// A delegation ended.
    DelegationEnded {
        /// Which.
        delegation: DelegationNo,
        /// How.
        outcome: Outcome,
        /// What came of it.
        result: Arc<DelegationResult>,
    },
    /// An ended delegation goes on after all.
    DelegationReopened {
        /// Which.
        delegation: DelegationNo,
        /// What its open subtasks may spend.
        reserved: Vec<(SubtaskNo, Amount)>,
    },
    /// Whoever asked has the answer.
    AnswerDelivered {
        /// Of which delegation.
        delegation: DelegationNo,
        /// Why its files are not where whoever asked works; it is `blocked` then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_brought: Option<NotBrought>,
    },
    /// What a delegation merged was taken back.
    RolledBack {
        /// Which.
        delegation: DelegationNo,
    },
    /// The work of an attempt is kept and its workspace is gone.
    WorkspaceRemoved {
        /// Which.
        attempt: AttemptNo,
        /// Where the work is kept, if there was any.
        kept: Option<String>,
    },
    /// What a delegation merged could not be taken back, and is still there.
    ResultLeft {
        /// Which.
        delegation: DelegationNo,
        /// Why.
        why: String,
    },
    /// The work of an attempt could not be kept, so its workspace is still there.
    WorkspaceLeft {
        /// Which.
        attempt: AttemptNo,
        /// Why, and where it is.
        why: String,
    },
}
