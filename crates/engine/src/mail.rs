//! What reaches a tree's actor, and the box it arrives in.

use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_core::tree::command::Delegate;
use legation_core::tree::event::NotBrought;
use legation_core::tree::view::DelegationView;
use legation_core::tree::{Command, Rejection};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::news::News;

/// Letters a mailbox holds; whoever writes more waits.
pub(crate) const MAILBOX: usize = 1024;
/// News a slow reader may fall behind before it misses some.
pub(crate) const NEWS: usize = 1024;

/// What reaches a tree's actor.
#[derive(Debug)]
pub(crate) enum Mail {
    /// A report, or what follows from the time; nobody waits for an answer.
    Report(Command),
    /// A wish, with somebody waiting for what comes of it.
    Wish(Command, oneshot::Sender<Result<(), Failure>>),
    /// A delegation, with somebody waiting to know whether it was accepted.
    Delegate(Box<Delegate>, Follow, oneshot::Sender<Result<Accepted, Failure>>),
    /// Somebody wants the answer of a delegation, once it is there; nothing if there is
    /// no such delegation.
    Await(DelegationId, oneshot::Sender<Option<Answer>>),
    /// Somebody wants to look.
    Look(Look),
    /// Somebody wants to know what happens from now on.
    Follow(oneshot::Sender<broadcast::Receiver<Arc<News>>>),
    /// The result of a delegation is where whoever asked for it works.
    Brought {
        /// Which.
        delegation: DelegationId,
        /// Why it is not there after all.
        obstacle: Option<NotBrought>,
    },
    /// The engine came back: find what was running.
    Recover {
        /// Whether somebody keeps the engine running on purpose.
        serving: bool,
        /// Told, or dropped, once the tree has said which slots it holds.
        held: Option<oneshot::Sender<()>>,
    },
}

impl Mail {
    /// Whether nobody minds if it is read a moment later, together with what follows it.
    pub(crate) fn can_wait(&self) -> bool {
        matches!(self, Self::Report(Command::Spawned(_) | Command::Progress(_)))
    }
}

/// A question that is answered from the state as it is.
pub(crate) struct Look(pub(crate) Box<dyn FnOnce(&legation_core::tree::State) + Send>);

impl std::fmt::Debug for Look {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Look")
    }
}

/// Why a wish was not fulfilled.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The rules say no.
    Rejected(Rejection),
    /// The journal could not take it.
    Journal(legation_store::Error),
}

/// Whether somebody wants to hear what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Everything from the first event on.
    Everything,
    /// Only the answer.
    Nothing,
}

/// A delegation that was accepted, or was there already.
#[derive(Debug)]
pub struct Accepted {
    /// Which.
    pub id: DelegationId,
    /// Whether the same call had been made before.
    pub again: bool,
    /// What happens from here on, where that was wanted.
    pub news: Option<broadcast::Receiver<Arc<News>>>,
}

/// A delegation's answer: how it ended and what there is to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub status: &'static str,
    /// What a caller is shown.
    pub view: Arc<DelegationView>,
}

/// Where a tree's actor gets its mail.
#[derive(Clone, Debug)]
pub struct Mailbox {
    pub(crate) sender: mpsc::Sender<Mail>,
}

impl Mailbox {
    /// Tells the tree something. A tree that is over needs no telling.
    pub async fn tell(&self, command: Command) {
        // The actor has gone only if nothing that is told could matter.
        let _ = self.sender.send(Mail::Report(command)).await;
    }

    /// Asks for a delegation in the name of an attempt of this tree, and waits until it
    /// has ended; or says why it was refused. A tree that is over answers nothing.
    pub(crate) async fn delegate(&self, delegate: Delegate) -> Option<Result<(), Failure>> {
        let (reply, accepted) = oneshot::channel();
        let mail = Mail::Delegate(Box::new(delegate), Follow::Nothing, reply);
        self.sender.send(mail).await.ok()?;
        let id = match accepted.await.ok()? {
            Ok(accepted) => accepted.id,
            Err(failure) => return Some(Err(failure)),
        };
        let (reply, answer) = oneshot::channel();
        self.sender.send(Mail::Await(id, reply)).await.ok()?;
        answer.await.ok().flatten().map(|_| Ok(()))
    }

    /// Tells the tree that a result is where whoever asked for it works, or why it is not.
    pub async fn brought(&self, delegation: DelegationId, obstacle: Option<NotBrought>) {
        let _ = self.sender.send(Mail::Brought { delegation, obstacle }).await;
    }

    /// Whether the tree's actor has gone.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}
