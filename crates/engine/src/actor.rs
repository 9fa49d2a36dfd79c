//! The actor of a tree: takes its mail, appends, and sends the world to work.

use std::pin::Pin;
use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_core::time::Now;
use legation_core::tree::{Command, Event};
use legation_store::{Append, Journal};
use tokio::sync::mpsc;

use crate::desk::Desk;
use crate::engine::Shared;
use crate::mail::{Mail, Mailbox};
use crate::news;
use crate::record;
use crate::world::World;

/// Letters that are decided together at most.
const MAX_BATCH: usize = 512;

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
    Gone,
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
        loop {
            let mails = match self.woken(&mut timer).await {
                Woken::Mail(first) => self.drain(*first),
                Woken::Slot => Vec::new(),
                Woken::Time => vec![Mail::Report(Command::Tick)],
                Woken::Gone => break,
            };
            if self.work(mails).await.is_err() {
                break;
            }
            self.set(&mut timer);
            self.shared.note_busy(&self.desk.tree, self.desk.is_busy());
            if self.desk.is_done() && self.shared.retire(&self.desk.tree, &self.mailbox, &self.mail)
            {
                break;
            }
        }
        self.shared.note_busy(&self.desk.tree, false);
    }

    async fn woken(&mut self, timer: &mut Option<(Now, Timer)>) -> Woken {
        let bell = self.desk.bell.clone();
        let due = async {
            match timer {
                Some((_, timer)) => timer.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            mail = self.mail.recv() => mail.map_or(Woken::Gone, |mail| Woken::Mail(Box::new(mail))),
            () = bell.rung() => Woken::Slot,
            () = due => {
                *timer = None;
                Woken::Time
            }
        }
    }

    /// The first letter and whatever else has arrived.
    fn drain(&mut self, first: Mail) -> Vec<Mail> {
        let mut mails = Vec::with_capacity(1);
        let mut next = Some(first);
        while let Some(mail) = next {
            // Whoever asks first hears everything that follows.
            if let Mail::Follow(reply) = mail {
                drop(reply.send(self.desk.news.subscribe()));
            } else {
                mails.push(mail);
            }
            next = if mails.len() < MAX_BATCH { self.mail.try_recv().ok() } else { None };
        }
        mails
    }

    /// Decides, appends, tells, acts: in this order, always.
    async fn work(&mut self, mails: Vec<Mail>) -> Result<(), legation_store::Error> {
        let before = self.desk.state.seq;
        let batch = self.desk.take(mails);
        if !batch.events.is_empty() {
            if let Err(error) = self.append(before, &batch.events).await {
                self.shared.journal_failed(&error);
                batch.fail(&error);
                return Err(error);
            }
            self.tell(&batch.events);
        }
        batch.confirm();
        for act in self.desk.acts() {
            self.shared.world.act(act, self.mailbox.clone());
        }
        self.desk.answer_awaited();
        Ok(())
    }

    async fn append(&mut self, before: u64, events: &[Event]) -> Result<(), legation_store::Error> {
        let tree = self.desk.tree.as_str();
        let text = |event: &Event| {
            record::encode(event).map_err(|problem| legation_store::Error::Invalid {
                what: format!("an event that JSON cannot hold: {problem}"),
            })
        };
        let append = Append {
            tree: tree.to_owned(),
            expected_seq: before,
            events: events.iter().map(text).collect::<Result<_, _>>()?,
            rows: record::rows(&self.desk.state, tree, events, self.was_over),
        };
        self.shared.journal.append(append).await?;
        self.was_over = self.desk.state.is_over();
        Ok(())
    }

    /// Tells those who follow the tree, and the log.
    fn tell(&self, events: &[Event]) {
        if self.desk.news.receiver_count() == 0 && !self.shared.is_logged() {
            return;
        }
        let first = self.desk.state.seq - events.len() as u64;
        for (place, event) in events.iter().enumerate() {
            let seq = first + 1 + place as u64;
            let Some(news) = news::tell(&self.desk.state, event, seq) else { continue };
            let news = Arc::new(news);
            self.shared.log(&news);
            // Nobody has to be listening.
            let _ = self.desk.news.send(news);
        }
    }

    fn set(&self, timer: &mut Option<(Now, Timer)>) {
        let wanted = self.desk.wake;
        if timer.as_ref().map(|(at, _)| *at) != wanted {
            *timer = wanted.map(|at| {
                let world = self.shared.world.clone();
                let wait: Timer = Box::pin(async move { world.until(at).await });
                (at, wait)
            });
        }
    }
}

/// The name of the tree, for whoever debugs.
impl<J, W> std::fmt::Debug for Actor<J, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tree: &DelegationId = &self.desk.tree;
        f.debug_struct("Actor").field("tree", tree).finish_non_exhaustive()
    }
}
