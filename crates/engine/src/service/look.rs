//! Looking: how a delegation stands, which there are, who may be delegated to.
//!
//! An attempt sees what it has delegated itself, with everything below, and nothing else.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use legation_core::Code;
use legation_core::agent::may_delegate;
use legation_core::ids::{AgentId, DelegationId};
use legation_core::tree::bounds;
use legation_core::tree::rejection::Refusal;
use legation_core::tree::{DelegationNo, State};
use legation_store::{Delegation, Journal as _, Page, Past};
use serde_json::{Value, json};

use super::Service;
use super::caller::Who;
use super::refuse::{trouble, unreachable};
use crate::engine::Error;
use crate::host::{Home, Host};
use crate::protocol::{Refused, Reply};
use crate::read::{Sight, listed};
use crate::record;
use crate::world::World as _;

/// Delegations of each kind that a list has.
const MAX_LISTED: usize = 50;

impl<H: Host> Service<H> {
    /// What there is to see of a delegation.
    pub(super) async fn look(
        &self,
        who: &Who,
        id: &DelegationId,
        sight: Sight,
    ) -> Result<Value, Refused> {
        let tree = self.engine.tree_of(id).await.map_err(|error| unreachable(&error))?;
        let (wanted, now) = (id.clone(), self.real.now());
        let (caller, free) = (who.caller(), self.engine.free_slots());
        let asker = who.clone();
        let seen = self.engine.look(&tree, move |state| {
            let no = state.find(&wanted)?;
            if !may_see(state, &asker, no) {
                return Some(Err(not_seen()));
            }
            let mut seen = sight.of(state, no, now);
            let remaining = bounds::remaining(state, &caller, now, free);
            if let (Sight::Status, Some(left), Some(seen)) =
                (sight, remaining, seen.as_object_mut())
            {
                seen.insert("remaining".to_owned(), json!(left));
            }
            Some(Ok(seen))
        });
        let seen = seen.await.map_err(|error| unreachable(&error))?;
        let seen = seen.ok_or_else(|| unreachable(&Error::NotFound(id.clone())))?;
        seen.map_err(|refusal| Refused::from(&refusal))
    }

    /// Delegations under way, then those that ended last; an attempt's own only.
    pub(super) async fn list(&self, who: &Who) -> Result<Reply, Refused> {
        let rows = match who {
            Who::Root { .. } => self.latest().await?,
            Who::Attempt { tree, .. } => {
                let (asker, name) = (who.clone(), tree.to_string());
                let own = self.engine.look(tree, move |state| own(state, &asker, &name));
                own.await.map_err(|error| unreachable(&error))?
            }
        };
        let delegations: Vec<Value> = rows.iter().map(listed).collect();
        Ok(Reply::Done(json!({"delegations": delegations})))
    }

    /// The latest of all trees.
    async fn latest(&self) -> Result<Vec<Delegation>, Refused> {
        let failed = |error: legation_store::Error| unreachable(&Error::from(error));
        let journal = self.engine.journal();
        let active = journal.active(Page::first(MAX_LISTED)).await.map_err(failed)?;
        let past = Past { status: None, since: None, page: Page::first(MAX_LISTED) };
        let past = journal.history(past).await.map_err(failed)?;
        Ok(active.into_iter().chain(past.delegations).collect())
    }

    /// The agents that the caller may delegate to, and whether there is a program for each.
    pub(super) async fn agents(
        self: &Arc<Self>,
        who: &Who,
        env: BTreeMap<String, String>,
    ) -> Result<Reply, Refused> {
        let home = self.home_of(who, env).await?;
        let mut names: Vec<&str> = home.roster.names().collect();
        names.sort_unstable();
        let seen = self.seen_by(who);
        let mut agents = Vec::new();
        for id in names.into_iter().map(AgentId::new) {
            let allowed = may_delegate(&home.roster, path(who), &id).is_ok();
            let Ok(definition) = home.roster.resolve(path(who).last(), &id) else { continue };
            let runs = self.real.can_run(&id, path(who).last(), &seen);
            if allowed {
                let description = &definition.description;
                agents.push(json!({"id": id, "description": description, "runnable": runs}));
            }
        }
        Ok(Reply::Done(json!({"agents": agents})))
    }

    /// What an agent would be allowed, name by name, and which layer decides.
    pub(super) async fn explain(
        self: &Arc<Self>,
        who: &Who,
        (parent, child): (Option<AgentId>, AgentId),
        env: BTreeMap<String, String>,
    ) -> Result<Reply, Refused> {
        let home = self.home_of(who, env).await?;
        let callers: Vec<AgentId> = path(who).iter().cloned().chain(parent).collect();
        let account = home.roster.account(&callers, &child);
        let account = account.map_err(|no| Refused::from(&refusal(no)))?;
        let permissions = account.permissions;
        Ok(Reply::Done(json!({
            "allowed": account.answer.is_ok(), "reason": account.reason, "child": child,
            "tools": permissions.explain(&permissions.tools()),
        })))
    }

    /// What the caller may still ask for, whatever it has asked for so far.
    pub(super) async fn tell_remaining(
        self: &Arc<Self>,
        who: &Who,
        env: BTreeMap<String, String>,
    ) -> Result<Reply, Refused> {
        let home = self.home_of(who, env).await?;
        Ok(Reply::Done(json!({"remaining": self.remaining(who, &home).await})))
    }

    async fn home_of(
        self: &Arc<Self>,
        who: &Who,
        env: BTreeMap<String, String>,
    ) -> Result<Arc<Home>, Refused> {
        let env = if matches!(who, Who::Root { .. }) { env } else { BTreeMap::new() };
        self.home(env).await.map_err(|problem| trouble(&problem))
    }
}

/// Whether a delegation is any business of whoever asks.
fn may_see(state: &State, who: &Who, no: DelegationNo) -> bool {
    match who {
        Who::Root { .. } => true,
        Who::Attempt { attempt, .. } => {
            state.find_attempt(attempt).is_some_and(|attempt| state.is_from(no, attempt))
        }
    }
}

/// What an attempt has delegated: what is under way, then what ended last.
fn own(state: &State, who: &Who, tree: &str) -> Vec<Delegation> {
    let is_own = |no: &DelegationNo| may_see(state, who, *no);
    let all = state.delegations.iter().map(|(no, _)| no).filter(is_own);
    let rows: Vec<Delegation> = all.map(|no| record::row(state, tree, no)).collect();
    let (mut past, active): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row.ended_at.is_some());
    past.sort_by_key(|row| Reverse(row.ended_at));
    let active = active.into_iter().rev().take(MAX_LISTED);
    active.chain(past.into_iter().take(MAX_LISTED)).collect()
}

fn not_seen() -> Refusal {
    Refusal::new(
        Code::PermissionDenied,
        "An attempt may only look at what it has delegated itself.",
        "`legation status --all` lists that.",
    )
}

/// The agents from the first below the root to the caller.
fn path(who: &Who) -> &[AgentId] {
    match who {
        Who::Root { .. } => &[],
        Who::Attempt { path, .. } => path,
    }
}

fn refusal(no: legation_core::agent::Refusal) -> Refusal {
    Refusal::new(no.code, no.message, no.hint)
}
