//! People: they delegate, look, wait, and interfere.

use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_core::tree::command::{Approve, Caller, Cancel, Command, Delegate, Retry};
use legation_core::tree::state::{Phase, Step};
use legation_core::tree::{State, SubtaskNo};
use legation_engine::{Error, Follow};

use super::Engine;
use super::hub::{Hub, Inner};
use crate::plan::{self, one_in};

/// Somebody delegates, and perhaps waits for the answer.
pub(super) fn delegate(hub: &Arc<Hub>, engine: &Engine) {
    let (delegate, waits) = hub.lock().root();
    hub.lock().waiting += 1;
    let (hub, engine) = (hub.clone(), engine.clone());
    tokio::spawn(async move {
        let id = ask(&hub, &engine, delegate).await;
        if let (Some(id), true) = (id, waits) {
            wait(&hub, &engine, &id).await;
        }
        hub.lock().done();
    });
}

async fn ask(hub: &Hub, engine: &Engine, delegate: Delegate) -> Option<DelegationId> {
    let was_failed = engine.failure().is_some();
    let key = delegate.idempotency_key.clone();
    let accepted = engine.delegate(delegate, None, Follow::Nothing).await;
    let mut inner = hub.lock();
    if inner.dead {
        return None;
    }
    match accepted {
        Ok(accepted) => {
            inner.check_after_failure(was_failed && !accepted.again, "a root");
            inner.acknowledged(&accepted.id, &accepted, key.as_deref());
            Some(accepted.id)
        }
        Err(error) => {
            inner.check_trouble(&error);
            None
        }
    }
}

async fn wait(hub: &Hub, engine: &Engine, id: &DelegationId) {
    let answer = engine.answer(id, id).await;
    let mut inner = hub.lock();
    if inner.dead {
        return;
    }
    match answer {
        Ok(answer) => inner.answered(id, &answer),
        Err(error) => inner.check_trouble(&error),
    }
}

/// Somebody waits for a root that is there, ended or not.
pub(super) fn wait_for_one(hub: &Arc<Hub>, engine: &Engine) {
    let Some(id) = hub.lock().any_tree() else { return };
    hub.lock().waiting += 1;
    let (hub, engine) = (hub.clone(), engine.clone());
    tokio::spawn(async move {
        wait(&hub, &engine, &id).await;
        hub.lock().done();
    });
}

/// Somebody looks: what the engine shows is what the log says.
pub(super) fn look(hub: &Arc<Hub>, engine: &Engine) {
    let Some(id) = hub.lock().any_tree() else { return };
    look_at(hub, engine, id);
}

/// Somebody looks at a certain tree.
pub(super) fn look_at(hub: &Arc<Hub>, engine: &Engine, id: DelegationId) {
    hub.lock().waiting += 1;
    let (hub, engine) = (hub.clone(), engine.clone());
    tokio::spawn(async move {
        let shown = engine.look(&id, State::clone).await;
        let mut inner = hub.lock();
        if !inner.dead {
            match shown {
                Ok(shown) => inner.check_shown(&id, &shown),
                Err(error) => inner.check_trouble(&error),
            }
        }
        inner.done();
    });
}

/// Somebody tells a tree what to do.
pub(super) fn command(hub: &Arc<Hub>, engine: &Engine, (tree, command): (DelegationId, Command)) {
    hub.lock().waiting += 1;
    hub.lock().say(format!("wished {command:?}"));
    let (hub, engine) = (hub.clone(), engine.clone());
    tokio::spawn(async move {
        let was_failed = engine.failure().is_some();
        let done = engine.command(&tree, command).await;
        let mut inner = hub.lock();
        if !inner.dead {
            match done {
                Ok(()) => inner.check_after_failure(was_failed, "a wish"),
                Err(error) => inner.check_trouble(&error),
            }
        }
        inner.done();
    });
}

impl Inner {
    /// A caller has what it wanted, or knows that it will not have it.
    fn done(&mut self) {
        if !self.dead {
            self.waiting -= 1;
            self.moves += 1;
        }
    }

    fn check_trouble(&mut self, error: &Error) {
        let expected = match error {
            Error::Rejected(_) => true,
            Error::Journal(legation_store::Error::Invalid { .. }) => true,
            Error::Journal(error) => self.full && !error.is_answer(),
            Error::NotFound(_) | Error::Unreadable { .. } | Error::Gone(_) => false,
        };
        if !expected {
            self.fail("a tree that is there can be reached", format!("{error:?}"));
        }
    }

    fn check_shown(&mut self, id: &DelegationId, shown: &State) {
        let Some(tree) = self.trees.get(id) else {
            return self.fail("what is shown is in the log", format!("{id} is not"));
        };
        let written = &tree.state;
        if shown.seq > written.seq {
            let detail = format!("{id}: event {} of {}", shown.seq, written.seq);
            self.fail("what is shown is in the log", detail);
        } else if shown.seq == written.seq && shown != written {
            self.fail("replay(log) = the state the engine shows", id.to_string());
        }
    }

    fn any_tree(&mut self) -> Option<DelegationId> {
        let ids: Vec<DelegationId> = self.trees.keys().cloned().collect();
        self.rng.choice(ids)
    }

    fn root(&mut self) -> (Delegate, bool) {
        let n = self.next_id();
        let settings = plan::settings(&mut self.rng);
        let caller = Caller::Root { name: "user".into(), depth: self.rng.u32(0..2) };
        let delegate = plan::delegate(&mut self.rng, n, caller, &settings);
        (delegate, self.rng.u32(0..4) > 0)
    }

    /// Something that somebody might want of a tree.
    pub(super) fn interference(&mut self) -> Option<(DelegationId, Command)> {
        let id = self.any_tree()?;
        let (delegation, subtask) = self.somewhere(&id)?;
        let command = match (self.rng.u32(0..20), subtask) {
            (0..4, _) => {
                let freeze = self.rng.bool();
                Command::Pause { delegation, freeze, reason: "lunch".to_owned() }
            }
            (4..10, _) => Command::Resume { delegation },
            (10, subtask) => {
                let subtask = subtask.filter(|_| self.rng.bool());
                let (by, reason) = ("ana".to_owned(), "enough".to_owned());
                let rollback = self.rng.bool();
                Command::Cancel(Cancel { delegation, subtask, by, reason, rollback })
            }
            (11..14, Some(subtask)) => {
                let agent = one_in(&mut self.rng, 3).then(|| plan::candidate(&mut self.rng));
                let note = Some("try harder".to_owned());
                Command::Retry(Retry { delegation, subtask, agent, note })
            }
            (14..16, Some(subtask)) => Command::Skip { delegation, subtask, reason: String::new() },
            _ => self.word(delegation),
        };
        Some((id, command))
    }

    /// A delegation of a tree and one of its subtasks.
    fn somewhere(
        &mut self,
        id: &DelegationId,
    ) -> Option<(DelegationId, Option<legation_core::ids::SubtaskId>)> {
        let state = &self.trees.get(id)?.state;
        let (_, delegation) = self.rng.choice(state.delegations.iter().collect::<Vec<_>>())?;
        let subtask = self.rng.choice(delegation.subtasks.clone());
        Some((delegation.id.clone(), subtask.map(|no| state.subtasks[no].id.clone())))
    }

    /// Yes or no to whatever waits for it.
    fn word(&mut self, delegation: DelegationId) -> Command {
        let approved = self.rng.bool();
        let (by, reason) = ("ana".to_owned(), String::new());
        Command::Approve(Approve { delegation, subtask: None, approved, by, reason })
    }

    /// What people have to do so that everything can come to its end.
    pub(super) fn chores(&mut self) -> Vec<(DelegationId, Command)> {
        let mut found = Vec::new();
        for (id, tree) in &self.trees {
            for (_, delegation) in tree.state.delegations.iter() {
                if delegation.ended.is_some() {
                    continue;
                }
                let asks = delegation.subtasks.iter().any(|no| asks(&tree.state, *no));
                found.extend(asks.then(|| (id.clone(), delegation.id.clone(), true)));
                let paused = delegation.paused.is_some();
                found.extend(paused.then(|| (id.clone(), delegation.id.clone(), false)));
            }
        }
        let chore = |(id, delegation, asks): (DelegationId, DelegationId, bool)| {
            let command = if asks { self.word(delegation) } else { Command::Resume { delegation } };
            (id, command)
        };
        found.into_iter().map(chore).collect()
    }
}

fn asks(state: &State, no: SubtaskNo) -> bool {
    let subtask = &state.subtasks[no];
    let last = subtask.attempts.last().map(|no| &state.attempts[*no].step);
    subtask.phase == Phase::AwaitingApproval || matches!(last, Some(Step::Asking(_)))
}
