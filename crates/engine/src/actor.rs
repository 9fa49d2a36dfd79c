//! The actor of a tree: takes its mail, appends, and sends the world to work.

use std::pin::Pin;
use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_core::time::Now;
use legation_core::tree::{Command, Event};
use legation_store::{Append, Journal, MAX_EVENTS};
use tokio::sync::mpsc;

use crate::desk::Desk;
use crate::engine::{Error, Shared};
use crate::mail::{Mail, Mailbox};
use crate::news;
use crate::read;
use crate::record;
use crate::world::World;

/// Letters that are decided together at most.
const MAX_BATCH: usize = 1024;
/// Milliseconds that letters which can wait are kept for others to join them.
const PATIENCE_MS: u64 = 2;

/// The actor of a tree.
pub(crate) struct Actor<J, W> {
    desk: Desk<W>,
    shared: Arc<Shared<J, W>>,
    mail: mpsc::Receiver<Mail>,
    mailbox: Mailbox,
    was_over: bool,
}

/// What wakes an actor.
enum Woken {
    Mail(Box<Mail>),
    Slot,
    Time,
    Impatient,
    Gone,
}

/// What became of a batch.
enum Worked {
    Done,
    /// The journal is well and does not take it; this is to be decided again.
    Refused(Vec<Mail>),
}

type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;

impl<J: Journal + 'static, W: World> Actor<J, W> {
    pub(crate) fn new(
        desk: Desk<W>,
        shared: Arc<Shared<J, W>>,
        (mailbox, mail): (Mailbox, mpsc::Receiver<Mail>),
    ) -> Self {
        let was_over = desk.state.is_over();
        Self { desk, shared, mail, mailbox, was_over }
    }

    /// Works until the tree is over and nobody wants anything of it.
    pub(crate) async fn run(mut self) {
        let mut timer: Option<(Now, Timer)> = None;
        while let Some(mails) = self.gather(&mut timer).await {
            if self.work(mails).await.is_err() {
                break;
            }
            self.set(&mut timer);
            self.shared.note_busy(&self.desk.tree, self.desk.is_busy());
            if self.desk.is_done() && self.shared.retire(&self.desk.tree, &self.mailbox, &self.mail)
            {
                if self.desk.state.is_over() {
                    self.shared.world.over(&self.desk.tree);
                }
                turn_away(&mut self.mail).await;
                self.forget().await;
                return;
            }
        }
        self.shared.gone(&self.desk.tree, &self.mailbox);
        turn_away(&mut self.mail).await;
    }

    /// Forgets a tree that has ended and been told, where that is wanted.
    async fn forget(&self) {
        if self.shared.forgets() && self.desk.is_told && self.desk.state.is_over() {
            // What could not be forgotten now goes when its time is up.
            let _ = self.shared.journal.forget(self.desk.tree.as_str()).await;
        }
    }

    /// The letters to be decided next; nothing once there will be no more.
    async fn gather(&mut self, timer: &mut Option<(Now, Timer)>) -> Option<Vec<Mail>> {
        let mut mails = Vec::new();
        if self.desk.is_unsettled {
            self.drain(&mut mails);
            return Some(mails);
        }
        let mut patience: Option<Timer> = None;
        loop {
            match self.woken(timer, &mut patience).await {
                Woken::Mail(mail) => self.keep(*mail, &mut mails),
                Woken::Slot | Woken::Impatient => return Some(mails),
                Woken::Time => {
                    mails.push(Mail::Report(Command::Tick));
                    return Some(mails);
                }
                Woken::Gone => return None,
            }
            self.drain(&mut mails);
            // What can wait is decided together with what follows it: one append, one
            // wait for the disk.
            if mails.len() >= MAX_BATCH || !mails.iter().all(Mail::can_wait) {
                return Some(mails);
            }
            if patience.is_none() {
                patience = Some(self.until(self.shared.world.now().plus_ms(PATIENCE_MS)));
            }
        }
    }

    async fn woken(
        &mut self,
        timer: &mut Option<(Now, Timer)>,
        patience: &mut Option<Timer>,
    ) -> Woken {
        let bell = self.desk.bell.clone();
        let due = timer.as_mut().map(|(_, timer)| timer);
        tokio::select! {
            biased;
            // A steady flow of mail must not keep a deadline from being noticed.
            () = some(due) => {
                *timer = None;
                Woken::Time
            }
            mail = self.mail.recv() => mail.map_or(Woken::Gone, |mail| Woken::Mail(Box::new(mail))),
            () = bell.rung() => Woken::Slot,
            () = some(patience.as_mut()) => Woken::Impatient,
        }
    }

    /// Whatever else has arrived.
    fn drain(&mut self, mails: &mut Vec<Mail>) {
        while mails.len() < MAX_BATCH
            && let Ok(mail) = self.mail.try_recv()
        {
            self.keep(mail, mails);
        }
    }

    fn keep(&mut self, mail: Mail, mails: &mut Vec<Mail>) {
        // Whoever asks first hears everything that follows.
        if let Mail::Follow(reply) = mail {
            drop(reply.send(self.desk.follow()));
        } else {
            mails.push(mail);
        }
    }

    /// Works on a batch. If the journal refuses it, those who asked for something are
    /// told so, and what was reported is worked on again, one by one.
    async fn work(&mut self, mails: Vec<Mail>) -> Result<(), Error> {
        let again = match self.work_once(mails).await? {
            Worked::Done => return Ok(()),
            Worked::Refused(again) => again,
        };
        self.go_back().await?;
        for mail in again {
            if let Worked::Refused(_) = self.work_once(vec![mail]).await? {
                // It cannot be recorded in any way; the tree's own time limits have to do.
                self.go_back().await?;
            }
        }
        match self.work_once(Vec::new()).await? {
            Worked::Done => Ok(()),
            Worked::Refused(_) => Err(Error::Gone(self.desk.tree.clone())),
        }
    }

    /// Forgets what was decided and not recorded.
    async fn go_back(&mut self) -> Result<(), Error> {
        let state = read::state(&self.shared.journal, &self.desk.tree).await?;
        self.was_over = state.is_over();
        self.desk.go_back(state);
        self.desk.recorded(&[]);
        Ok(())
    }

    /// Decides, appends, tells, acts: in this order, always.
    async fn work_once(&mut self, mails: Vec<Mail>) -> Result<Worked, Error> {
        let batch = self.desk.take(mails);
        if !batch.events.is_empty() {
            if let Err(error) = self.append(&batch.events).await {
                self.shared.journal_failed(&error);
                let again = batch.fail(&error);
                return if error.is_answer() {
                    Ok(Worked::Refused(again))
                } else {
                    Err(error.into())
                };
            }
            self.tell(&batch.events);
        }
        self.desk.recorded(&batch.events);
        batch.confirm(&self.desk.state);
        let (world, mailbox) = (&self.shared.world, &self.mailbox);
        self.desk.act_on_owed(|act| world.act(act, mailbox.clone()));
        self.desk.answer_awaited();
        Ok(Worked::Done)
    }

    /// Appends a batch. One that is too large for one append becomes several: the rows
    /// come with the last, and nobody is told before.
    async fn append(&mut self, events: &[Event]) -> Result<(), legation_store::Error> {
        let tree = self.desk.tree.as_str();
        let mut rows = record::rows(&self.desk.state, tree, events, self.was_over);
        let mut left = events.len();
        for events in events.chunks(MAX_EVENTS) {
            let expected_seq = self.desk.state.seq - left as u64;
            left -= events.len();
            let rows = if left == 0 { std::mem::take(&mut rows) } else { Vec::new() };
            let events = record::encode(events).map_err(|problem| {
                let what = format!("an event that JSON cannot hold: {problem}");
                legation_store::Error::Invalid { what }
            })?;
            let append = Append { tree: tree.to_owned(), expected_seq, events, rows };
            self.shared.journal.append(append).await?;
        }
        self.was_over = self.desk.state.is_over();
        Ok(())
    }

    /// Tells those who follow the tree, and the log.
    fn tell(&self, events: &[Event]) {
        let followers = self.desk.followers();
        if followers.is_none() && !self.shared.is_logged() {
            return;
        }
        let first = self.desk.state.seq - events.len() as u64;
        for (place, event) in events.iter().enumerate() {
            let seq = first + 1 + place as u64;
            for news in news::tell(&self.desk.state, event, seq).map(Arc::new) {
                self.shared.log(&news);
                // Nobody has to be listening any more.
                let _ = followers.map(|followers| followers.send(news));
            }
        }
    }

    fn set(&self, timer: &mut Option<(Now, Timer)>) {
        let wanted = self.desk.wake;
        if timer.as_ref().map(|(at, _)| *at) != wanted {
            *timer = wanted.map(|at| (at, self.until(at)));
        }
    }

    fn until(&self, at: Now) -> Timer {
        let world = self.shared.world.clone();
        Box::pin(async move { world.until(at).await })
    }
}

/// Takes no more mail, and drops what is still arriving: who wrote it then knows. A letter
/// that is on its way when the box is merely thrown away stays in it unread, and whoever
/// waits for its answer holds the box and waits for ever.
pub(crate) async fn turn_away(mail: &mut mpsc::Receiver<Mail>) {
    mail.close();
    while mail.recv().await.is_some() {}
}

/// Waits for what is there, and for ever where nothing is.
async fn some(timer: Option<&mut Timer>) {
    match timer {
        Some(timer) => timer.await,
        None => std::future::pending().await,
    }
}

/// The name of the tree, for whoever debugs.
impl<J, W> std::fmt::Debug for Actor<J, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tree: &DelegationId = &self.desk.tree;
        f.debug_struct("Actor").field("tree", tree).finish_non_exhaustive()
    }
}
