//! Returns that the runtime writes for an attempt that made none, or none that
//! can be used.
//!
//! They hold to the same rules as a child's own. Nothing of a raw output is put
//! into them: that text is kept beside, for whoever wants to look.

use super::limits::{MAX_ARTIFACTS, MAX_SUMMARY_CHARS};
use super::model::{Artifact, Metadata, Return, ReturnError, ReturnStatus};
use super::violation::Violation;
use crate::Code;
use crate::money::Usd;

/// Characters that are kept of a reason somebody gave.
const MAX_REASON_CHARS: usize = 1_000;

/// The first line of what is said when a child gets no workspace.
pub const NO_WORKSPACE: &str = "Failed to create child worktree for delegation.";

/// What is known of an attempt that has been stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The runtime's own metadata.
    pub metadata: Metadata,
    /// Files that were found to differ from the base.
    pub found: Vec<String>,
    /// The command with which a user resumes it.
    pub resume: String,
}

/// How an attempt ended without a usable return.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop<'a> {
    /// Its time was used up.
    TimedOut {
        /// The time it was allowed.
        after_ms: u64,
    },
    /// It made no progress.
    Stalled {
        /// How long nothing had been heard of it.
        after_ms: u64,
    },
    /// Somebody cancelled it.
    Cancelled {
        /// What they gave as the reason.
        reason: Option<&'a str>,
    },
    /// It asked a human, and nobody answered in time.
    Unanswered,
    /// The runtime died under it, and it was not found again.
    Lost,
    /// It crossed its ceiling.
    Budget(Ceiling),
    /// Its return failed a check, and it could not or would not mend it.
    Invalid(&'a Violation),
    /// It ended by itself, and said nothing.
    NoReturn {
        /// Its exit code; absent if a signal ended it.
        exit_code: Option<i32>,
    },
    /// It never began.
    NotStarted {
        /// The kind of obstacle.
        code: Code,
        /// The obstacle.
        why: &'a str,
    },
}

/// A ceiling that was crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// In tokens.
    Tokens {
        /// What was used.
        used: u64,
        /// What was allowed.
        ceiling: u64,
    },
    /// In money.
    Cost {
        /// What was spent.
        used: Usd,
        /// What was allowed.
        ceiling: Usd,
    },
}

/// The return of an attempt that made no usable one.
pub fn on_behalf(attempt: Attempt, stop: &Stop<'_>) -> Return {
    let kind = |path| Artifact { kind: "partial".to_owned(), path, summary: None };
    let artifacts: Vec<_> = attempt.found.into_iter().take(MAX_ARTIFACTS).map(kind).collect();
    let account = account(stop, &attempt.resume);
    let status = match account.verdict {
        Verdict::Partial => ReturnStatus::Partial,
        Verdict::Failed => ReturnStatus::Failed,
        Verdict::Blocked => ReturnStatus::Blocked,
        Verdict::ByWhatIsLeft if artifacts.is_empty() => ReturnStatus::Failed,
        Verdict::ByWhatIsLeft => ReturnStatus::Partial,
    };
    Return {
        status,
        summary: account.summary,
        artifacts,
        metadata: attempt.metadata,
        errors: vec![account.error],
        next_steps: None,
        data: None,
    }
}

/// What status an end without a return amounts to.
enum Verdict {
    Partial,
    Failed,
    Blocked,
    /// Partial if something was found, else failed.
    ByWhatIsLeft,
}

struct Account {
    verdict: Verdict,
    summary: String,
    error: ReturnError,
}

fn account(stop: &Stop<'_>, resume: &str) -> Account {
    let resumed = format!("Resume with `{resume}`.");
    match stop {
        Stop::TimedOut { after_ms } => {
            let summary = format!("Operation timed out after {}", seconds(*after_ms));
            let message = format!("The time allowed, {}, is used up", seconds(*after_ms));
            let error = error("timeout", Some(Code::Timeout), message).recoverable(resumed);
            Account { verdict: Verdict::Partial, summary, error }
        }
        Stop::Stalled { after_ms } => {
            let summary = format!("Operation made no progress for {}", seconds(*after_ms));
            let error = error("stalled", Some(Code::Timeout), summary.clone()).recoverable(resumed);
            Account { verdict: Verdict::Partial, summary, error }
        }
        Stop::Cancelled { reason } => cancelled(*reason),
        Stop::Unanswered => unanswered(),
        Stop::Lost => {
            let summary = "Operation was lost when the runtime stopped".to_owned();
            let error =
                error("lost", Some(Code::UnknownError), summary.clone()).recoverable(resumed);
            Account { verdict: Verdict::ByWhatIsLeft, summary, error }
        }
        Stop::Budget(ceiling) => over_budget(*ceiling, resume),
        Stop::Invalid(violation) => {
            let summary = format!("The agent's return failed the check `{}`", violation.check);
            let error = error("validation", Some(violation.code), violation.message.clone());
            let advice = "Read the raw output that was kept, then retry with a note.".to_owned();
            Account { verdict: Verdict::Failed, summary, error: error.recoverable(advice) }
        }
        Stop::NoReturn { exit_code } => no_return(*exit_code),
        Stop::NotStarted { code, why } => not_started(*code, &short(why)),
    }
}

fn not_started(code: Code, why: &str) -> Account {
    let (summary, message) = if code == Code::WorkspaceFailed {
        let room = MAX_SUMMARY_CHARS.saturating_sub(NO_WORKSPACE.chars().count() + 1);
        let start: String = why.chars().take(room).collect();
        (format!("{NO_WORKSPACE}\n{start}"), format!("{NO_WORKSPACE}\n{why}"))
    } else {
        ("The agent could not be started".to_owned(), why.to_owned())
    };
    let error = ReturnError {
        recommendation: "Mend what stands in the way, then retry it.".to_owned(),
        ..error("not_started", Some(code), message)
    };
    Account { verdict: Verdict::Failed, summary: summary.trim_end().to_owned(), error }
}

fn unanswered() -> Account {
    let summary = "Operation waited for an approval that nobody gave".to_owned();
    let error = error("approval", Some(Code::PermissionDenied), summary.clone());
    let advice = "Retry it and approve it, or skip it.".to_owned();
    Account { verdict: Verdict::Blocked, summary, error: error.recoverable(advice) }
}

fn cancelled(reason: Option<&str>) -> Account {
    let reason = reason.map(short).filter(|reason| !reason.is_empty());
    let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let error = error("cancelled", None, format!("Somebody cancelled it{why}"));
    Account {
        verdict: Verdict::ByWhatIsLeft,
        summary: "Operation was cancelled".to_owned(),
        error: error.recoverable("Delegate it again if it is still wanted.".to_owned()),
    }
}

fn over_budget(ceiling: Ceiling, resume: &str) -> Account {
    let message = match ceiling {
        Ceiling::Tokens { used, ceiling } => format!("Used {used} of {ceiling} tokens"),
        Ceiling::Cost { used, ceiling } => format!("Spent {used} of {ceiling}"),
    };
    let error = error("budget", Some(Code::BudgetExceeded), message);
    let advice = format!("Raise the budget, then resume with `{resume}`.");
    Account {
        verdict: Verdict::Partial,
        summary: "Operation was stopped at its budget".to_owned(),
        error: error.recoverable(advice),
    }
}

fn no_return(exit_code: Option<i32>) -> Account {
    let (kind, code, message) = match exit_code {
        Some(0) => {
            let message = "The agent ended without a return".to_owned();
            ("validation", Code::ValidationFailed, message)
        }
        Some(exit) => {
            let message = format!("The agent exited with code {exit} and made no return");
            ("execution", Code::UnknownError, message)
        }
        None => {
            let message = "The agent was ended by a signal and made no return".to_owned();
            ("execution", Code::UnknownError, message)
        }
    };
    let advice = match exit_code {
        Some(0) => {
            "An agent ends with `legation submit --status completed --summary …`, or prints a \
             return; see its output with `legation trace`."
        }
        Some(_) | None => "Read the raw output that was kept, then retry.",
    };
    let advice = advice.to_owned();
    Account {
        verdict: Verdict::Failed,
        summary: message.clone(),
        error: error(kind, Some(code), message).recoverable(advice),
    }
}

fn error(kind: &str, code: Option<Code>, message: String) -> ReturnError {
    ReturnError {
        kind: kind.to_owned(),
        message,
        code: code.map(|code| code.as_str().to_owned()),
        recoverable: false,
        recommendation: String::new(),
    }
}

impl ReturnError {
    fn recoverable(self, recommendation: String) -> Self {
        Self { recoverable: true, recommendation, ..self }
    }
}

/// Words from outside, kept to a length that a message may have.
fn short(words: &str) -> String {
    words.trim().chars().take(MAX_REASON_CHARS).collect()
}

/// A span in seconds, with as many decimals as it needs: `3600s`, `2.5s`.
fn seconds(span_ms: u64) -> String {
    let (whole, rest) = (span_ms / 1_000, span_ms % 1_000);
    if rest == 0 {
        return format!("{whole}s");
    }
    let decimals = format!("{rest:03}");
    format!("{whole}.{}s", decimals.trim_end_matches('0'))
}
