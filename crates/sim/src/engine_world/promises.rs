//! What was promised to whom, so that it can be held against the log.

use std::collections::{BTreeMap, BTreeSet};

use legation_core::ids::{AttemptId, DelegationId};
use legation_core::tree::State;
use legation_core::tree::event::{Body, Event, MergeOutcome};
use legation_engine::{Accepted, Answer};
use legation_store::{Journal as _, MAX_READ, Memory};

use super::hub::{Hub, Inner, Tree};
use crate::check;

/// What was promised to whom.
#[derive(Default)]
pub(super) struct Promises {
    /// Delegations that somebody was told are accepted, with their trees.
    accepted: BTreeSet<(DelegationId, DelegationId)>,
    /// What a caller's key stands for.
    keys: BTreeMap<String, DelegationId>,
    /// How the world says merges went.
    pub(super) merges: BTreeMap<AttemptId, MergeOutcome>,
    /// How delegations have ended, each time they did.
    endings: BTreeSet<(DelegationId, &'static str)>,
}

impl Inner {
    /// Somebody was told that a delegation is accepted.
    pub(super) fn acknowledged(
        &mut self,
        tree: &DelegationId,
        accepted: &Accepted,
        key: Option<&str>,
    ) {
        let id = &accepted.id;
        self.say(format!("accepted {id} in {tree}, again {}", accepted.again));
        let found = self.trees.get(tree).and_then(|tree| tree.state.find(id));
        if found.is_none() {
            self.fail("what is acknowledged is in the log", format!("{id} of {tree}"));
        }
        self.promises.accepted.insert((tree.clone(), id.clone()));
        let Some(key) = key else { return };
        let known = self.promises.keys.entry(key.to_owned()).or_insert_with(|| id.clone()).clone();
        if known != *id {
            self.fail("the same key is the same delegation", format!("{key}: {known} and {id}"));
        }
    }

    /// Somebody has the answer of a delegation.
    pub(super) fn answered(&mut self, id: &DelegationId, answer: &Answer) {
        self.say(format!("answered {id}: {}", answer.status));
        if !self.promises.endings.contains(&(id.clone(), answer.status)) {
            let detail = format!("{id} is said to be {}", answer.status);
            self.fail("an answer is what the log says", detail);
        }
    }

    /// Looks at an event before it is folded.
    pub(super) fn note(&mut self, state: &State, event: &Event) {
        if let Body::DelegationEnded { delegation, outcome, .. } = &event.body {
            let id = state.delegations[*delegation].id.clone();
            self.promises.endings.insert((id, outcome.as_str()));
        }
        if let Body::MergeEnded { subtask, outcome } = &event.body {
            // Where a conflict was resolved, it is the resolver's work that was merged.
            let subtask = &state.subtasks[*subtask];
            let resolver = subtask.resolver.map(|no| &state.subtasks[no]);
            let last = resolver.unwrap_or(subtask).attempts.last();
            let told = last.and_then(|no| self.promises.merges.get(&state.attempts[*no].id));
            if told != Some(outcome) {
                let detail = format!("told {told:?}, recorded {outcome:?}");
                self.fail("a merge is recorded as it went", detail);
            }
        }
    }

    /// What must hold once all is over.
    pub(super) fn check_all(&mut self) {
        let trees = std::mem::take(&mut self.trees);
        for tree in trees.values() {
            self.hold(check::log(&tree.state, &tree.events, true));
            self.hold(check::replayed(&tree.state, &tree.lines).map(drop));
        }
        self.trees = trees;
    }
}

/// What a journal holds, as far as promises are concerned.
pub(super) struct Held {
    lines: BTreeMap<DelegationId, Vec<String>>,
    rows: BTreeMap<DelegationId, String>,
}

/// Reads what the journal holds of everything that was ever written or promised.
pub(super) async fn held(hub: &Hub, memory: &Memory) -> Held {
    let (trees, accepted) = {
        let inner = hub.lock();
        let trees: Vec<DelegationId> = inner.trees.keys().cloned().collect();
        (trees, inner.promises.accepted.clone())
    };
    let mut held = Held { lines: BTreeMap::new(), rows: BTreeMap::new() };
    for tree in trees {
        let entries = memory.read(tree.as_str(), 0, MAX_READ).await.unwrap_or_default();
        held.lines.insert(tree, entries.into_iter().map(|entry| entry.event).collect());
    }
    for (_, id) in accepted {
        if let Ok(Some(row)) = memory.delegation(id.as_str()).await {
            held.rows.insert(id, row.tree);
        }
    }
    held
}

impl Inner {
    /// The journal still has everything that it was seen to write, and everything
    /// that was promised.
    pub(super) fn check_held(&mut self, held: &Held) {
        let differs =
            |(id, tree): &(&DelegationId, &Tree)| held.lines.get(*id) != Some(&tree.lines);
        let lost = self.trees.iter().find(differs).map(|(id, _)| id.to_string());
        if let Some(id) = lost {
            self.fail("the journal keeps what it has", id);
        }
        let forgotten = |(tree, id): &&(DelegationId, DelegationId)| {
            let found = self.trees.get(tree).and_then(|tree| tree.state.find(id));
            found.is_none() || held.rows.get(id).map(String::as_str) != Some(tree.as_str())
        };
        let forgotten = self.promises.accepted.iter().find(forgotten).cloned();
        if let Some((tree, id)) = forgotten {
            self.fail("what is acknowledged survives", format!("{id} of {tree}"));
        }
    }
}
