//! The actor of a tree: takes its mail, appends, and sends the world to work.

use std::pin::Pin;
use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_core::time::Now;
use legation_core::tree::{Command, Event};
use legation_store::{Append, Journal};
use tokio::sync::mpsc;

use crate::desk::Desk;
use crate::engine::{Error, Shared};
use crate::mail::{Mail, Mailbox};
use crate::news;
use crate::read;
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
                return;
            }
        }
        self.shared.gone(&self.desk.tree, &self.mailbox);
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
        let before = self.desk.state.seq;
        let batch = self.desk.take(mails);
        if !batch.events.is_empty() {
            if let Err(error) = self.append(before, &batch.events).await {
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
        for act in self.desk.acts() {
            self.shared.world.act(act, self.mailbox.clone());
        }
        self.desk.answer_awaited();
        Ok(Worked::Done)
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
