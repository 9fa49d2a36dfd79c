//! What happened, in a form that people and programs outside can read.
//!
//! An event speaks in numbers that only its tree understands; news speaks in names.
//! The log files, the lines on a terminal and the event stream are made from it.

use legation_core::config::Pattern;
use legation_core::ids::{AgentId, AttemptId, DelegationId, SessionId, SubtaskId};
use legation_core::money::Usd;
use legation_core::returns::{RefusedEntry, ReturnError, StopReason, Tokens};
use legation_core::tree::event::{Accepted, Body, MergeOutcome, Outcome, SubtaskEnded};
use legation_core::tree::view::Stamp;
use legation_core::tree::{AttemptNo, DelegationNo, Event, State, SubtaskNo};
use serde::{Deserialize, Serialize};

/// Something that happened in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct News {
    /// When.
    pub timestamp: String,
    /// The number of the event in its tree.
    pub seq: u64,
    /// The tree.
    pub tree: DelegationId,
    /// The delegation it is about.
    pub delegation: DelegationId,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A delegation was accepted.
    Accepted {
        /// The task, in a line.
        title: String,
        /// How the subtasks are run.
        pattern: Pattern,
        /// How many it starts with.
        subtasks: usize,
        /// How deep they stand.
        depth: u32,
    },
    /// A pattern added subtasks.
    Grew {
        /// Which.
        subtasks: Vec<SubtaskId>,
    },
    /// An attempt started.
    Started(Run),
    /// An attempt got on.
    Progress {
        /// Which.
        run: Run,
        /// Steps done.
        current: u64,
        /// Steps in all.
        total: u64,
        /// What it did last.
        last_action: String,
    },
    /// An attempt used more; the figures are those of all so far.
    Used {
        /// Which.
        run: Run,
        /// Tokens by kind.
        tokens: Tokens,
        /// Dollars; absent where unknown.
        cost_usd: Option<Usd>,
    },
    /// An attempt ended.
    Ended {
        /// Which.
        run: Run,
        /// How.
        status: String,
        /// What it said.
        summary: String,
        /// Milliseconds it took.
        duration_ms: u64,
        /// Tokens; absent where unknown.
        tokens: Option<Tokens>,
        /// Dollars; absent where unknown.
        cost_usd: Option<Usd>,
        /// Files that differ from the base.
        files_changed: Vec<String>,
        /// What went wrong.
        errors: Vec<ReturnError>,
        /// Entries in its output that nobody was asked to do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<RefusedEntry>,
    },
    /// A subtask waits for a human.
    Asked {
        /// Which.
        run: Run,
        /// For what.
        what: String,
    },
    /// A subtask will be tried again.
    Retried {
        /// Which.
        subtask: SubtaskId,
        /// Why.
        why: String,
    },
    /// A merge was tried.
    Merged {
        /// Which.
        subtask: SubtaskId,
        /// Whether it went in.
        clean: bool,
        /// What was in the way.
        detail: String,
    },
    /// A subtask ended.
    SubtaskEnded {
        /// Which.
        subtask: SubtaskId,
        /// How.
        status: String,
    },
    /// Nothing new starts.
    Paused {
        /// Why.
        reason: String,
    },
    /// It goes on.
    Resumed,
    /// It has to stop.
    CancelRequested {
        /// Who said so.
        by: String,
        /// Why.
        reason: String,
    },
    /// Something could not be cleared away, and is still where it was.
    LeftBehind {
        /// What, why and where.
        detail: String,
    },
    /// A delegation ended.
    Finished {
        /// How.
        status: String,
        /// What came of it.
        summary: String,
        /// Milliseconds it took.
        duration_ms: u64,
        /// Tokens that count.
        tokens: u64,
        /// Whether it is the root, and with it the tree.
        root: bool,
    },
}

/// An attempt, by its names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The attempt.
    pub attempt: AttemptId,
    /// What it is called in its return.
    pub session: SessionId,
    /// The attempt that asked; absent below a root.
    pub parent: Option<AttemptId>,
    /// The subtask that attempt works on.
    pub parent_subtask: Option<SubtaskId>,
    /// The task of the delegation.
    pub task: String,
    /// What it works on.
    pub subtask: SubtaskId,
    /// In a line.
    pub title: String,
    /// Who runs.
    pub agent: AgentId,
    /// How deep it stands.
    pub depth: u32,
}

/// What an event means to people outside; nothing for what is only bookkeeping.
pub fn tell(state: &State, event: &Event, seq: u64) -> impl Iterator<Item = News> {
    let told = decided(state, &event.body).into_iter().chain(what(state, event));
    told.filter_map(move |(delegation, what)| {
        let (_, root) = state.delegations.iter().next()?;
        Some(News {
            timestamp: Stamp(event.at).to_string(),
            seq,
            tree: root.id.clone(),
            delegation: state.delegations[delegation].id.clone(),
            what,
        })
    })
}

/// The ends that were held back until it was known whose work is merged: those of an
/// ensemble's members that were not chosen.
fn decided(state: &State, body: &Body) -> Vec<(DelegationNo, What)> {
    let (Body::WinnerChosen { delegation, .. } | Body::DelegationEnded { delegation, .. }) = body
    else {
        return Vec::new();
    };
    let delegation = *delegation;
    let is_choice = matches!(body, Body::WinnerChosen { .. });
    if !is_choice && state.delegations[delegation].winner.is_some() {
        return Vec::new();
    }
    let members = state.delegations[delegation].subtasks.iter().copied();
    let is_over = |no: &SubtaskNo| state.subtasks[*no].outcome() == Some(Outcome::Completed);
    let held = members.filter(is_over).filter(|no| state.is_candidate(*no));
    held.map(|no| (delegation, subtask_ended(state, no, Outcome::Completed))).collect()
}

fn subtask_ended(state: &State, no: SubtaskNo, outcome: Outcome) -> What {
    What::SubtaskEnded {
        subtask: state.subtasks[no].id.clone(),
        status: outcome.as_str().to_owned(),
    }
}

fn what(state: &State, event: &Event) -> Option<(DelegationNo, What)> {
    let of = |no: SubtaskNo| state.subtasks[no].delegation;
    let id = |no: SubtaskNo| state.subtasks[no].id.clone();
    Some(match &event.body {
        Body::DelegationAccepted(accepted) => {
            let no = state.find(&accepted.id)?;
            (no, taken_on(accepted, state.delegations[no].depth))
        }
        Body::SubtasksAdded { delegation, subtasks } => {
            let subtasks = subtasks.iter().map(|subtask| subtask.id.clone()).collect();
            (*delegation, What::Grew { subtasks })
        }
        Body::AttemptStarted(started) => {
            let no = state.find_attempt(&started.id)?;
            (state.delegation_of(no), What::Started(run(state, no)))
        }
        Body::ProgressMade { attempt, current, total, last_action } => {
            let what = What::Progress {
                run: run(state, *attempt),
                current: *current,
                total: *total,
                last_action: last_action.clone(),
            };
            (state.delegation_of(*attempt), what)
        }
        Body::UsageSettled { attempt, tokens, cost, .. } => {
            let run = run(state, *attempt);
            (state.delegation_of(*attempt), What::Used { run, tokens: *tokens, cost_usd: *cost })
        }
        Body::ApprovalAsked { attempt, what } => {
            (state.delegation_of(*attempt), asked(state, *attempt, what))
        }
        Body::AttemptEnded(end) => (state.delegation_of(end.attempt), ended(state, end.attempt)?),
        Body::RetryScheduled(retried) => {
            let why = retried.note.clone().unwrap_or_else(|| format!("{:?}", retried.cause));
            (of(retried.subtask), What::Retried { subtask: id(retried.subtask), why })
        }
        Body::MergeEnded { subtask, outcome } => (of(*subtask), merged(id(*subtask), outcome)),
        Body::SubtaskEnded(SubtaskEnded { subtask, outcome, .. }) => {
            let is_held = *outcome == Outcome::Completed && state.is_candidate(*subtask);
            (of(*subtask), (!is_held).then(|| subtask_ended(state, *subtask, *outcome))?)
        }
        Body::Paused { delegation, reason, .. } => {
            (*delegation, What::Paused { reason: reason.clone() })
        }
        Body::Resumed { delegation } => (*delegation, What::Resumed),
        Body::CancelRequested { delegation, by, reason, .. } => {
            let (by, reason) = (by.clone(), reason.clone());
            (*delegation, What::CancelRequested { by, reason })
        }
        Body::DelegationEnded { delegation, .. } => (*delegation, finished(state, *delegation)),
        Body::ResultLeft { delegation, why } => (*delegation, left_behind(why)),
        Body::WorkspaceLeft { attempt, why } => (state.delegation_of(*attempt), left_behind(why)),
        Body::TreeOpened(_)
        | Body::AttemptSpawned { .. }
        | Body::ApprovalGiven { .. }
        | Body::ApprovalDelivered { .. }
        | Body::WaitBegan { .. }
        | Body::AttemptFroze { .. }
        | Body::StopRequested { .. }
        | Body::RetryDue { .. }
        | Body::MergeRequested { .. }
        | Body::WinnerChosen { .. }
        | Body::TimeRanOut { .. }
        | Body::RestStopped { .. }
        | Body::DelegationReopened { .. }
        | Body::AnswerDelivered { .. }
        | Body::RolledBack { .. }
        | Body::WorkspaceRemoved { .. } => return None,
    })
}

fn left_behind(why: &str) -> What {
    What::LeftBehind { detail: why.to_owned() }
}

fn asked(state: &State, no: AttemptNo, what: &str) -> What {
    What::Asked { run: run(state, no), what: what.to_owned() }
}

fn taken_on(accepted: &Accepted, depth: u32) -> What {
    What::Accepted {
        title: accepted.title.clone(),
        pattern: accepted.pattern,
        subtasks: accepted.subtasks.len(),
        depth,
    }
}

fn run(state: &State, no: AttemptNo) -> Run {
    let attempt = &state.attempts[no];
    let subtask = &state.subtasks[attempt.subtask];
    let delegation = &state.delegations[subtask.delegation];
    let parent = delegation.parent.map(|no| &state.attempts[no]);
    Run {
        attempt: attempt.id.clone(),
        session: attempt.session.clone(),
        parent: parent.map(|parent| parent.id.clone()),
        parent_subtask: parent.map(|parent| state.subtasks[parent.subtask].id.clone()),
        task: delegation.task_id.to_string(),
        subtask: subtask.id.clone(),
        title: subtask.title.clone(),
        agent: attempt.agent.clone(),
        depth: attempt.depth,
    }
}

fn ended(state: &State, no: AttemptNo) -> Option<What> {
    let end = state.attempts[no].end.as_deref()?;
    // A return knows no such status: who was stopped made none.
    let cancelled = end.receipt.stop_reason == StopReason::Cancelled;
    let outcome = if cancelled { Outcome::Cancelled } else { end.status.into() };
    Some(What::Ended {
        run: run(state, no),
        status: outcome.as_str().to_owned(),
        summary: end.answer.summary.clone(),
        duration_ms: end.receipt.duration_ms,
        tokens: end.receipt.tokens,
        cost_usd: end.receipt.cost_usd,
        files_changed: end.receipt.files_changed.clone(),
        errors: end.answer.errors.clone(),
        refused: end.receipt.refused.clone(),
    })
}

fn merged(subtask: SubtaskId, outcome: &MergeOutcome) -> What {
    let detail = match outcome {
        MergeOutcome::Clean { .. } => String::new(),
        MergeOutcome::Conflict { files, .. } => format!("conflict in {}", files.join(", ")),
        MergeOutcome::Unverified { verify } => {
            let failed = verify.iter().filter(|check| check.exit_code != Some(0));
            let failed: Vec<String> = failed.map(|check| format!("`{}`", check.command)).collect();
            format!("the merged files do not pass {}", failed.join(", "))
        }
        MergeOutcome::Failed { message, .. } => message.clone(),
    };
    What::Merged { subtask, clean: matches!(outcome, MergeOutcome::Clean { .. }), detail }
}

fn finished(state: &State, no: DelegationNo) -> What {
    let delegation = &state.delegations[no];
    What::Finished {
        status: state.delegation_status(no).to_owned(),
        summary: delegation.result.as_ref().map(|it| it.summary.clone()).unwrap_or_default(),
        duration_ms: delegation.elapsed_ms(state.seen_at),
        tokens: delegation.used.tokens,
        root: delegation.parent.is_none(),
    }
}
