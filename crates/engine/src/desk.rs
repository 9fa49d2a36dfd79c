//! One tree's work, without waiting for anything.
//!
//! The desk decides a batch of mail on the state as it will be, and keeps what
//! follows to itself until the journal has it: nobody is answered, told or sent
//! to work before, and no slot is given back. If the journal fails, the desk is
//! thrown away; if it only refuses a batch, the tree is read again. So the order is
//! kept: appended, then seen, then acted upon.

mod acts;
mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use legation_core::ids::DelegationId;
use legation_core::returns::ReturnStatus;
use legation_core::time::Now;
use legation_core::tree::bounds;
use legation_core::tree::command::Delegate;
use legation_core::tree::event::{Body, Caller, NotBrought};
use legation_core::tree::view::{self, DelegationView};
use legation_core::tree::{
    AttemptNo, Command, DelegationNo, Effect, Event, Rejection, State, decide, evolve,
};
use tokio::sync::{broadcast, oneshot};

use crate::mail::{Accepted, Answer, Failure, Follow, Look, Mail, NEWS};
use crate::news::News;
use crate::slots::{Bell, Slots};
use crate::world::{Act, World};

/// One tree's work.
pub(crate) struct Desk<W> {
    pub(crate) tree: DelegationId,
    pub(crate) state: State,
    pub(crate) world: Arc<W>,
    slots: Arc<Slots>,
    pub(crate) bell: Arc<Bell>,
    /// Slots of the engine that this tree holds.
    held: u32,
    /// When something is due by itself.
    pub(crate) wake: Option<Now>,
    /// What was begun and is still owed.
    under_way: BTreeSet<Effect>,
    /// Every attempt below this number is being spawned or was, but for those that
    /// a pause held back.
    next_spawn: AttemptNo,
    held_back: Vec<AttemptNo>,
    /// Whether a batch was full and more follows without any mail.
    pub(crate) is_unsettled: bool,
    /// Attempts that the world knows of: it was told to start or to find them.
    begun: BTreeSet<AttemptNo>,
    /// Attempts with a slot put aside, with which they go on once they are told what a
    /// human said.
    promised: BTreeSet<AttemptNo>,
    /// Delegations whose result is being brought, or was brought, to who asked.
    brought: BTreeMap<DelegationNo, bool>,
    /// Why a result is not where whoever asked for it works.
    not_brought: BTreeMap<DelegationNo, NotBrought>,
    /// What has to be looked for after the engine came back, and told when time moved.
    lost_sight: Vec<Act>,
    /// Attempts that have just ended with work that may have to wait to be merged.
    may_wait: Vec<AttemptNo>,
    /// Made when the first one listens: it takes more memory than a small tree.
    /// Whether somebody has heard the answer of the whole tree.
    pub(crate) is_told: bool,
    news: Option<broadcast::Sender<Arc<News>>>,
    awaited: Vec<(DelegationId, oneshot::Sender<Option<Answer>>)>,
}

/// What a batch of mail came to.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Event>,
    /// What has to be decided again if the journal refuses the batch.
    pub(crate) again: Vec<Mail>,
    replies: Vec<Reply>,
    looks: Vec<Look>,
}

enum Reply {
    Wish(oneshot::Sender<Result<(), Failure>>, Result<(), Failure>),
    Delegate(oneshot::Sender<Result<Accepted, Failure>>, Result<Accepted, Failure>),
}

impl Batch {
    /// Tells everybody that what they asked for is recorded, and shows it.
    pub(crate) fn confirm(self, state: &State) {
        for look in self.looks {
            (look.0)(state);
        }
        for reply in self.replies {
            // Whoever has gone away does not want to know.
            match reply {
                Reply::Wish(sender, answer) => drop(sender.send(answer)),
                Reply::Delegate(sender, answer) => drop(sender.send(answer)),
            }
        }
    }

    /// Tells everybody that it could not be recorded. What nobody waits for is handed back.
    pub(crate) fn fail(self, error: &legation_store::Error) -> Vec<Mail> {
        for reply in self.replies {
            let failure = Failure::Journal(error.clone());
            match reply {
                Reply::Wish(sender, answer) => drop(sender.send(answer.and(Err(failure)))),
                Reply::Delegate(sender, answer) => drop(sender.send(answer.and(Err(failure)))),
            }
        }
        self.again
    }
}

impl<W: World> Desk<W> {
    pub(crate) fn new(tree: DelegationId, state: State, world: Arc<W>, slots: Arc<Slots>) -> Self {
        let held = state.slots;
        slots.hold(held);
        Self {
            tree,
            state,
            world,
            slots,
            bell: Arc::default(),
            held,
            wake: None,
            under_way: BTreeSet::new(),
            next_spawn: AttemptNo(0),
            held_back: Vec::new(),
            is_unsettled: false,
            begun: BTreeSet::new(),
            promised: BTreeSet::new(),
            brought: BTreeMap::new(),
            not_brought: BTreeMap::new(),
            lost_sight: Vec::new(),
            may_wait: Vec::new(),
            is_told: false,
            news: None,
            awaited: Vec::new(),
        }
    }

    /// Decides a batch of mail and everything that follows from it.
    pub(crate) fn take(&mut self, mails: Vec<Mail>) -> Batch {
        let now = self.world.now();
        let mut batch = Batch::default();
        for mail in mails {
            self.take_one(mail, now, &mut batch);
        }
        self.settle(now, &mut batch.events);
        batch
    }

    fn take_one(&mut self, mail: Mail, now: Now, batch: &mut Batch) {
        match mail {
            // Whoever reports is not waiting; what came too late is dropped.
            Mail::Report(command) => {
                drop(self.decide(&command, now, &mut batch.events));
                batch.again.push(Mail::Report(command));
            }
            Mail::Wish(command, reply) => {
                let answer = self.decide(&command, now, &mut batch.events);
                let answer = match answer {
                    Ok(()) | Err(Rejection::Stale) => Ok(()),
                    Err(rejection) => Err(Failure::Rejected(rejection)),
                };
                batch.replies.push(Reply::Wish(reply, answer));
            }
            Mail::Delegate(delegate, follow, reply) => {
                let mut answer = self.delegate(*delegate, now, &mut batch.events);
                if let (Ok(accepted), Follow::Everything) = (&mut answer, follow) {
                    accepted.news = Some(self.follow());
                }
                batch.replies.push(Reply::Delegate(reply, answer));
            }
            Mail::Await(delegation, reply) => self.awaited.push((delegation, reply)),
            Mail::Look(look) => batch.looks.push(look),
            // The actor answers these itself.
            Mail::Follow(_) => {}
            Mail::Recover { serving, held } => {
                // Nobody has to be waiting for it.
                let _ = held.map(|held| held.send(()));
                self.recover(serving, now, &mut batch.events);
                batch.again.push(Mail::Recover { serving, held: None });
            }
            Mail::Brought { delegation, obstacle } => {
                let no = self.state.find(&delegation);
                if let Some((no, brought)) =
                    no.and_then(|no| Some((no, self.brought.get_mut(&no)?)))
                {
                    *brought = true;
                    self.not_brought.extend(obstacle.map(|why| (no, why)));
                }
            }
        }
    }

    fn delegate(
        &mut self,
        delegate: Delegate,
        now: Now,
        events: &mut Vec<Event>,
    ) -> Result<Accepted, Failure> {
        let (id, detached) = (delegate.id.clone(), !delegate.waits);
        let caller = delegate.caller.clone();
        match self.decide(&Command::Delegate(Box::new(delegate)), now, events) {
            Ok(()) => Ok(Accepted { id, again: false, news: None }),
            Err(Rejection::Same(id)) => {
                if let (Caller::Attempt(attempt), false) = (caller, detached) {
                    // Whoever asks again waits again; if it is told already, nothing changes.
                    let wait = Command::Await { attempt, delegation: id.clone() };
                    drop(self.decide(&wait, now, events));
                }
                Ok(Accepted { id, again: true, news: None })
            }
            Err(rejection) => Err(Failure::Rejected(rejection)),
        }
    }

    /// Decides one command and folds what follows, for nobody else to see yet.
    fn decide(
        &mut self,
        command: &Command,
        now: Now,
        events: &mut Vec<Event>,
    ) -> Result<(), Rejection> {
        for event in decide(&self.state, command, now)? {
            evolve(&mut self.state, &event);
            events.push(event);
        }
        Ok(())
    }

    /// What was running has to be looked for before the time counts again.
    fn recover(&mut self, serving: bool, now: Now, events: &mut Vec<Event>) {
        drop(self.decide(&Command::Recover { serving }, now, events));
        let running: Vec<_> = self.state.running().collect();
        for no in running {
            if self.state.attempts[no].spawned && self.begun.insert(no) {
                self.lost_sight.push(Act::Find(Box::new(self.job(no, now))));
            }
        }
        drop(self.decide(&Command::Tick, now, events));
    }

    /// Goes on from what the journal has, after it refused a batch. What was begun
    /// in the world goes on all the while.
    pub(crate) fn go_back(&mut self, state: State) {
        self.state = state;
        self.promised.clear();
        self.under_way.retain(|effect| !matches!(effect, Effect::Answer(_)));
    }

    /// What is recorded is true: slots that nobody needs go to others.
    pub(crate) fn recorded(&mut self, events: &[Event]) {
        for event in events {
            if let Body::AttemptEnded(ended) = &event.body {
                self.begun.remove(&ended.attempt);
                if ended.status == ReturnStatus::Completed {
                    self.may_wait.push(ended.attempt);
                }
            }
        }
        if events
            .iter()
            .any(|event| matches!(event.body, Body::Paused { .. } | Body::Resumed { .. }))
        {
            self.move_deadlines();
        }
        let spare = self.held.saturating_sub(self.needed());
        self.held -= spare;
        if spare > 0 {
            self.slots.give(spare);
        }
    }

    /// Slots that attempts hold or were promised.
    fn needed(&self) -> u32 {
        let promised = u32::try_from(self.promised.len()).unwrap_or(u32::MAX);
        self.state.slots.saturating_add(promised)
    }

    /// Answers those whose delegation has come to its end.
    pub(crate) fn answer_awaited(&mut self) {
        if self.awaited.is_empty() {
            return;
        }
        let now = self.world.now();
        let waiting = std::mem::take(&mut self.awaited);
        for (delegation, reply) in waiting {
            match self.answer(&delegation, now) {
                Some(answer) => {
                    let heard = reply.send(Some(answer)).is_ok();
                    self.is_told |= heard && delegation == self.tree;
                }
                None if self.state.find(&delegation).is_none() => drop(reply.send(None)),
                None if reply.is_closed() => {}
                None => self.awaited.push((delegation, reply)),
            }
        }
    }

    /// The answer of a delegation, if it can be given: a root's when everything is
    /// cleared away, any other's when whoever asked may go on.
    fn answer(&self, id: &DelegationId, now: Now) -> Option<Answer> {
        let no = self.state.find(id)?;
        let delegation = &self.state.delegations[no];
        let outcome = delegation.ended?;
        let ready = match delegation.parent {
            Some(_) => delegation.told,
            None => self.state.is_over(),
        };
        ready.then(|| Answer { status: outcome.as_str(), view: Arc::new(self.view(no, now)) })
    }

    /// A delegation as its caller is shown it.
    fn view(&self, no: DelegationNo, now: Now) -> DelegationView {
        let parent = self.state.delegations[no].parent;
        let caller = match parent {
            Some(attempt) => Caller::Attempt(self.state.attempts[attempt].id.clone()),
            None => Caller::Root { name: "user".into(), depth: 0 },
        };
        let mut view = view::status(&self.state, no, now);
        view.remaining = bounds::remaining(&self.state, &caller, now, self.slots.free());
        view
    }

    /// Everything that happens from now on.
    pub(crate) fn follow(&mut self) -> broadcast::Receiver<Arc<News>> {
        self.news.get_or_insert_with(|| broadcast::Sender::new(NEWS)).subscribe()
    }

    /// Where those listen who follow the tree, if there are any.
    pub(crate) fn followers(&self) -> Option<&broadcast::Sender<Arc<News>>> {
        self.news.as_ref().filter(|news| news.receiver_count() > 0)
    }

    /// Whether nothing is left to do for this tree, and nobody waits for it.
    pub(crate) fn is_done(&self) -> bool {
        let nothing = self.state.settings.is_none() || self.state.is_over();
        nothing && self.awaited.is_empty() && self.held == 0
    }

    /// Whether something goes on by itself, so that the engine has to stay.
    pub(crate) fn is_busy(&self) -> bool {
        let root = DelegationNo(0);
        let started = self.state.settings.is_some() && !self.state.is_over();
        let still = self.state.running().next().is_none()
            && self.state.delegations.has(root)
            && self.state.is_paused(root);
        started && !still
    }
}

impl<W> Drop for Desk<W> {
    fn drop(&mut self) {
        self.slots.leave(&self.bell);
        self.slots.give(self.held + self.bell.granted());
    }
}
