//! Slash commands: `/delegate`, `/direct` and `/delegation …`.
//!
//! One parser for every place where such a line can be typed. Options end where
//! the text begins, and the text is kept as it was written. Nothing here looks
//! anything up: whether a text is the id of a task, and whether an id exists,
//! is for the reader of the command to find out.

mod control;
mod error;
mod flags;
mod line;
mod render;
mod settings;
mod since;

use serde::Serialize;
use serde_json::Value;

pub use self::error::{Error, Problem};
use self::flags::Given;
use self::line::Line;
pub use self::since::BadSince;
use crate::config::Pattern;
use crate::ids::{AgentId, DelegationId, SubtaskId};

/// The commands there are.
pub const COMMANDS: [&str; 3] = [DELEGATE, DIRECT, DELEGATION];

const DELEGATE: &str = "/delegate";
const DIRECT: &str = "/direct";
const DELEGATION: &str = "/delegation";

/// A slash command. Shown, it is a line that parses to the same command.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum SlashCommand {
    /// Delegate a task, whatever its score.
    Delegate {
        /// How.
        options: CallOptions,
        /// A text or the id of a task.
        task: String,
    },
    /// Do a task without delegating it.
    Direct {
        /// How; only `text` can be given.
        options: CallOptions,
        /// A text or the id of a task.
        task: String,
    },
    /// Look at or steer what is delegated already.
    Delegation(Action),
}

/// How a task is to be done; what was not given is `None` or `false`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallOptions {
    /// Forces the pattern.
    pub pattern: Option<Pattern>,
    /// Tightens the depth, 1–5.
    pub depth: Option<u32>,
    /// Tightens the width, at least 1.
    pub agents: Option<u32>,
    /// Tightens the tokens; zero means zero.
    pub budget: Option<u64>,
    /// Show the plan and do nothing.
    pub dry_run: bool,
    /// Take the task as text, even if it equals the id of a task.
    pub text: bool,
}

/// What `/delegation` is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Show one delegation, or all active ones.
    Status {
        /// Which one.
        id: Option<DelegationId>,
    },
    /// Start nothing new.
    Pause {
        /// Which one.
        id: DelegationId,
        /// How.
        options: PauseOptions,
    },
    /// Go on after a pause.
    Resume {
        /// Which one.
        id: DelegationId,
    },
    /// Stop it and everything below it.
    Cancel {
        /// Which one.
        id: DelegationId,
        /// How.
        options: CancelOptions,
    },
    /// List what was delegated.
    History {
        /// Which ones.
        options: HistoryOptions,
    },
    /// Decide about a task without doing anything.
    Hint {
        /// How; only `text` can be given.
        options: HintOptions,
        /// A text or the id of a task.
        task: String,
    },
    /// Change settings for this session, or show them if there is nothing to change.
    Config {
        /// What to set, in the order given.
        settings: Vec<Setting>,
    },
    /// Start a new attempt of a subtask.
    Retry {
        /// Which delegation.
        id: DelegationId,
        /// Which of its subtasks.
        subtask: SubtaskId,
        /// How.
        options: RetryOptions,
    },
    /// Go on without a subtask.
    Skip {
        /// Which delegation.
        id: DelegationId,
        /// Which of its subtasks.
        subtask: SubtaskId,
        /// Why.
        options: ReasonOptions,
    },
    /// Allow what waits for a human.
    Approve {
        /// Which delegation.
        id: DelegationId,
        /// Which of its subtasks; all that wait if absent.
        subtask: Option<SubtaskId>,
        /// Why.
        options: ReasonOptions,
    },
    /// Refuse what waits for a human.
    Reject {
        /// Which delegation.
        id: DelegationId,
        /// Which of its subtasks; all that wait if absent.
        subtask: Option<SubtaskId>,
        /// Why.
        options: ReasonOptions,
    },
    /// Show who delegated what to whom.
    Tree {
        /// Which one.
        id: DelegationId,
    },
    /// Show what happened when.
    Trace {
        /// Which one.
        id: DelegationId,
    },
    /// Show what it cost.
    Cost {
        /// Which one.
        id: DelegationId,
    },
}

/// How to pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseOptions {
    /// Freeze running attempts too.
    pub now: bool,
}

/// How to cancel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelOptions {
    /// Why.
    pub reason: Option<String>,
    /// Take back what was merged.
    pub rollback: bool,
}

/// Which delegations to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryOptions {
    /// At most so many.
    pub limit: Option<u32>,
    /// Only those in this state.
    pub status: Option<StatusFilter>,
    /// Only those that began then or later.
    pub since: Option<Since>,
}

/// How to read the task of a hint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HintOptions {
    /// Take the task as text, even if it equals the id of a task.
    pub text: bool,
}

/// How to try again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryOptions {
    /// Who should try, if not the same agent.
    pub agent: Option<AgentId>,
    /// What the next attempt is told.
    pub note: Option<String>,
}

/// Why something was skipped, approved or rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonOptions {
    /// Why.
    pub reason: Option<String>,
}

/// A setting for this session; whether there is such a key is checked by the configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The key, with points between its parts: `limits.maxDepth`.
    pub key: String,
    /// The value: JSON if it reads as such, else a string.
    pub value: Value,
}

/// Which states a history shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusFilter {
    /// Not started yet.
    Pending,
    /// Under way.
    Running,
    /// Held.
    Paused,
    /// Ended well.
    Completed,
    /// Some of it ended well.
    Partial,
    /// None of it did.
    Failed,
    /// Waits for a decision that nobody made.
    Blocked,
    /// Stopped by somebody.
    Cancelled,
    /// Whatever the state.
    All,
}

/// From when on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Since {
    /// So many milliseconds before now.
    AgoMs(u64),
    /// A date, or a date and time as in RFC 3339.
    At(String),
}

/// Parses one command.
pub fn parse(line: &str) -> Result<SlashCommand, Error> {
    let mut line = Line::new(line);
    match line.word() {
        None => Err(Error::no_command()),
        Some(DELEGATE) => {
            let mut given = Given::before_text(&mut line, flags::DELEGATE)?;
            let options = CallOptions {
                pattern: given.name(&flags::PATTERN)?,
                depth: given.number(&flags::DEPTH, 1..=5)?,
                agents: given.number(&flags::AGENTS, 1..=100_000)?,
                budget: given.number(&flags::BUDGET, 0..=u64::MAX)?,
                dry_run: given.switch(&flags::DRY_RUN),
                text: given.switch(&flags::TEXT),
            };
            let task = flags::DELEGATE.task(&line)?;
            Ok(SlashCommand::Delegate { options, task })
        }
        Some(DIRECT) => {
            let mut given = Given::before_text(&mut line, flags::DIRECT)?;
            let options =
                CallOptions { text: given.switch(&flags::TEXT), ..CallOptions::default() };
            let task = flags::DIRECT.task(&line)?;
            Ok(SlashCommand::Direct { options, task })
        }
        Some(DELEGATION) => control::action(&mut line).map(SlashCommand::Delegation),
        Some(word) => Err(Error::unknown_command(word)),
    }
}
