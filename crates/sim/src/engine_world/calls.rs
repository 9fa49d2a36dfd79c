//! Attempts that call the engine themselves, and wait for what comes of it.
//!
//! Whoever waits does nothing else, and calls again if the engine died meanwhile.

use std::sync::Arc;

use legation_core::ids::{AttemptId, DelegationId};
use legation_core::tree::Command;
use legation_core::tree::command::{Caller, Delegate};
use legation_engine::{Error, Follow};

use super::Engine;
use super::hub::{Hub, Inner};
use crate::plan;

/// A call that a process has made.
pub(super) struct Call {
    wish: Wish,
    /// Whether it gives its slot back meanwhile.
    pub(super) parks: bool,
    /// Whether the engine knows of it.
    pub(super) active: bool,
}

#[derive(Clone)]
enum Wish {
    /// To delegate; it waits for the answer if the delegation says so.
    Delegate(Box<Delegate>),
    /// To wait for what it has delegated.
    Await(DelegationId),
    /// To look for the answer without saying that it waits.
    Answer(DelegationId),
}

/// How a call ended.
enum Heard {
    Answer(DelegationId),
    Detached(DelegationId),
    Refused,
    /// The engine could not; it is called again when it is back.
    Nothing,
}

/// Begins the call that an attempt wants to make, or makes again.
pub(super) fn begin(hub: &Arc<Hub>, engine: &Engine, attempt: &AttemptId) {
    let begun = hub.lock().prepare(attempt);
    let Some((tree, wish)) = begun else { return };
    hub.lock().waiting += 1;
    let (hub, engine, attempt) = (hub.clone(), engine.clone(), attempt.clone());
    tokio::spawn(async move {
        let heard = call(&hub, &engine, (&tree, &attempt), wish).await;
        let mut inner = hub.lock();
        if !inner.dead {
            inner.waiting -= 1;
            inner.heard(&attempt, &heard);
        }
    });
}

async fn call(
    hub: &Hub,
    engine: &Engine,
    (tree, attempt): (&DelegationId, &AttemptId),
    wish: Wish,
) -> Heard {
    let was_failed = engine.failure().is_some();
    let id = match wish {
        Wish::Answer(id) => id,
        Wish::Await(delegation) => {
            let wait = Command::Await { attempt: attempt.clone(), delegation: delegation.clone() };
            if let Err(error) = engine.command(tree, wait).await {
                return hub.lock().trouble(&error);
            }
            delegation
        }
        Wish::Delegate(delegate) => {
            let waits = delegate.waits;
            let accepted = engine.delegate(*delegate, Some(tree.clone()), Follow::Nothing).await;
            let accepted = match accepted {
                Ok(accepted) => accepted,
                Err(error) => return hub.lock().trouble(&error),
            };
            let mut inner = hub.lock();
            if inner.dead {
                return Heard::Nothing;
            }
            inner.check_after_failure(was_failed, "a delegation");
            inner.acknowledged(tree, &accepted, None);
            if !waits {
                return Heard::Detached(accepted.id);
            }
            accepted.id
        }
    };
    match engine.answer(tree, &id).await {
        Ok(answer) => {
            let mut inner = hub.lock();
            if inner.dead {
                return Heard::Nothing;
            }
            inner.answered(&id, &answer);
            Heard::Answer(id)
        }
        Err(error) => hub.lock().trouble(&error),
    }
}

impl Inner {
    /// What the attempt wants of the engine: again what it wanted before, or something new.
    fn prepare(&mut self, attempt: &AttemptId) -> Option<(DelegationId, Wish)> {
        let fresh = self.wish(attempt);
        let process = self.processes.get_mut(attempt)?;
        let call = process.call.get_or_insert_with(|| {
            let parks = match &fresh {
                Wish::Delegate(delegate) => delegate.waits,
                Wish::Await(_) => true,
                Wish::Answer(_) => false,
            };
            Call { wish: fresh, parks, active: false }
        });
        if call.active {
            return None;
        }
        call.active = true;
        Some((process.tree.clone(), call.wish.clone()))
    }

    fn wish(&mut self, attempt: &AttemptId) -> Wish {
        let below = self.processes.get(attempt).map(|process| process.below.clone());
        if let Some(id) = self.rng.choice(below.unwrap_or_default())
            && self.rng.bool()
        {
            return if self.rng.u32(0..3) > 0 { Wish::Await(id) } else { Wish::Answer(id) };
        }
        let n = self.next_id();
        let settings = plan::settings(&mut self.rng);
        let caller = Caller::Attempt(attempt.clone());
        let mut delegate = plan::delegate(&mut self.rng, n, caller, &settings);
        // Whoever waits finds its delegation again by its key.
        delegate.idempotency_key = delegate.waits.then(|| format!("call-{n}"));
        Wish::Delegate(Box::new(delegate))
    }

    /// Why a call came to nothing. An engine that is there has to answer.
    fn trouble(&mut self, error: &Error) -> Heard {
        if self.dead {
            return Heard::Nothing;
        }
        match error {
            Error::Rejected(_) => Heard::Refused,
            Error::Journal(legation_store::Error::Invalid { .. }) => Heard::Refused,
            Error::Journal(error) if !error.is_answer() && self.full => Heard::Nothing,
            Error::Journal(_) | Error::NotFound(_) | Error::Unreadable { .. } | Error::Gone(_) => {
                self.fail("a tree that is there can be reached", format!("{error:?}"));
                Heard::Nothing
            }
        }
    }

    /// Nothing is acknowledged that was asked for after writing had failed.
    pub(super) fn check_after_failure(&mut self, was_failed: bool, what: &str) {
        if was_failed {
            self.fail("nothing is acknowledged after the store has failed", what);
        }
    }

    fn heard(&mut self, attempt: &AttemptId, heard: &Heard) {
        self.moves += 1;
        let doomed = self.attempt(attempt).is_some_and(|(state, no)| {
            state.attempts[no].stop.is_some() || state.is_cancelled(state.delegation_of(no))
        });
        let Some(process) = self.processes.get_mut(attempt) else { return };
        match heard {
            Heard::Answer(id) => {
                process.below.retain(|below| below != id);
                process.call = None;
            }
            Heard::Detached(id) => {
                process.below.push(id.clone());
                process.call = None;
            }
            // One that has to stop is not let on any more: it waits for that.
            Heard::Refused if doomed => {}
            Heard::Refused => process.call = None,
            Heard::Nothing => {}
        }
        self.crowd();
    }
}
