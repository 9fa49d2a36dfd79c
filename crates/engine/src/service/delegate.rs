//! Delegating, and waiting for what comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use legation_core::Code;
use legation_core::call::{self, Asker, Call, House};
use legation_core::config::Pattern;
use legation_core::ids::{AgentId, DelegationId};
use legation_core::tree::Command;
use legation_core::tree::bounds;
use legation_core::tree::command::Delegate;
use legation_core::tree::rejection::Refusal;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::Service;
use super::caller::Who;
use super::converse::Listener;
use super::refuse::{trouble, unreachable};
use crate::client::passed_on;
use crate::engine::Error;
use crate::host::{Home, Host};
use crate::logs::RefusedCall;
use crate::mail::{Answer, Follow};
use crate::news::{News, What};
use crate::protocol::{Refused, Reply};
use crate::read::Sight;
use crate::world::World as _;

/// Characters of a task that are written down beside a refusal.
const MAX_TASK_CHARS: usize = 200;

/// What a caller says about itself, beside what it wants.
pub(super) struct Said {
    /// What it says about the rules.
    pub(super) env: BTreeMap<String, String>,
    /// What children may see of its environment.
    pub(super) passed_on: BTreeMap<String, String>,
}

impl<H: Host> Service<H> {
    /// Hands a task to sub-agents, and tells how it goes.
    pub(super) async fn delegate(
        self: &Arc<Self>,
        who: &Who,
        (call, said): (Call, Said),
        listener: &mut Listener,
    ) -> Result<Reply, Refused> {
        // A child's environment says nothing about the bounds it stands under.
        let Said { env, passed_on } = said;
        let env = if matches!(who, Who::Root { .. }) { env } else { BTreeMap::new() };
        let home = self.home(env).await.map_err(|problem| trouble(&problem))?;
        for warning in &home.warnings {
            listener.say(&Reply::Note(warning.clone())).await;
        }
        let accepted = self.accept(who, (&call, &passed_on), &home).await;
        let (accepted, first, warnings) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => return Err(self.refused(who, (&error, &asked_for(&call)), &home).await),
        };
        // Who does not wait for the end hears nothing after the acceptance.
        for warning in &warnings {
            listener.say(&Reply::Note(warning.clone())).await;
        }
        listener.say(&first).await;
        let id = accepted.id;
        let tree = match who {
            Who::Attempt { tree, .. } => tree.clone(),
            Who::Root { .. } => id.clone(),
        };
        if call.detach {
            let looked = self.look(who, &id, Sight::Status).await?;
            let part = |key: &str| looked.get(key).cloned().unwrap_or_default();
            let status = part("status").as_str().unwrap_or_default().to_owned();
            let remaining = part("remaining");
            let view = json!({"delegationId": id, "status": status, "remaining": remaining});
            return Ok(warned(Reply::Answer { status, view }, &warnings));
        }
        let reply = self.tell_until_end(who, (&tree, &id), (accepted.news, listener)).await?;
        Ok(warned(reply, &warnings))
    }

    async fn accept(
        &self,
        who: &Who,
        (call, passed_on): (&Call, &BTreeMap<String, String>),
        home: &Home,
    ) -> Result<(crate::mail::Accepted, Reply, Vec<String>), Error> {
        let house = House { config: &home.config, roster: &home.roster };
        let (tree, path) = match who {
            Who::Root { .. } => (None, Vec::new()),
            Who::Attempt { tree, path, .. } => (Some(tree.clone()), path.clone()),
        };
        let asker = Asker { caller: who.caller(), path };
        let planned = call::plan(call, house, &asker, self.engine.new_id());
        let planned = planned.map_err(|refusal| Error::Rejected(refusal.into()))?;
        let seen = match who {
            Who::Root { .. } => passed_on.clone(),
            Who::Attempt { .. } => self.seen_by(who),
        };
        self.check_programs(&planned.delegate, asker.path.last(), &seen)?;
        let pattern = planned.delegate.pattern;
        let follow = if hears(who, pattern) { Follow::Everything } else { Follow::Nothing };
        let new = tree.is_none().then(|| planned.delegate.id.clone());
        // Before it is accepted: what starts first looks for it at once.
        new.iter().for_each(|tree| self.real.keep_caller(tree, passed_on));
        let accepted = self.engine.delegate(planned.delegate, tree, follow).await;
        let is_new = |tree: &&DelegationId| accepted.as_ref().is_ok_and(|it| it.id == **tree);
        new.iter().filter(|tree| !is_new(tree)).for_each(|tree| self.real.forget_caller(tree));
        let accepted = accepted?;
        let first = Reply::Accepted {
            delegation: accepted.id.clone(),
            again: accepted.again,
            pattern,
            chosen: planned.chosen.iter().map(Into::into).collect(),
        };
        Ok((accepted, first, planned.warnings))
    }

    /// What children of the caller may see of an environment.
    pub(super) fn seen_by(&self, who: &Who) -> BTreeMap<String, String> {
        match who {
            Who::Root { .. } => passed_on(),
            Who::Attempt { tree, .. } => self.real.passed_on(tree),
        }
    }

    /// Refuses what no program could do, before anything starts.
    fn check_programs(
        &self,
        delegate: &Delegate,
        parent: Option<&AgentId>,
        env: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        if let Some(why) = self.real.obstacle() {
            let refusal = Refusal::new(
                Code::ToolUnavailable,
                why,
                "`legation doctor` shows what this kernel can hold; `sandbox.fence = \"auto\"` \
                 runs without what it cannot, and says so.",
            );
            return Err(Error::Rejected(refusal.into()));
        }
        let allowed = delegate.subtasks.iter().filter(|target| target.permitted.is_ok());
        let mut idle = allowed.filter(|target| !self.real.can_run(&target.agent, parent, env));
        let Some(target) = idle.next() else { return Ok(()) };
        let refusal = Refusal::new(
            Code::ToolUnavailable,
            format!("There is no program to run agent `{}` with.", target.agent),
            "Name an agent with `--agent`, make one with `legation agents new NAME`, or install \
             a program that it can run on; `legation doctor` lists which are found.",
        );
        Err(Error::Rejected(refusal.into()))
    }

    /// Waits for a delegation that somebody has asked for before.
    pub(super) async fn wait(
        self: &Arc<Self>,
        who: &Who,
        id: &DelegationId,
        listener: &mut Listener,
    ) -> Result<Reply, Refused> {
        let refused = |error: Error| unreachable(&error);
        let tree = self.engine.tree_of(id).await.map_err(refused)?;
        if let Who::Attempt { tree: own, attempt, .. } = who {
            if *own != tree {
                return Err((&not_yours()).into());
            }
            let (attempt, delegation) = (attempt.clone(), id.clone());
            let wait = Command::Await { attempt, delegation };
            self.engine.command(&tree, wait).await.map_err(refused)?;
        }
        let wanted = id.clone();
        let pattern = self
            .engine
            .look(&tree, move |state| state.find(&wanted).map(|no| state.delegations[no].pattern));
        let pattern = pattern.await.map_err(refused)?.unwrap_or_default();
        let news = match hears(who, pattern) {
            true => self.engine.follow(&tree).await.ok(),
            false => None,
        };
        self.tell_until_end(who, (&tree, id), (news, listener)).await
    }

    /// Tells what happens until the answer is there.
    pub(super) async fn tell_until_end(
        &self,
        who: &Who,
        (tree, id): (&DelegationId, &DelegationId),
        (mut news, listener): (Option<broadcast::Receiver<Arc<News>>>, &mut Listener),
    ) -> Result<Reply, Refused> {
        let answer = self.engine.answer(tree, id);
        tokio::pin!(answer);
        let answer = loop {
            tokio::select! {
                biased;
                heard = hear(&mut news) => match heard {
                    Some(heard) if is_for(who, id, &heard) => listener.tell(&heard).await,
                    Some(_) => {}
                    None => news = None,
                },
                answer = &mut answer => break answer,
            }
            if listener.is_gone {
                break Err(Error::Gone(id.clone()));
            }
        };
        // What was told before the answer is heard before it.
        while let Some(Ok(heard)) = news.as_mut().map(broadcast::Receiver::try_recv) {
            if is_for(who, id, &heard) {
                listener.tell(&heard).await;
            }
        }
        let Answer { status, view } = answer.map_err(|error| unreachable(&error))?;
        let view = serde_json::to_value(&*view).unwrap_or_default();
        Ok(Reply::Answer { status: status.to_owned(), view })
    }

    /// A refusal with what may still be asked for; it is written down too.
    async fn refused(&self, who: &Who, (error, task): (&Error, &str), home: &Home) -> Refused {
        let mut refused = unreachable(error);
        refused.remaining = self.remaining(who, home).await;
        self.note(who, task, &refused).await;
        refused
    }

    /// Writes a refusal down, with what is known of whoever called.
    async fn note(&self, who: &Who, task: &str, refused: &Refused) {
        let code = serde_json::from_value(Value::String(refused.code.clone()));
        let mut call = RefusedCall {
            code: code.unwrap_or(Code::UnknownError),
            message: &refused.message,
            who: who.name(),
            session: None,
            task: Some(task.to_owned()),
            subtask: None,
        };
        if let Who::Attempt { tree, attempt, .. } = who {
            let wanted = attempt.clone();
            let known = self.engine.look(tree, move |state| {
                let attempt = &state.attempts[state.find_attempt(&wanted)?];
                let subtask = &state.subtasks[attempt.subtask];
                let task = state.delegations[subtask.delegation].task_id.to_string();
                Some((attempt.session.clone(), task, subtask.id.clone()))
            });
            if let Ok(Some((session, task, subtask))) = known.await {
                (call.session, call.task, call.subtask) =
                    (Some(session), Some(task), Some(subtask));
            }
        }
        self.engine.note_refused(&call);
    }

    /// What a caller may still ask for.
    pub(super) async fn remaining(&self, who: &Who, home: &Home) -> Option<Value> {
        let free = self.engine.free_slots();
        let remaining = match who {
            Who::Root { depth, .. } => {
                Some(bounds::remaining_at_root(&home.config.limits, *depth, free))
            }
            Who::Attempt { tree, .. } => {
                let (caller, now) = (who.caller(), self.real.now());
                let look = move |state: &_| bounds::remaining(state, &caller, now, free);
                self.engine.look(tree, look).await.ok().flatten()
            }
        };
        remaining.and_then(|remaining| serde_json::to_value(remaining).ok())
    }
}

/// What a call asks for, in few words.
fn asked_for(call: &Call) -> String {
    let task = call.entry.as_ref().and_then(|entry| entry.id.as_ref());
    let task = task.map_or(call.task.as_str(), |id| id.as_str());
    task.lines().next().unwrap_or_default().chars().take(MAX_TASK_CHARS).collect()
}

/// Whether somebody is told what happens before the end. To a child what happens on the way is
/// its own doing; it hears what its parts come to, where it asked for that.
fn hears(who: &Who, pattern: Pattern) -> bool {
    matches!(who, Who::Root { .. }) || pattern == Pattern::ParallelStreaming
}

/// Whether something that happened in the tree is for whoever waits for a delegation.
fn is_for(who: &Who, id: &DelegationId, news: &News) -> bool {
    let is_end = matches!(news.what, What::Ended { .. } | What::SubtaskEnded { .. });
    matches!(who, Who::Root { .. }) || (news.delegation == *id && is_end)
}

/// The next thing that happened; nothing once there will be no more.
async fn hear(news: &mut Option<broadcast::Receiver<Arc<News>>>) -> Option<Arc<News>> {
    let Some(news) = news else { return std::future::pending().await };
    loop {
        match news.recv().await {
            Ok(heard) => return Some(heard),
            // Whoever reads too slowly misses some; the answer has it all.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
}

/// An attempt may only reach for what it has asked for itself.
pub(super) fn not_yours() -> Refusal {
    Refusal::new(
        Code::PermissionDenied,
        "An attempt may only steer delegations that it has asked for itself.",
        "Leave this one to whoever asked for it.",
    )
}

/// An answer with what its caller was warned of.
fn warned(mut reply: Reply, warnings: &[String]) -> Reply {
    if let Reply::Answer { view: Value::Object(view), .. } = &mut reply
        && !warnings.is_empty()
    {
        view.insert("warnings".to_owned(), warnings.into());
    }
    reply
}
