//! Events as the journal keeps them, and the rows that follow from them.

use std::collections::BTreeSet;

use legation_core::tree::event::Body;
use legation_core::tree::{DelegationNo, Event, State};
use legation_store::{Delegation, Row};

/// Among whose names the idempotency keys of roots are unique.
pub(crate) const ROOT_KEYS: &str = "root";

/// The texts of events.
pub(crate) fn encode(events: &[Event]) -> Result<Vec<String>, serde_json::Error> {
    events.iter().map(serde_json::to_string).collect()
}

/// The event of a text.
pub(crate) fn decode(text: &str) -> Result<Event, serde_json::Error> {
    serde_json::from_str(text)
}

/// The delegations whose rows these events change, after they were folded.
pub(crate) fn touched(state: &State, events: &[Event]) -> BTreeSet<DelegationNo> {
    let mut found = BTreeSet::new();
    for event in events {
        found.extend(about(state, &event.body));
    }
    found
}

/// The delegation an event is about, if a list would show the change.
fn about(state: &State, body: &Body) -> Option<DelegationNo> {
    match body {
        Body::DelegationAccepted(accepted) => state.find(&accepted.id),
        Body::AttemptStarted(started) => Some(state.subtasks[started.subtask].delegation),
        Body::AttemptEnded(ended) => Some(state.delegation_of(ended.attempt)),
        Body::UsageSettled { attempt, .. } => Some(state.delegation_of(*attempt)),
        Body::Paused { delegation, .. }
        | Body::Resumed { delegation }
        | Body::DelegationEnded { delegation, .. }
        | Body::DelegationReopened { delegation, .. }
        | Body::AnswerDelivered { delegation, not_brought: Some(_) } => Some(*delegation),
        Body::TreeOpened(_)
        | Body::SubtasksAdded { .. }
        | Body::AttemptSpawned { .. }
        | Body::ProgressMade { .. }
        | Body::ApprovalAsked { .. }
        | Body::ApprovalGiven { .. }
        | Body::ApprovalDelivered { .. }
        | Body::WaitBegan { .. }
        | Body::AttemptFroze { .. }
        | Body::StopRequested { .. }
        | Body::RetryScheduled(_)
        | Body::RetryDue { .. }
        | Body::MergeRequested { .. }
        | Body::MergeEnded { .. }
        | Body::SubtaskEnded(_)
        | Body::WinnerChosen { .. }
        | Body::TimeRanOut { .. }
        | Body::RestStopped { .. }
        | Body::CancelRequested { .. }
        | Body::AnswerDelivered { not_brought: None, .. }
        | Body::RolledBack { .. }
        | Body::ResultLeft { .. }
        | Body::WorkspaceLeft { .. }
        | Body::WorkspaceRemoved { .. } => None,
    }
}

/// The rows that follow from a batch of events: how delegations stand, the keys of
/// callers, and whether the tree is over.
pub(crate) fn rows(state: &State, tree: &str, events: &[Event], was_over: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for no in touched(state, events) {
        rows.push(Row::Delegation(row(state, tree, no)));
    }
    for event in events {
        if let Body::DelegationAccepted(accepted) = &event.body
            && accepted.parent.is_none()
            && let Some(key) = &accepted.idempotency_key
        {
            let (scope, delegation) = (ROOT_KEYS.to_owned(), accepted.id.to_string());
            rows.push(Row::Key { scope, key: key.clone(), delegation });
        }
    }
    let over = state.is_over();
    if over != was_over {
        let ended_at = over.then(|| millis(state.seen_at.0));
        rows.push(Row::Tree { ended_at });
    }
    rows
}

/// A delegation as lists have it.
pub(crate) fn row(state: &State, tree: &str, no: DelegationNo) -> Delegation {
    let delegation = &state.delegations[no];
    let parent = delegation.parent.map(|no| state.delegation_of(no));
    let cost = delegation.used.cost.nanos();
    Delegation {
        id: delegation.id.to_string(),
        tree: tree.to_owned(),
        parent: parent.map(|no| state.delegations[no].id.to_string()),
        task_id: delegation.task_id.to_string(),
        title: delegation.title.clone(),
        pattern: delegation.pattern.as_str().to_owned(),
        status: state.delegation_status(no).to_owned(),
        accepted_at: millis(delegation.accepted_at.0),
        started_at: delegation.started_at.map(|at| millis(at.0)),
        ended_at: delegation.ended_at.map(|at| millis(at.0)),
        tokens_used: i64::try_from(delegation.used.tokens).unwrap_or(i64::MAX),
        // Zero may mean that nobody told; the tree itself knows which, a list says less.
        cost_nanos: i64::try_from(cost).ok().filter(|nanos| *nanos > 0),
    }
}

fn millis(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}
