//! Reading what the journal holds, with or without an engine at work.

use std::path::Path;

use legation_core::ids::DelegationId;
use legation_core::money::Usd;
use legation_core::prices::AS_OF;
use legation_core::time::Now;
use legation_core::tree::view::{self, Stamp};
use legation_core::tree::{DelegationNo, Event, State, evolve};
pub use legation_store::{Delegation, MAX_PAGE, Page, PastPage};
use legation_store::{Journal, MAX_READ, Past, Sqlite};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::Error;
use crate::record;

/// The state of a tree, folded from its log; of one that has none, the state before
/// the first event.
pub(crate) async fn state(journal: &impl Journal, tree: &DelegationId) -> Result<State, Error> {
    let mut state = State::default();
    let unreadable = |detail: String| Error::Unreadable { tree: tree.clone(), detail };
    loop {
        let entries = journal.read(tree.as_str(), state.seq, MAX_READ).await?;
        if entries.is_empty() {
            return Ok(state);
        }
        for entry in entries {
            let event: Event = record::decode(&entry.event)
                .map_err(|problem| unreadable(format!("event {}: {problem}", entry.seq)))?;
            if event.v > legation_core::tree::event::VERSION {
                return Err(unreadable(format!(
                    "event {} was written by a newer release",
                    entry.seq
                )));
            }
            evolve(&mut state, &event);
            if state.seq != entry.seq {
                return Err(unreadable(format!(
                    "event {} does not fit those before it",
                    entry.seq
                )));
            }
        }
    }
}

/// Whether nothing of a tree is open any more; one that was forgotten has long been over.
pub(crate) async fn is_over(journal: &impl Journal, tree: &DelegationId) -> Result<bool, Error> {
    let state = state(journal, tree).await?;
    Ok(state.delegations.is_empty() || state.is_over())
}

/// A project's journal, for reading only. Nothing is started and nothing changed.
#[derive(Debug)]
pub struct Reader {
    journal: Sqlite,
}

/// What of a delegation is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// How it stands, with everything below.
    #[default]
    Status,
    /// What ran when.
    Trace,
    /// What it cost.
    Cost,
}

impl Sight {
    /// What there is to see, in the form that programs are given.
    pub fn of(self, state: &State, no: DelegationNo, now: Now) -> Value {
        let id = &state.delegations[no].id;
        match self {
            Self::Status => serde_json::to_value(view::status(state, no, now)).unwrap_or_default(),
            Self::Trace => json!({"delegationId": id, "spans": view::trace(state, no, now)}),
            Self::Cost => {
                let tree = view::cost(state, no);
                json!({
                    "delegationId": id, "totalUsd": tree.total_usd, "unknown": tree.unknown,
                    "tokens": tree.tokens, "pricesAsOf": AS_OF, "tree": tree,
                })
            }
        }
    }
}

/// A delegation in its tree.
#[derive(Clone, Debug)]
pub struct Found {
    /// The tree.
    pub state: State,
    /// The delegation.
    pub no: DelegationNo,
}

impl Reader {
    /// Opens the journal at this path; none if nothing was delegated here yet.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        match Sqlite::open_read_only(path) {
            Ok(journal) => Ok(Some(Self { journal })),
            Err(legation_store::Error::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks through the whole file for damage; the larger it is, the longer that takes.
    pub async fn check(&self) -> Result<(), Error> {
        Ok(self.journal.check().await?)
    }

    /// A delegation with everything in its tree.
    pub async fn find(&self, id: &DelegationId) -> Result<Found, Error> {
        let not_found = || Error::NotFound(id.clone());
        let row = self.journal.delegation(id.as_str()).await?.ok_or_else(not_found)?;
        let state = state(&self.journal, &DelegationId::from(row.tree)).await?;
        let no = state.find(id).ok_or_else(not_found)?;
        Ok(Found { state, no })
    }

    /// Whether nothing of a tree is open any more; one that is not known is over.
    pub async fn is_over(&self, tree: &DelegationId) -> Result<bool, Error> {
        is_over(&self.journal, tree).await
    }

    /// Delegations that have not ended, those accepted last first.
    pub async fn active(&self, limit: usize) -> Result<Vec<Delegation>, Error> {
        Ok(self.journal.active(Page::first(limit)).await?)
    }

    /// Delegations that have ended, those that ended last first.
    pub async fn history(
        &self,
        status: Option<String>,
        since: Option<Now>,
        page: Page,
    ) -> Result<PastPage, Error> {
        let since = since.map(|at| i64::try_from(at.0).unwrap_or(i64::MAX));
        Ok(self.journal.history(Past { status, since, page }).await?)
    }

    /// The delegations whose ids begin so, at most `limit` of those accepted last.
    pub async fn beginning_with(&self, start: &str, limit: usize) -> Result<Vec<String>, Error> {
        let active = self.active(MAX_PAGE).await?;
        let past = self.history(None, None, Page::first(MAX_PAGE)).await?;
        let all = active.into_iter().chain(past.delegations).map(|found| found.id);
        Ok(all.filter(|id| id.starts_with(start)).take(limit).collect())
    }
}

/// A delegation as an entry of a list.
pub fn listed(row: &Delegation) -> Value {
    let stamp = |at: i64| Stamp(Now(u64::try_from(at).unwrap_or(0)));
    let dollars = row.cost_nanos.and_then(|nanos| u64::try_from(nanos).ok());
    let lasted = row.started_at.zip(row.ended_at).map(|(from, to)| to.saturating_sub(from));
    json!({
        "delegationId": row.id, "taskId": row.task_id, "title": row.title,
        "status": row.status, "pattern": row.pattern, "treeId": row.tree, "parentId": row.parent,
        "acceptedAt": stamp(row.accepted_at), "startedAt": row.started_at.map(stamp),
        "endedAt": row.ended_at.map(stamp), "elapsedTime": lasted,
        "tokensUsed": Some(row.tokens_used).filter(|used| *used > 0),
        "estimatedCost": dollars.map(Usd::from_nanos),
    })
}
