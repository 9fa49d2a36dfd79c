//! Steering: pause, resume, cancel, retry, skip, approve.

use std::collections::BTreeMap;
use std::sync::Arc;

use legation_core::Code;
use legation_core::call::candidate;
use legation_core::ids::{AgentId, DelegationId, SubtaskId};
use legation_core::tree::command::{Approve, Cancel, Command, Retry};
use legation_core::tree::{Rejection, State};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use super::Service;
use super::caller::Who;
use super::converse::Listener;
use super::delegate::{Said, not_yours};
use super::refuse::{trouble, unreachable};
use crate::engine::Error;
use crate::host::{Home, Host};
use crate::protocol::{Refused, Reply, Steer, To};

impl<H: Host> Service<H> {
    /// Steers a delegation, and waits for its end if that is wanted: for that of a subtask,
    /// where one is cancelled.
    pub(super) async fn steer(
        self: &Arc<Self>,
        who: &Who,
        (steer, said): (Steer, Said),
        listener: &mut Listener,
    ) -> Result<Reply, Refused> {
        let id = &steer.delegation;
        let tree = self.engine.tree_of(id).await.map_err(|error| unreachable(&error))?;
        self.may_steer(who, &tree, &steer).await?;
        // What starts next goes by the files as they are now.
        let env = match who {
            Who::Root { .. } => said.env,
            Who::Attempt { .. } => BTreeMap::new(),
        };
        let goes_on = matches!(steer.to, To::Retry { .. } | To::Resume);
        let lends = goes_on && matches!(who, Who::Root { .. });
        let home = self.home(env).await.map_err(|problem| trouble(&problem))?;
        let path = self.path_of(&tree, id).await?;
        let steer = self.spelled_out(&tree, steer.clone()).await?;
        let id = &steer.delegation;
        let command = command(who, &steer, (&home, &path));
        let resumes = matches!(steer.to, To::Resume);
        let is_lent = lends && self.real.lend(&tree, &said.passed_on);
        let done = self.engine.command(&tree, command).await;
        if is_lent && done.is_err() {
            self.real.forget_caller(&tree);
        }
        match done {
            Ok(()) => {}
            // What goes on already, or has ended, need not be resumed to be waited for.
            Err(Error::Rejected(rejection))
                if resumes && self.may_wait(&tree, id, steer.wait, &rejection).await => {}
            Err(error) => return Err(unreachable(&error)),
        }
        if steer.wait {
            let To::Cancel { subtask: Some(subtask), .. } = &steer.to else {
                return self.wait(who, id, listener).await;
            };
            self.until_stopped(&tree, (id, subtask)).await.map_err(|error| unreachable(&error))?;
        }
        let wanted = id.clone();
        let stands = self.engine.look(&tree, move |state: &State| {
            let no = state.find(&wanted)?;
            Some((state.delegation_status(no), state.is_stopping(no)))
        });
        let stands = stands.await.map_err(|error| unreachable(&error))?;
        let (status, stopping) = stands.map_or((None, false), |(status, it)| (Some(status), it));
        let mut value = json!({"success": true, "delegationId": id, "status": status});
        if let Some(value) = value.as_object_mut().filter(|_| stopping) {
            value.insert("cancelRequested".to_owned(), true.into());
        }
        Ok(Reply::Done(value))
    }

    /// Waits until a subtask has stopped, whatever becomes of its delegation.
    async fn until_stopped(
        &self,
        tree: &DelegationId,
        (id, subtask): (&DelegationId, &SubtaskId),
    ) -> Result<(), Error> {
        // Heard from before it is looked at, so that its end is not missed.
        let mut news = self.engine.follow(tree).await?;
        loop {
            let (wanted, part) = (id.clone(), subtask.clone());
            let is_open = self.engine.look(tree, move |state: &State| {
                let no = state.find(&wanted)?;
                let mut all = state.delegations[no].subtasks.iter().map(|no| &state.subtasks[*no]);
                all.find(|it| it.id == part && it.outcome().is_none()).map(|_| ())
            });
            if is_open.await?.is_none() || matches!(news.recv().await, Err(RecvError::Closed)) {
                return Ok(());
            }
        }
    }

    /// The agents from the first below the root to whoever asked for a delegation.
    async fn path_of(
        &self,
        tree: &DelegationId,
        id: &DelegationId,
    ) -> Result<Vec<AgentId>, Refused> {
        let wanted = id.clone();
        let path = self.engine.look(tree, move |state: &State| {
            let no = state.find(&wanted)?;
            Some(state.delegations[no].path.iter().skip(1).cloned().collect())
        });
        let path: Option<Vec<AgentId>> = path.await.map_err(|error| unreachable(&error))?;
        Ok(path.unwrap_or_default())
    }

    /// The same with the subtask's whole id, where its end was enough to name it.
    async fn spelled_out(&self, tree: &DelegationId, mut steer: Steer) -> Result<Steer, Refused> {
        let named = match &mut steer.to {
            To::Retry { subtask, .. } | To::Skip { subtask, .. } => Some(subtask),
            To::Cancel { subtask, .. } | To::Approve { subtask, .. } => subtask.as_mut(),
            To::Pause { .. } | To::Resume => None,
        };
        let Some(subtask) = named else { return Ok(steer) };
        let (wanted, short) = (steer.delegation.clone(), subtask.clone());
        let found = self.engine.look(tree, move |state: &State| {
            let no = state.find(&wanted)?;
            let end = format!("-{short}");
            let ids = state.delegations[no].subtasks.iter().map(|no| &state.subtasks[*no].id);
            let exact = ids.clone().find(|id| **id == short);
            let mut ending = ids.filter(|id| id.as_str().ends_with(&end));
            exact.or_else(|| ending.next().filter(|_| ending.next().is_none())).cloned()
        });
        if let Some(id) = found.await.map_err(|error| unreachable(&error))? {
            *subtask = id;
        }
        Ok(steer)
    }

    /// Whether a resume that has nothing to resume is good all the same.
    async fn may_wait(
        &self,
        tree: &DelegationId,
        id: &DelegationId,
        waits: bool,
        rejection: &Rejection,
    ) -> bool {
        let conflict = matches!(rejection, Rejection::Refused(why) if why.code == Code::Conflict);
        let wanted = id.clone();
        let open = self.engine.look(tree, move |state: &State| {
            state.find(&wanted).is_some_and(|no| state.delegations[no].ended.is_none())
        });
        conflict && (waits || open.await.unwrap_or(false))
    }

    /// An attempt steers only what it has asked for, and never speaks for a human.
    async fn may_steer(
        &self,
        who: &Who,
        tree: &DelegationId,
        steer: &Steer,
    ) -> Result<(), Refused> {
        let Who::Attempt { tree: own, attempt, .. } = who else { return Ok(()) };
        let (wanted, attempt) = (steer.delegation.clone(), attempt.clone());
        let asked = self.engine.look(tree, move |state: &State| {
            let parent = state.find(&wanted).and_then(|no| state.delegations[no].parent);
            parent.is_some() && parent == state.find_attempt(&attempt)
        });
        let asked = asked.await.map_err(|error| unreachable(&error))?;
        let human = matches!(steer.to, To::Approve { .. });
        if own == tree && asked && !human { Ok(()) } else { Err((&not_yours()).into()) }
    }
}

/// The command that steers so.
fn command(who: &Who, steer: &Steer, (home, path): (&Home, &[AgentId])) -> Command {
    let (delegation, by) = (steer.delegation.clone(), who.name().to_owned());
    match steer.to.clone() {
        To::Pause { now, reason } => Command::Pause { delegation, freeze: now, reason },
        To::Resume => Command::Resume { delegation },
        To::Cancel { subtask, reason, rollback } => {
            Command::Cancel(Cancel { delegation, subtask, by, reason, rollback })
        }
        To::Retry { subtask, agent, note } => {
            let agent = agent.map(|agent| candidate(agent, &home.roster, path));
            Command::Retry(Retry { delegation, subtask, agent, note })
        }
        To::Skip { subtask, reason } => Command::Skip { delegation, subtask, reason },
        To::Approve { subtask, approved, reason } => {
            Command::Approve(Approve { delegation, subtask, approved, by, reason })
        }
    }
}
