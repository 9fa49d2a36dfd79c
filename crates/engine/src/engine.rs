//! All trees of a project: who is at work on which, and the way to reach them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use legation_core::ids::DelegationId;
use legation_core::tree::command::Delegate;
use legation_core::tree::{Command, Rejection, State};
use legation_store::{Journal, MAX_PAGE};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::actor::{Actor, turn_away};
use crate::desk::Desk;
use crate::ids;
use crate::logs::{Logs, RefusedCall};
use crate::mail::{Accepted, Answer, Failure, Follow, Look, MAILBOX, Mail, Mailbox};
use crate::news::News;
use crate::read;
use crate::record::ROOT_KEYS;
use crate::slots::Slots;
use crate::world::World;

/// How often a wish is sent again to a tree that was just being put away.
const MAX_SENDS: usize = 5;

/// How an engine is run.
#[derive(Debug, Default)]
pub struct Options {
    /// Attempts that may run at once, all trees together.
    pub width: u32,
    /// Where what happens is written for people.
    pub logs: Option<Logs>,
}

/// Why the engine did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The rules say no.
    #[error("the rules say no")]
    Rejected(Rejection),
    /// There is no such delegation.
    #[error("there is no delegation `{0}`")]
    NotFound(DelegationId),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] legation_store::Error),
    /// What the journal holds cannot be understood.
    #[error("the log of `{tree}` cannot be read: {detail}")]
    Unreadable {
        /// Which tree.
        tree: DelegationId,
        /// What is wrong with it.
        detail: String,
    },
    /// The tree's actor has gone.
    #[error("`{0}` cannot be reached; try again")]
    Gone(DelegationId),
}

/// What all actors share.
pub(crate) struct Shared<J, W> {
    pub(crate) journal: J,
    pub(crate) world: Arc<W>,
    pub(crate) slots: Arc<Slots>,
    trees: Mutex<FxHashMap<DelegationId, Mailbox>>,
    busy: Mutex<FxHashSet<DelegationId>>,
    failed: OnceLock<legation_store::Error>,
    forgets: AtomicBool,
    /// Tells those who wait that the journal has failed.
    alarm: watch::Sender<bool>,
    logs: Option<Logs>,
}

/// The engine of a project.
pub struct Engine<J, W> {
    shared: Arc<Shared<J, W>>,
}

impl<J, W> Clone for Engine<J, W> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is never left half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<J: Journal + 'static, W: World> Engine<J, W> {
    /// An engine over a journal and a world. Nothing runs yet.
    pub fn new(journal: J, world: Arc<W>, options: Options) -> Self {
        let shared = Shared {
            journal,
            world,
            slots: Arc::new(Slots::new(options.width)),
            trees: Mutex::default(),
            busy: Mutex::default(),
            failed: OnceLock::new(),
            forgets: AtomicBool::new(false),
            alarm: watch::Sender::new(false),
            logs: options.logs,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Takes up every tree that has not ended; says which. Nobody gets a slot before
    /// all of them have said which they hold.
    pub async fn recover(&self, serving: bool) -> Result<Vec<DelegationId>, Error> {
        let trees = self.open_trees().await?;
        self.shared.slots.shut();
        let mut all_held = Vec::with_capacity(trees.len());
        for tree in &trees {
            let (held, has_held) = oneshot::channel();
            let mailbox = self.mailbox(tree);
            // A tree that cannot be read says so when it is asked for.
            let _ = mailbox.sender.send(Mail::Recover { serving, held: Some(held) }).await;
            all_held.push(has_held);
        }
        for has_held in all_held {
            let _ = has_held.await;
        }
        self.shared.slots.open();
        Ok(trees)
    }

    async fn open_trees(&self) -> Result<Vec<DelegationId>, Error> {
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let trees = self.shared.journal.open_trees(&after, MAX_PAGE).await?;
            let Some(last) = trees.last() else { return Ok(found) };
            after.clone_from(last);
            found.extend(trees.into_iter().map(DelegationId::from));
        }
    }

    /// Writes down that something was refused.
    pub fn note_refused(&self, call: &RefusedCall<'_>) {
        if let Some(logs) = &self.shared.logs {
            let now = legation_core::tree::view::Stamp(self.shared.world.now());
            logs.refused(&now.to_string(), call);
        }
    }

    /// The journal.
    pub fn journal(&self) -> &J {
        &self.shared.journal
    }

    /// The world.
    pub fn world(&self) -> &Arc<W> {
        &self.shared.world
    }

    /// A new id for a delegation.
    pub fn new_id(&self) -> DelegationId {
        ids::delegation(&*self.shared.world)
    }

    /// How many attempts may run at once from now on.
    pub fn resize(&self, width: u32) {
        self.shared.slots.resize(width);
    }

    /// Whether a tree is kept once it has ended and been told.
    pub fn keep_history(&self, keeps: bool) {
        self.shared.forgets.store(!keeps, Ordering::Release);
    }

    /// Slots that are free now.
    pub fn free_slots(&self) -> u32 {
        self.shared.slots.free()
    }

    /// Whether something goes on by itself.
    pub fn is_busy(&self) -> bool {
        !lock(&self.shared.busy).is_empty()
    }

    /// Why nothing new is accepted, if that is so.
    pub fn failure(&self) -> Option<&legation_store::Error> {
        self.shared.failed.get()
    }

    /// The tree that a delegation belongs to.
    pub async fn tree_of(&self, id: &DelegationId) -> Result<DelegationId, Error> {
        if lock(&self.shared.trees).contains_key(id) {
            return Ok(id.clone());
        }
        let found = self.shared.journal.delegation(id.as_str()).await?;
        let found = found.ok_or_else(|| Error::NotFound(id.clone()))?;
        Ok(DelegationId::from(found.tree))
    }

    /// Asks for a delegation: in a tree that is there, or as the root of a new one.
    pub async fn delegate(
        &self,
        delegate: Delegate,
        tree: Option<DelegationId>,
        follow: Follow,
    ) -> Result<Accepted, Error> {
        let again = |id: String| Accepted { id: id.into(), again: true, news: None };
        if let (None, Some(key)) = (&tree, &delegate.idempotency_key) {
            let known = self.shared.journal.delegation_of_key(ROOT_KEYS, key).await?;
            if let Some(id) = known {
                return Ok(again(id));
            }
        }
        let is_root = tree.is_none();
        let tree = tree.unwrap_or_else(|| delegate.id.clone());
        let mail = |reply| Mail::Delegate(Box::new(delegate.clone()), follow, reply);
        match self.send(&tree, is_root, mail).await? {
            Ok(accepted) => Ok(accepted),
            Err(Failure::Journal(legation_store::Error::DuplicateKey { delegation })) => {
                Ok(again(delegation))
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Tells a tree to do something, and waits until that is recorded or refused.
    pub async fn command(&self, tree: &DelegationId, command: Command) -> Result<(), Error> {
        let answer = self.send(tree, false, |reply| Mail::Wish(command.clone(), reply)).await?;
        answer.map_err(Error::from)
    }

    /// Waits for a delegation to come to its end.
    pub async fn answer(&self, tree: &DelegationId, id: &DelegationId) -> Result<Answer, Error> {
        let answer = self.send(tree, false, |reply| Mail::Await(id.clone(), reply)).await?;
        answer.ok_or_else(|| Error::NotFound(id.clone()))
    }

    /// Looks at a tree.
    pub async fn look<T: Send + 'static>(
        &self,
        tree: &DelegationId,
        look: impl Fn(&State) -> T + Send + Clone + 'static,
    ) -> Result<T, Error> {
        let mail = |reply: oneshot::Sender<T>| {
            let look = look.clone();
            Mail::Look(Look(Box::new(move |state| drop(reply.send(look(state))))))
        };
        self.send(tree, false, mail).await
    }

    /// Hears what happens in a tree from now on.
    pub async fn follow(
        &self,
        tree: &DelegationId,
    ) -> Result<broadcast::Receiver<Arc<News>>, Error> {
        self.send(tree, false, Mail::Follow).await
    }

    /// Sends a letter and waits for its answer. An actor that was just being put
    /// away drops its mail unread; the next one takes it.
    async fn send<T>(
        &self,
        tree: &DelegationId,
        is_new: bool,
        mail: impl Fn(oneshot::Sender<T>) -> Mail,
    ) -> Result<T, Error> {
        if let Some(failure) = self.shared.failed.get() {
            let reason = Box::new(failure.clone());
            return Err(legation_store::Error::Stopped { reason }.into());
        }
        let mut alarm = self.shared.alarm.subscribe();
        for _ in 0..MAX_SENDS {
            let (reply, answer) = oneshot::channel();
            let mailbox = if is_new { self.start(tree, true) } else { self.mailbox(tree) };
            let answered = async {
                mailbox.sender.send(mail(reply)).await.ok()?;
                answer.await.ok()
            };
            // A tree that has nothing to record would not notice that it cannot.
            let answered = tokio::select! {
                biased;
                answered = answered => answered,
                _ = alarm.wait_for(|failed| *failed) => None,
            };
            if let Some(answer) = answered {
                return Ok(answer);
            }
            if let Some(failure) = self.shared.failed.get() {
                return Err(failure.clone().into());
            }
        }
        // What keeps an actor from starting is found again by reading the log here.
        read::state(&self.shared.journal, tree).await?;
        Err(Error::Gone(tree.clone()))
    }

    /// The mailbox of a tree; its actor is started if there is none.
    fn mailbox(&self, tree: &DelegationId) -> Mailbox {
        if let Some(mailbox) = lock(&self.shared.trees).get(tree)
            && !mailbox.is_closed()
        {
            return mailbox.clone();
        }
        self.start(tree, false)
    }

    /// Starts the actor of a tree, unless somebody has in the meantime.
    fn start(&self, tree: &DelegationId, is_new: bool) -> Mailbox {
        let (sender, mut mail) = mpsc::channel(MAILBOX);
        let mailbox = Mailbox { sender };
        {
            let mut trees = lock(&self.shared.trees);
            if let Some(there) = trees.get(tree)
                && !there.is_closed()
            {
                return there.clone();
            }
            trees.insert(tree.clone(), mailbox.clone());
        }
        let (shared, tree, inbox) = (self.shared.clone(), tree.clone(), mailbox.clone());
        tokio::spawn(async move {
            let state = if is_new {
                Ok(State::default())
            } else {
                read::state(&shared.journal, &tree).await
            };
            let Ok(state) = state else { return turn_away(&mut mail).await };
            let desk = Desk::new(tree, state, shared.world.clone(), shared.slots.clone());
            Actor::new(desk, shared, (inbox, mail)).run().await;
        });
        mailbox
    }
}

impl<J, W> Shared<J, W> {
    /// Takes an actor that has nothing to do out of the list; false if there is mail.
    pub(crate) fn retire(
        &self,
        tree: &DelegationId,
        own: &Mailbox,
        mail: &mpsc::Receiver<Mail>,
    ) -> bool {
        let mut trees = lock(&self.trees);
        if !mail.is_empty() {
            return false;
        }
        take_out(&mut trees, tree, own);
        true
    }

    /// Takes an actor that cannot go on out of the list.
    pub(crate) fn gone(&self, tree: &DelegationId, own: &Mailbox) {
        self.note_busy(tree, false);
        take_out(&mut lock(&self.trees), tree, own);
    }

    /// Whether a tree is forgotten once it has ended and been told.
    pub(crate) fn forgets(&self) -> bool {
        self.forgets.load(Ordering::Acquire)
    }

    /// Keeps in mind whether a tree goes on by itself.
    pub(crate) fn note_busy(&self, tree: &DelegationId, is_busy: bool) {
        let mut busy = lock(&self.busy);
        if is_busy {
            busy.insert(tree.clone());
        } else {
            busy.remove(tree);
        }
    }

    /// Keeps in mind that the journal takes nothing more.
    pub(crate) fn journal_failed(&self, error: &legation_store::Error) {
        if !error.is_answer() {
            // The first failure is the one to tell.
            let _ = self.failed.set(error.clone());
            self.alarm.send_replace(true);
        }
    }

    /// Whether what happens is written down for people.
    pub(crate) fn is_logged(&self) -> bool {
        self.logs.is_some()
    }

    /// Writes down what happened.
    pub(crate) fn log(&self, news: &News) {
        if let Some(logs) = &self.logs {
            logs.write(news);
        }
    }
}

/// Another actor of the same tree may have taken the place.
fn take_out(trees: &mut FxHashMap<DelegationId, Mailbox>, tree: &DelegationId, own: &Mailbox) {
    if trees.get(tree).is_some_and(|there| there.sender.same_channel(&own.sender)) {
        trees.remove(tree);
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Rejected(rejection) => Self::Rejected(rejection),
            Failure::Journal(error) => Self::Journal(error),
        }
    }
}
