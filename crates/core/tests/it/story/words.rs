//! Events, effects and trees in words.

use legation_core::money::Usd;
use legation_core::time::Now;
use legation_core::tree::event::{Body, Event, MergeOutcome, Retried, SubtaskEnded};
use legation_core::tree::ledger::{Account, Amount, Ledger};
use legation_core::tree::state::Delegation;
use legation_core::tree::{AttemptNo, DelegationNo, Effect, State, SubtaskNo};
use serde::Serialize;
use serde_json::Value;

use super::DAWN;

/// Dollars that a test wrote down.
pub(crate) fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).expect("a test's own amount")
}

pub(super) fn block(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The word of an enum as it stands in JSON.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value).expect("a word is JSON") {
        Value::String(word) => word,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    }
}

fn clock(at: Now) -> String {
    let ms = at.since_ms(DAWN);
    if ms.is_multiple_of(1000) { format!("+{}s", ms / 1000) } else { format!("+{ms}ms") }
}

fn subtask(state: &State, no: SubtaskNo) -> &str {
    state.subtasks[no].id.as_str()
}

/// `a#2` is the second attempt of the subtask `a`.
fn attempt(state: &State, no: AttemptNo) -> String {
    let owner = &state.subtasks[state.attempts[no].subtask];
    let nth = owner.attempts.iter().position(|other| *other == no).map_or(0, |at| at + 1);
    format!("{}#{nth}", owner.id)
}

fn delegation(state: &State, no: DelegationNo) -> &str {
    state.delegations[no].id.as_str()
}

fn amount(amount: Amount) -> String {
    format!("{} tokens and {}", amount.tokens, amount.cost)
}

/// One event in a line.
pub(super) fn event(state: &State, event: &Event) -> String {
    let of = |no: &AttemptNo| attempt(state, *no);
    let the = |no: &SubtaskNo| subtask(state, *no);
    let del = |no: &DelegationNo| delegation(state, *no);
    match &event.body {
        Body::TreeOpened(_) => "tree opened".to_owned(),
        Body::DelegationAccepted(new) => {
            let ids: Vec<&str> = new.subtasks.iter().map(|new| new.id.as_str()).collect();
            format!("{} accepted: {} {}", new.id, word(new.pattern), ids.join(" "))
        }
        Body::SubtasksAdded { delegation, subtasks } => {
            let ids: Vec<&str> = subtasks.iter().map(|new| new.id.as_str()).collect();
            format!("{} grows: {}", del(delegation), ids.join(" "))
        }
        Body::AttemptStarted(started) => {
            format!("{} starts, until {}", the(&started.subtask), clock(started.deadline))
        }
        Body::AttemptSpawned { attempt, .. } => format!("{} runs", of(attempt)),
        Body::UsageSettled { attempt, tokens, cost, context } => {
            let cost = cost.map_or(String::new(), |cost| format!(", {cost}"));
            let context = context.map_or(String::new(), |held| format!(", context {held}"));
            format!("{} has used {} tokens{cost}{context}", of(attempt), tokens.counted())
        }
        Body::ProgressMade { attempt, current, total, last_action } => {
            format!("{} is at {current} of {total}: {last_action}", of(attempt))
        }
        Body::ApprovalAsked { attempt, what } => format!("{} asks for {what}", of(attempt)),
        Body::ApprovalGiven { subtask, approved, by, reason } => {
            let said = if *approved { "approved" } else { "rejected" };
            format!("{} {said} by {by}: {reason}", the(subtask))
        }
        Body::ApprovalDelivered { attempt } => format!("{} was told the answer", of(attempt)),
        Body::WaitBegan { attempt, delegation } => {
            format!("{} waits for {}", of(attempt), del(delegation))
        }
        Body::AttemptFroze { attempt, frozen } => {
            format!("{} {}", of(attempt), if *frozen { "froze" } else { "thawed" })
        }
        Body::StopRequested { attempt, reason } => {
            format!("{} has to stop: {}", of(attempt), word(reason))
        }
        Body::AttemptEnded(ended) => {
            format!("{} ended {}: {}", of(&ended.attempt), word(ended.status), ended.answer.summary)
        }
        Body::RetryScheduled(retried) => retry(state, retried),
        Body::RetryDue { subtask } => format!("{} is due again", the(subtask)),
        Body::MergeRequested { subtask } => format!("{} waits for its merge", the(subtask)),
        Body::MergeEnded { subtask, outcome } => format!("{} {}", the(subtask), merge(outcome)),
        Body::SubtaskEnded(ended) => end(state, ended),
        Body::WinnerChosen { delegation, subtask } => {
            format!("{} chose {}", del(delegation), the(subtask))
        }
        Body::Paused { delegation, freeze, reason, .. } => {
            let how = if *freeze { "paused and frozen" } else { "paused" };
            format!("{} {how}: {reason}", del(delegation))
        }
        Body::Resumed { delegation } => format!("{} resumed", del(delegation)),
        Body::TimeRanOut { delegation } => format!("{} ran out of time", del(delegation)),
        Body::RestStopped { delegation } => format!("the rest of {} must stop", del(delegation)),
        Body::CancelRequested { delegation, by, reason, rollback } => {
            let also = if *rollback { ", with rollback" } else { "" };
            format!("{} cancelled by {by}: {reason}{also}", del(delegation))
        }
        Body::DelegationEnded { delegation, outcome, .. } => {
            format!("{} ended {}", del(delegation), outcome.as_str())
        }
        Body::DelegationReopened { delegation, .. } => format!("{} reopened", del(delegation)),
        Body::AnswerDelivered { delegation, not_brought } => match not_brought {
            Some(not) => format!("{} told: {}", del(delegation), not.why),
            None => format!("{} told", del(delegation)),
        },
        Body::RolledBack { delegation } => format!("{} rolled back", del(delegation)),
        Body::ResultLeft { delegation, why } => {
            format!("{} not rolled back: {why}", del(delegation))
        }
        Body::WorkspaceLeft { attempt, why } => format!("{} left: {why}", of(attempt)),
        Body::WorkspaceRemoved { attempt, kept } => {
            let kept = kept.as_ref().map_or(String::new(), |kept| format!(", kept as {kept}"));
            format!("{} cleared away{kept}", of(attempt))
        }
    }
}

fn retry(state: &State, retried: &Retried) -> String {
    let at = clock(retried.not_before);
    let name = subtask(state, retried.subtask);
    let mut text = format!("{name} is tried again ({}) at {at}", word(retried.cause));
    if let Some(cast) = &retried.agent {
        text.push_str(&format!(", by {}", cast.agent));
    }
    if let Some(note) = &retried.note {
        text.push_str(&format!(", told {note:?}"));
    }
    text
}

fn merge(outcome: &MergeOutcome) -> String {
    match outcome {
        MergeOutcome::Clean { .. } => "merged".to_owned(),
        MergeOutcome::Unverified { .. } => "does not pass when merged".to_owned(),
        MergeOutcome::Conflict { files, .. } => format!("conflicts in {}", files.join(", ")),
        MergeOutcome::Failed { code, message } => format!("cannot merge: {code} {message}"),
    }
}

fn end(state: &State, ended: &SubtaskEnded) -> String {
    let error = ended.error.as_ref().map_or(String::new(), |e| format!(": {}", e.message));
    format!("{} is {}{error}", subtask(state, ended.subtask), ended.outcome.as_str())
}

/// What is owed, in order, in a line.
pub(super) fn owed(state: &State, effects: &[Effect]) -> String {
    let of = |no: &AttemptNo| attempt(state, *no);
    let words = effects.iter().map(|effect| match effect {
        Effect::Deliver(no) => format!("deliver {}", delegation(state, *no)),
        Effect::Start(no) => format!("start {}", subtask(state, *no)),
        Effect::Spawn(no) => format!("spawn {}", of(no)),
        Effect::Stop(no, reason) => format!("stop {} ({})", of(no), word(reason)),
        Effect::Freeze(no) => format!("freeze {}", of(no)),
        Effect::Thaw(no) => format!("thaw {}", of(no)),
        Effect::Answer(no) => format!("answer {}", of(no)),
        Effect::Merge(no) => format!("merge {}", of(no)),
        Effect::StopMerge(no) => format!("break off the merge of {}", of(no)),
        Effect::RollBack(no) => format!("roll back {}", delegation(state, *no)),
        Effect::RemoveWorkspace(no) => format!("clear {}", of(no)),
        Effect::Wake(at) => format!("wake {}", clock(*at)),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// The tree, a line for each delegation and subtask.
pub(super) fn tree(state: &State) -> String {
    let mut lines = Vec::new();
    branch(state, DelegationNo(0), 0, &mut lines);
    block(&lines)
}

fn branch(state: &State, no: DelegationNo, indent: usize, lines: &mut Vec<String>) {
    let shift = "  ".repeat(indent);
    lines.push(format!("{shift}{} {}", delegation(state, no), state.delegation_status(no)));
    for no in &state.delegations[no].subtasks {
        let subtask = &state.subtasks[*no];
        let error = subtask.error.as_ref().map_or(String::new(), |e| format!(": {}", e.message));
        lines.push(format!("{shift}  {} {}{error}", subtask.id, state.status(*no)));
        for child in subtask.attempts.iter().flat_map(|no| &state.attempts[*no].children) {
            branch(state, *child, indent + 2, lines);
        }
    }
}

/// How a delegation ended, and what came of it.
pub(super) fn result(delegation: &Delegation) -> String {
    let outcome = delegation.ended.map_or("open", |outcome| outcome.as_str());
    let result = delegation.result.as_deref();
    let json = serde_json::to_string_pretty(&result).expect("a result is JSON");
    format!("{outcome} {json}\n")
}

/// The tree's own account and that of each subtask.
pub(super) fn accounts(state: &State) -> String {
    let mut lines = vec![account("tree", state.ledger.get(Ledger::TREE))];
    for (_, subtask) in state.subtasks.iter() {
        lines.push(account(subtask.id.as_str(), state.ledger.get(subtask.account)));
    }
    block(&lines)
}

fn account(name: &str, account: &Account) -> String {
    let open = if account.open { "" } else { ", closed" };
    format!(
        "{name}: {} of {} used, {} reserved{open}",
        amount(account.used),
        amount(account.ceiling),
        amount(account.reserved)
    )
}
