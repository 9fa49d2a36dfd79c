//! Waiting for a delegation, and telling what happens meanwhile.
//!
//! An engine that dies is not the end of it: it is started again, and the same
//! delegation is waited for.

mod again;
mod display;
mod interrupt;

use std::time::Duration;

use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::returns::told_to_parent;
use legation_engine::client::{Conversation, Lost};
use legation_engine::protocol::{Reply, Wish};
use serde_json::{Map, Value};
use tokio::time::{MissedTickBehavior, interval};

pub(crate) use self::again::Again;
use self::display::Display;
use self::interrupt::Interrupts;
pub(crate) use self::interrupt::end_when_done;
use crate::error::CommandError;
use crate::output::Output;
use crate::reach::{self, Reach};

/// How often in a row an engine may be lost without a word in between.
const MAX_LOSSES: u32 = 5;
/// How much longer one waits before each further try.
const BREATH: Duration = Duration::from_millis(100);
/// How often the screen is drawn even if nothing happens: the time goes on.
const DRAW_EVERY: Duration = Duration::from_millis(250);
/// How long somebody who will not wait listens for a first word about how it stands.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// How what was just accepted stands.
const PENDING: &str = "pending";

/// What is told with an acceptance, where it is known.
const TOLD_AT_ACCEPTANCE: [&str; 2] = ["remaining", "warnings"];

/// What somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// That it is accepted.
    Accepted,
    /// That it is recorded.
    Done,
    /// That it is over.
    Over,
}

/// How waiting ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// It is over.
    Over {
        /// How it ended.
        status: String,
        /// What there is to show.
        view: Value,
    },
    /// What was asked for is recorded.
    Done(Value),
    /// It was accepted.
    Accepted {
        /// Which.
        delegation: DelegationId,
        /// How it stands.
        status: String,
        /// The same call had been made before.
        again: Option<Again>,
        /// What else was told: what may still be asked for, and warnings.
        more: Map<String, Value>,
    },
    /// Somebody would not wait for the end.
    Left {
        /// Which, if that was known yet.
        delegation: Option<DelegationId>,
    },
}

/// Somebody who waits.
pub(crate) struct Watch<'a> {
    reach: &'a Reach,
    output: &'a mut Output,
    until: Until,
    display: Display,
    delegation: Option<DelegationId>,
    interrupts: Interrupts,
    /// Whether anything was heard since the last loss.
    heard: bool,
    /// What is asked for, in words, and whether it was asked for before.
    asked: String,
    again: Option<Again>,
}

/// What became of a conversation.
enum Talk {
    Ended(End),
    Lost(Lost),
}

impl<'a> Watch<'a> {
    /// Somebody who waits for a delegation, known or about to be.
    pub(crate) fn new(reach: &'a Reach, output: &'a mut Output, until: Until) -> Self {
        let display = if until == Until::Over { Display::of(output) } else { Display::Silent };
        let (delegation, interrupts) = (None, Interrupts::default());
        let (asked, again) = (String::new(), None);
        Self { reach, output, until, display, delegation, interrupts, heard: false, asked, again }
    }

    /// Somebody whose Ctrl-C cancels the delegation; a second one does not wait for that.
    /// Anybody else just leaves.
    pub(crate) fn cancels_on_ctrl_c(mut self) -> Result<Self, CommandError> {
        self.interrupts = Interrupts::catch()?;
        Ok(self)
    }

    /// The delegation that it is about, and what it is called.
    pub(crate) fn about(mut self, delegation: Option<DelegationId>, title: &str) -> Self {
        self.display.title(title);
        if let Some(id) = &delegation {
            self.display.begin(id, &[]);
        }
        self.delegation = delegation;
        self
    }

    /// What is asked for, in words; if another task has been asked for under the same key,
    /// that is told.
    pub(crate) fn asks_for(mut self, task: String) -> Self {
        self.asked = task;
        self
    }

    /// Asks, and waits.
    pub(crate) async fn run(mut self, wish: Wish) -> Result<End, CommandError> {
        let mut wish = wish;
        let mut losses = 0;
        loop {
            let talk = tokio::select! {
                asked = self.reach.ask(wish.clone()) => match asked {
                    Ok(conversation) => self.listen(conversation, losses).await?,
                    Err(error) if losses == 0 || self.reach.is_gone() => return Err(error),
                    Err(_) => Talk::Lost(Lost::Gone),
                },
                () = self.interrupts.next() => {
                    Talk::Ended(End::Left { delegation: self.delegation.clone() })
                }
            };
            let lost = match talk {
                Talk::Ended(end) => {
                    self.display.end(self.output);
                    return Ok(end);
                }
                Talk::Lost(lost) => lost,
            };
            losses = if self.heard { 1 } else { losses + 1 };
            let wish_again = self.again(wish, &lost);
            self.heard = false;
            wish = wish_again.filter(|_| losses <= MAX_LOSSES).ok_or_else(|| {
                self.display.end(self.output);
                reach::lost(&lost)
            })?;
            self.display.note(self.output, "the engine has gone; looking for it again");
            tokio::time::sleep(BREATH * (losses - 1)).await;
        }
    }

    /// What to ask of the next engine, if it makes sense to ask again.
    fn again(&self, wish: Wish, lost: &Lost) -> Option<Wish> {
        if matches!(lost, Lost::Garbled(_)) {
            return None;
        }
        match (&self.delegation, wish) {
            // Nothing was heard of it. What has been done already is refused, not done twice.
            (_, wish @ Wish::Steer(_)) if !self.heard => Some(wish),
            (Some(delegation), _) if self.until == Until::Over => {
                Some(Wish::Wait { delegation: delegation.clone() })
            }
            // It carries a key, or is recognised as the same call of the same attempt.
            (_, wish @ Wish::Delegate(_)) => Some(wish),
            // Whether it was done cannot be known; asking again could do it twice.
            (
                _,
                Wish::Wait { .. }
                | Wish::Look { .. }
                | Wish::List
                | Wish::Agents
                | Wish::Explain { .. }
                | Wish::Steer(_)
                | Wish::Submitted
                | Wish::Who
                | Wish::Remaining
                | Wish::Ask { .. }
                | Wish::Ping
                | Wish::Attend,
            ) => None,
        }
    }

    async fn listen(&mut self, mut talk: Conversation, losses: u32) -> Result<Talk, CommandError> {
        let mut draw = interval(DRAW_EVERY);
        draw.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut patience = std::pin::pin!(patience(self.until));
        loop {
            tokio::select! {
                biased;
                () = self.interrupts.next() => {
                    if let Some(end) = self.interrupted() {
                        return Ok(Talk::Ended(end));
                    }
                }
                reply = talk.next() => match reply {
                    Ok(reply) => {
                        // After a loss it is our own call that is found again.
                        if let Reply::Accepted { delegation, again: true, .. } = &reply
                            && losses == 0
                        {
                            self.found_again(delegation).await;
                        }
                        if let Some(end) = self.take(reply)? {
                            return Ok(Talk::Ended(end));
                        }
                    }
                    Err(lost) => return Ok(self.accepted().map_or(Talk::Lost(lost), Talk::Ended)),
                },
                _ = draw.tick() => self.display.draw(self.output),
                () = &mut patience, if self.accepted().is_some() => {
                    return Ok(self.accepted().map_or(Talk::Lost(Lost::Gone), Talk::Ended));
                }
            }
        }
    }

    /// The end for somebody who waits for acceptance only.
    fn accepted(&self) -> Option<End> {
        let delegation = self.delegation.clone().filter(|_| self.until == Until::Accepted)?;
        let known = self.again.as_ref().and_then(|again| again.status.clone());
        let status = known.unwrap_or_else(|| PENDING.to_owned());
        let (again, more) = (self.again.clone(), Map::new());
        Some(End::Accepted { delegation, status, again, more })
    }

    fn take(&mut self, reply: Reply) -> Result<Option<End>, CommandError> {
        self.heard = true;
        match reply {
            Reply::Accepted { delegation, chosen, again, .. } => {
                // Who would be chosen now says nothing about what was asked for before.
                let chosen = if again { Vec::new() } else { chosen };
                self.display.begin(&delegation, &chosen);
                self.display.chosen(self.output, &chosen);
                self.interrupts.cancel_if_wanted(self.reach, &delegation);
                self.delegation = Some(delegation);
            }
            Reply::News(news) => self.display.tell(self.output, &news),
            Reply::Note(text) => self.display.note(self.output, &format!("warning: {text}")),
            Reply::Answer { status, view } => {
                // However quick it was, the end of the way is seen.
                self.display.draw(self.output);
                return Ok(Some(self.over(status, view)));
            }
            Reply::Done(value) => return Ok(self.done(value)),
            Reply::Refused(refused) => {
                self.display.end(self.output);
                return Err(refused.into());
            }
        }
        Ok(None)
    }

    fn over(&self, status: String, mut view: Value) -> End {
        match (self.accepted(), view.as_object_mut()) {
            (Some(End::Accepted { delegation, again, .. }), Some(view)) => {
                let mut more = std::mem::take(view);
                more.retain(|key, _| TOLD_AT_ACCEPTANCE.contains(&key.as_str()));
                return End::Accepted { delegation, status, again, more };
            }
            (Some(end), _) => return end,
            (None, _) => {}
        }
        if let (Some(again), Some(view)) = (&self.again, view.as_object_mut()) {
            view.extend(again.json());
        }
        // To an agent that delegated, what came back is somebody else's words.
        let view = if self.reach.has_token() { told_to_parent(view) } else { view };
        End::Over { status, view }
    }

    fn done(&self, value: Value) -> Option<End> {
        match (self.until, &self.delegation) {
            (Until::Over, _) => None,
            (Until::Accepted, Some(id)) => {
                let status = value.get("status").and_then(Value::as_str).unwrap_or(PENDING);
                let (delegation, again) = (id.clone(), self.again.clone());
                let (status, more) = (status.to_owned(), Map::new());
                Some(End::Accepted { delegation, status, again, more })
            }
            (Until::Accepted | Until::Done, _) => Some(End::Done(value)),
        }
    }

    /// The first time the delegation is cancelled; the second time nobody waits for it.
    fn interrupted(&mut self) -> Option<End> {
        if self.interrupts.is_second() {
            return Some(End::Left { delegation: self.delegation.clone() });
        }
        let text = "cancelling; press Ctrl-C again to leave while it goes on";
        self.display.note(self.output, text);
        self.interrupts.want_cancel();
        if let Some(delegation) = &self.delegation {
            self.interrupts.cancel_if_wanted(self.reach, delegation);
        }
        None
    }
}

async fn patience(until: Until) {
    match until {
        Until::Accepted => tokio::time::sleep(FIRST_WORD).await,
        Until::Done | Until::Over => std::future::pending().await,
    }
}

/// Signals cannot be caught.
pub(crate) fn no_signals(problem: &std::io::Error) -> CommandError {
    CommandError::failed(Code::UnknownError, format!("cannot listen for Ctrl-C: {problem}"))
}
