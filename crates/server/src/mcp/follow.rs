//! Waiting for a delegation on behalf of a tool call: progress soon and often enough that
//! no client takes the call for dead, and a cancelled call cancels the work.

use std::collections::BTreeMap;
use std::time::Duration;

use legation_core::Code;
use legation_core::config::Pattern;
use legation_core::ids::{DelegationId, SubtaskId};
use legation_core::returns::neutralise;
use legation_core::text::shown::clip;
use legation_engine::client::{Conversation, Lost};
use legation_engine::news::{News, What};
use legation_engine::protocol::{Refused, Reply, Steer, To, Wish};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, sleep_until};

use crate::office::{Caller, Closing, Office};

/// How often something is said even if nothing happens.
const BEAT: Duration = Duration::from_secs(10);
/// How long something that happened waits for the next, which then is told in its place. So
/// a client is not flooded, and not told of what its answer says in the same moment.
const HOLD: Duration = Duration::from_millis(50);
/// Characters of something that happened that are told.
const MAX_LINE_CHARS: usize = 600;
/// How often an engine may be lost in a row without a word in between.
const MAX_LOSSES: u32 = 5;
/// How long the engine may take to accept what its caller has taken back already.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long work may still take whose client has hung up. Clients kill a server that is still
/// there after two seconds.
const GRACE: Duration = Duration::from_secs(1);
/// How much longer one waits before each further try.
const BREATH: Duration = Duration::from_millis(200);

/// One tool call that waits.
pub(super) struct Follow<'a, O> {
    office: &'a O,
    context: &'a RequestContext<RoleServer>,
    caller: Caller,
    closing: &'a Closing,
    /// When the client hung up, once it has.
    gone: watch::Receiver<Option<Instant>>,
    delegation: Option<DelegationId>,
    /// Whether the work was asked for by this call, and goes when it is taken back.
    is_own: bool,
    /// Whether an answer comes as soon as the work is accepted.
    is_brief: bool,
    /// When a call that was taken back is waited for no longer.
    gives_up: Option<Instant>,
    progress: Progress,
    /// Whether the caller is told what each subtask came to as it ends.
    streams: bool,
    /// What subtasks said that are about to end.
    said: BTreeMap<SubtaskId, String>,
    losses: u32,
}

/// How waiting ended.
pub(super) enum Outcome {
    /// It is over, or what was asked for is done.
    Answer(Value),
    /// It was accepted, and nobody waits.
    Accepted(DelegationId),
    /// The time to wait is up.
    Later(DelegationId),
}

enum Step {
    Ended(Outcome),
    Lost,
}

impl<'a, O: Office> Follow<'a, O> {
    pub(super) fn new(
        office: &'a O,
        context: &'a RequestContext<RoleServer>,
        (caller, (closing, gone)): (Caller, (&'a Closing, watch::Receiver<Option<Instant>>)),
    ) -> Self {
        let progress = Progress {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            gone: gone.clone(),
            said: 0,
            held: None,
        };
        Self {
            office,
            context,
            caller,
            closing,
            gone,
            delegation: None,
            is_own: true,
            is_brief: false,
            gives_up: None,
            progress,
            streams: false,
            said: BTreeMap::new(),
            losses: 0,
        }
    }

    /// Of a delegation that is there already. Whoever no longer waits for it has not
    /// taken it back: there is another tool for that.
    pub(super) fn of(self, delegation: DelegationId) -> Self {
        Self { delegation: Some(delegation), streams: true, ..self }
    }

    /// Asks, and waits at most so long.
    pub(super) async fn run(
        mut self,
        wish: Wish,
        limit: Option<Duration>,
    ) -> Result<Outcome, Box<Refused>> {
        self.is_own = matches!(&wish, Wish::Delegate(_));
        self.is_brief = matches!(&wish, Wish::Delegate(call) if call.detach);
        self.progress.hold("asked the engine");
        let mut wish = wish;
        let until = limit.map(|limit| Instant::now() + limit);
        loop {
            let step = match self.ask(wish.clone()).await {
                Ok(talk) => self.listen(talk, until).await?,
                Err(refused) if self.losses == 0 || self.has_given_up() => return Err(refused),
                Err(_) => Step::Lost,
            };
            match step {
                Step::Ended(outcome) => return Ok(outcome),
                Step::Lost => {
                    self.losses += 1;
                    let again = self.again(wish).filter(|_| self.losses <= MAX_LOSSES);
                    wish = again.ok_or_else(engine_gone)?;
                    sleep(BREATH * self.losses).await;
                }
            }
        }
    }

    async fn ask(&mut self, wish: Wish) -> Result<Conversation, Box<Refused>> {
        let caller = self.caller.clone();
        let asked = self.office.ask(&caller, wish);
        tokio::pin!(asked);
        loop {
            tokio::select! {
                talk = &mut asked => return talk,
                () = self.progress.is_due() => self.progress.say().await,
                () = self.taken_back(), if self.gives_up.is_none() => self.take_back(),
                () = at(self.gives_up) => return Err(self.cancel().await),
            }
        }
    }

    /// What to ask of the next engine: the same delegation is waited for, and a call that
    /// carries a key is made again.
    fn again(&self, wish: Wish) -> Option<Wish> {
        match (&self.delegation, wish) {
            (Some(delegation), _) => Some(Wish::Wait { delegation: delegation.clone() }),
            (None, wish @ Wish::Delegate(_)) => Some(wish),
            (None, _) => None,
        }
    }

    async fn listen(
        &mut self,
        mut talk: Conversation,
        until: Option<Instant>,
    ) -> Result<Step, Box<Refused>> {
        let mut beat = interval_at(Instant::now() + BEAT, BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                // What was taken back is not answered, even if its answer is there.
                biased;
                () = self.taken_back(), if self.gives_up.is_none() => self.take_back(),
                () = at(self.gives_up) => return Err(self.cancel().await),
                () = at(until) => if let Some(id) = &self.delegation {
                    return Ok(Step::Ended(Outcome::Later(id.clone())));
                },
                _ = beat.tick() => self.progress.hold("still at work"),
                () = self.progress.is_due() => self.progress.say().await,
                reply = talk.next() => match reply {
                    Ok(reply) => if let Some(outcome) = self.hear(reply).await? {
                        return Ok(Step::Ended(outcome));
                    },
                    Err(Lost::Gone | Lost::Failed(_)) => return Ok(Step::Lost),
                    Err(lost @ Lost::Garbled(_)) => return Err(failure(lost.to_string())),
                },
            }
        }
    }

    async fn hear(&mut self, reply: Reply) -> Result<Option<Outcome>, Box<Refused>> {
        self.losses = 0;
        match reply {
            Reply::Accepted { delegation, pattern, .. } => {
                self.streams = pattern == Pattern::ParallelStreaming;
                self.progress.hold(&format!("{delegation} was accepted"));
                if !self.is_brief {
                    self.progress.say().await;
                }
                self.delegation = Some(delegation);
                self.gives_up = self.gives_up.map(|_| Instant::now());
            }
            Reply::News(news) => self.happened(&news).await,
            Reply::Note(note) => self.progress.hold(&note),
            Reply::Answer { view, .. } if view.get("subtasks").is_none() => {
                return Ok(self.delegation.clone().map(Outcome::Accepted));
            }
            Reply::Answer { view, .. } => return Ok(Some(Outcome::Answer(view))),
            Reply::Done(value) => return Ok(Some(Outcome::Answer(value))),
            Reply::Refused(refused) => return Err(Box::new(refused)),
        }
        Ok(None)
    }

    /// What a subtask came to is told at once, and nothing else in its place.
    async fn happened(&mut self, news: &News) {
        let mut message = line(news);
        let is_own = self.delegation.as_ref() == Some(&news.delegation);
        let mut is_result = false;
        if let What::Ended { run, summary, .. } = &news.what
            && is_own
        {
            self.said.insert(run.subtask.clone(), summary.clone());
        }
        if let What::SubtaskEnded { subtask, .. } = &news.what
            && is_own
        {
            is_result = self.streams;
            let said = self.said.remove(subtask).filter(|said| !said.is_empty());
            message.extend(said.map(|said| format!(": {said}")));
        }
        self.progress.hold(&message);
        if is_result {
            self.progress.say().await;
        }
    }

    /// Waits until the client takes its call back. One that has hung up has done so with
    /// whatever it was waiting for, unless that ends in a moment.
    fn taken_back(&self) -> impl Future<Output = ()> + use<O> {
        let (ct, mut gone) = (self.context.ct.clone(), self.gone.clone());
        let waits = !self.is_brief && (self.is_own || self.delegation.is_some());
        async move {
            let hung_up = async {
                let gone = gone.wait_for(Option::is_some).await.ok().and_then(|gone| *gone);
                at(gone.filter(|_| waits).map(|gone| gone + GRACE)).await;
            };
            tokio::select! {
                () = ct.cancelled() => {}
                () = hung_up => {}
            }
        }
    }

    /// The client has taken its call back. What the engine may be accepting just now cannot be
    /// cancelled before it is known, so that is waited for.
    fn take_back(&mut self) {
        let is_unknown = self.is_own && self.delegation.is_none() && !self.closing.has_begun();
        let patience = if is_unknown { PATIENCE } else { Duration::ZERO };
        self.gives_up = Some(Instant::now() + patience);
    }

    fn has_given_up(&self) -> bool {
        self.gives_up.is_some_and(|at| at <= Instant::now())
    }

    /// The client has taken its call back: the work is cancelled, and its end not awaited.
    /// A server that goes takes nothing back.
    async fn cancel(&self) -> Box<Refused> {
        if let Some(delegation) = self.delegation.clone()
            && self.is_own
            && !self.closing.has_begun()
        {
            let reason = "the caller took its request back".to_owned();
            let to = To::Cancel { subtask: None, reason, rollback: false };
            let steer = Wish::Steer(Steer { delegation, to, wait: false });
            if let Ok(mut talk) = self.office.ask(&self.caller, steer).await {
                let _ = talk.next().await;
            }
        }
        failure("The request was cancelled.".to_owned())
    }
}

/// What a client is told while it waits.
struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    gone: watch::Receiver<Option<Instant>>,
    said: u32,
    /// What is told next, and when.
    held: Option<(Instant, String)>,
}

impl Progress {
    /// Has something told soon, unless something else happens before.
    fn hold(&mut self, message: &str) {
        if self.token.is_none() {
            return;
        }
        let due = self.held.take().map_or_else(|| Instant::now() + HOLD, |(due, _)| due);
        // Children's words are in it, too.
        let message = clip(&neutralise(message), MAX_LINE_CHARS).into_owned();
        self.held = Some((due, message));
    }

    /// Waits until something is to be told, which may be for ever.
    fn is_due(&self) -> impl Future<Output = ()> + use<> {
        at(self.held.as_ref().map(|(due, _)| *due))
    }

    async fn say(&mut self) {
        let (Some(token), Some((_, message))) = (self.token.clone(), self.held.take()) else {
            return;
        };
        self.said = self.said.saturating_add(1);
        let note = ProgressNotificationParam::new(token, f64::from(self.said));
        // To a client that is gone nothing is sent any more, and nobody says so.
        tokio::select! {
            _ = self.peer.notify_progress(note.with_message(&message)) => {}
            _ = self.gone.wait_for(Option::is_some) => {}
        }
    }
}

/// Waits for a time, or for ever where there is none.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Something that happened, in a line.
fn line(news: &News) -> String {
    match &news.what {
        What::Accepted { title, .. } => format!("accepted: {title}"),
        What::Grew { subtasks } => format!("{} more subtasks", subtasks.len()),
        What::Started(run) => format!("{} started as {}", run.subtask, run.agent),
        What::Progress { run, current, total, last_action } => {
            format!("{}: {current} of {total} {last_action}", run.subtask)
        }
        What::Used { run, .. } => format!("{} is at work", run.subtask),
        What::Ended { run, status, summary, .. } => format!("{} {status}: {summary}", run.subtask),
        What::Asked { run, what } => format!("{} waits for an approval: {what}", run.subtask),
        What::Retried { subtask, why } => format!("{subtask} is tried again: {why}"),
        What::Merged { subtask, clean: true, .. } => format!("{subtask} was merged"),
        What::Merged { subtask, detail, .. } => format!("{subtask} could not be merged: {detail}"),
        What::SubtaskEnded { subtask, status } => format!("{subtask} {status}"),
        What::Paused { reason } => format!("paused: {reason}"),
        What::Resumed => "resumed".to_owned(),
        What::CancelRequested { reason, .. } => format!("is being cancelled: {reason}"),
        What::LeftBehind { detail } => format!("left behind: {detail}"),
        What::Finished { status, summary, .. } => format!("{status}: {summary}"),
    }
}

fn engine_gone() -> Box<Refused> {
    failure("The engine has gone, and cannot be reached again.".to_owned())
}

fn failure(message: String) -> Box<Refused> {
    Box::new(Refused {
        code: Code::UnknownError.to_string(),
        message,
        hint: "`delegate_list` shows what is recorded.".to_owned(),
        details: json!({}),
        ..Refused::default()
    })
}
