//! Looking: how a delegation stands, which there are, who may be delegated to.
//!
//! An attempt sees its own tree and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use legation_core::agent::may_delegate;
use legation_core::ids::{AgentId, DelegationId};
use legation_core::tree::bounds;
use legation_core::tree::rejection::Refusal;
use legation_core::tree::view;
use legation_store::{Delegation, Journal as _, Page, Past};
use serde_json::{Value, json};

use super::Service;
use super::caller::Who;
use super::delegate::not_yours;
use super::refuse::{trouble, unreachable};
use crate::engine::Error;
use crate::host::{Home, Host};
use crate::protocol::{Refused, Reply};
use crate::read::listed;
use crate::world::World as _;

/// Delegations of each kind that a list has.
const MAX_LISTED: usize = 50;

impl<H: Host> Service<H> {
    /// How a delegation stands.
    pub(super) async fn look(&self, who: &Who, id: &DelegationId) -> Result<Reply, Refused> {
        self.view_of(who, id).await.map(Reply::Done)
    }

    /// The same, as JSON.
    pub(super) async fn view_of(&self, who: &Who, id: &DelegationId) -> Result<Value, Refused> {
        let tree = self.engine.tree_of(id).await.map_err(|error| unreachable(&error))?;
        if matches!(who, Who::Attempt { tree: own, .. } if *own != tree) {
            return Err((&not_yours()).into());
        }
        let (wanted, now) = (id.clone(), self.real.now());
        let (caller, free) = (who.caller(), self.engine.free_slots());
        let view = self.engine.look(&tree, move |state| {
            let mut view = view::status(state, state.find(&wanted)?, now);
            view.remaining = bounds::remaining(state, &caller, now, free);
            serde_json::to_value(view).ok()
        });
        let view = view.await.map_err(|error| unreachable(&error))?;
        view.ok_or_else(|| unreachable(&Error::NotFound(id.clone())))
    }

    /// Delegations under way, then those that ended last; an attempt's own tree only.
    pub(super) async fn list(&self, who: &Who) -> Result<Reply, Refused> {
        let failed = |error: legation_store::Error| unreachable(&Error::from(error));
        let journal = self.engine.journal();
        let active = journal.active(Page::first(MAX_LISTED)).await.map_err(failed)?;
        let past = Past { status: None, since: None, page: Page::first(MAX_LISTED) };
        let past = journal.history(past).await.map_err(failed)?;
        let own = |row: &Delegation| match who {
            Who::Root { .. } => true,
            Who::Attempt { tree, .. } => row.tree == tree.as_str(),
        };
        let rows = active.into_iter().chain(past.delegations).filter(own);
        let delegations: Vec<Value> = rows.map(|row| listed(&row)).collect();
        Ok(Reply::Done(json!({"delegations": delegations})))
    }

    /// The agents that the caller may delegate to.
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
            if allowed && runs {
                agents.push(json!({"id": id, "description": definition.description}));
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
