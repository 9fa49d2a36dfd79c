//! One attempt in a chancery, from its order to its report.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use legation_core::config::Network;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep, sleep_until};

use super::outlet::Outlet;
use super::{House, Look};
use crate::envoy::{Charge, Ear, through};
use crate::fence::{self, Kernel};
use crate::hands::{Hands, Sum};
use crate::keep::{Claim, Ended, MAX_ORDER_BYTES, Order, Pace, Segments, Time};
use crate::llm::{Llm, Means};

/// The exit code of a conversation that broke off by a mistake of ours.
const BROKEN: i32 = 101;
/// The signal of one that had to be cut off.
const KILLED: i32 = 9;

/// Holds an attempt's conversation, whatever comes of it.
pub(super) async fn see_through(line: UnixStream, house: House) {
    // Without a report the attempt counts as lost, and that is all there is to say.
    let _ = hold(line, house).await;
}

async fn hold(mut line: UnixStream, house: House) -> io::Result<()> {
    let (order, charge) = read(&mut line).await?;
    let (dir, begun) = (order.dir.clone(), Instant::now());
    let claim = Claim::own(order.cgroup.clone(), order.limits.grace_ms);
    if !claim.ok_or(io::ErrorKind::NotFound)?.make(&dir)? {
        return Ok(());
    }
    let files = Segments::new(dir.clone(), "stdout", order.limits.stdout_bytes);
    // The listener takes the end of its line for the end of the attempt, so it stays open
    // until the report is there.
    let outlet = Outlet::new(files, line.into_std()?.into());
    outlet.greet();
    let mut ended = match standing(&order) {
        Err(why) => Ended { start_failed: Some(why.to_string()), ..Ended::default() },
        Ok(standing) => Sitting::open(order, charge, &outlet, house).end(standing).await,
    };
    let written = outlet.written();
    (ended.stdout_bytes, ended.stdout_dropped) = (written.bytes, written.dropped);
    ended.wall_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    ended.write(&dir)
}

/// The order, and what the conversation is about.
async fn read(line: &mut UnixStream) -> io::Result<(Order, Charge)> {
    let mut text = Vec::new();
    line.take(MAX_ORDER_BYTES).read_to_end(&mut text).await?;
    let mut order: Order = serde_json::from_slice(&text)?;
    let mut charge: Charge = serde_json::from_str(&std::mem::take(&mut order.stdin))?;
    charge.env = order.env.iter().cloned().collect();
    Ok((order, charge))
}

/// What the fence and the ceilings that were ordered will come to, before anything that
/// they are for is started.
fn standing(order: &Order) -> Result<Sum, fence::Error> {
    let fence = order.fence.as_ref().map(fence::Fence::expected).transpose()?;
    let ceiling_gaps = order.ceilings.gaps();
    if order.ceilings.required && !ceiling_gaps.is_empty() {
        return Err(fence::Error::NoCeiling(ceiling_gaps.join("; ")));
    }
    Ok(Sum::expected(fence, ceiling_gaps))
}

/// Whether nothing may be reached over the network.
fn is_offline(order: &Order) -> bool {
    let asked = order.fence.as_ref().map(fence::Fence::asked).unwrap_or_default();
    asked.network == Network::Deny && Kernel::current().unfit(asked).is_none()
}

/// A conversation that is held.
struct Sitting {
    dir: PathBuf,
    talk: JoinHandle<()>,
    hands: Arc<Hands>,
    time: Time,
    grace: Duration,
    looks: watch::Receiver<Look>,
    stop: watch::Sender<bool>,
    frozen: watch::Sender<bool>,
    /// When it is cut off, once it was asked to end.
    cut_at: Option<Instant>,
    is_stopped: bool,
    is_timed_out: bool,
}

impl Sitting {
    fn open(order: Order, charge: Charge, outlet: &Outlet, house: House) -> Self {
        let House { keeper, clients, looks } = house;
        let ((stop, stopped), (frozen, is_frozen)) = (watch::channel(false), watch::channel(false));
        let (dir, deadline_ms) = (order.dir.clone(), order.deadline_ms);
        let grace = Duration::from_millis(order.limits.grace_ms);
        let is_offline = is_offline(&order);
        let hands = Arc::new(Hands::new(keeper, order));
        let means = Means { hands: hands.clone(), clients, is_offline };
        let mut ear = Ear::new(outlet.clone(), stopped);
        let talk = async move { through(&charge, Llm::new(means), &mut ear).await };
        let talk = tokio::spawn(unless_frozen(talk, is_frozen));
        let time = Time::new(dir.clone(), deadline_ms);
        let (cut_at, is_stopped, is_timed_out) = (None, false, false);
        Self {
            dir,
            talk,
            hands,
            time,
            grace,
            looks,
            stop,
            frozen,
            cut_at,
            is_stopped,
            is_timed_out,
        }
    }

    /// Sees it through, and everything that was done for it.
    async fn end(mut self, standing: Sum) -> Ended {
        // What was wanted before this one listened is in the folder already.
        self.look();
        let talked = loop {
            if let Some(talked) = self.hear().await {
                break talked;
            }
        };
        self.hands.end().await;
        let sum = self.hands.sum().with(standing);
        let (code, signal, complaint) = match talked {
            Ok(()) => (Some(0), None, String::new()),
            Err(broken) if broken.is_cancelled() => (None, Some(KILLED), String::new()),
            Err(broken) => {
                let why = format!("The conversation broke off by a mistake of ours: {broken}\n");
                (Some(BROKEN), None, why)
            }
        };
        let complaints = self.hands.complain(complaint.as_bytes());
        Ended {
            code,
            signal,
            stopped: self.is_stopped,
            timed_out: self.is_timed_out,
            stderr_bytes: complaints.bytes,
            stderr_dropped: complaints.dropped,
            ..sum.ended()
        }
    }

    /// Waits for the next thing to happen and does what it calls for; tells when the
    /// conversation is over.
    async fn hear(&mut self) -> Option<Result<(), JoinError>> {
        let (cut_at, next_look) = (self.cut_at, self.time.next_look());
        let grace_is_over = async {
            match cut_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let time_is_up = async {
            match next_look {
                Some(wait) => sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            talked = &mut self.talk => return Some(talked),
            Ok(()) = self.looks.changed() => self.look(),
            () = grace_is_over => {
                self.cut_at = None;
                self.talk.abort();
            }
            () = time_is_up, if !self.is_ending() => {
                if self.time.is_up() {
                    self.is_timed_out = true;
                    self.ask_to_end();
                }
            }
        }
        None
    }

    /// Reads what is wanted of this attempt.
    fn look(&mut self) {
        let is_last = self.looks.borrow_and_update().is_last;
        let pace = Pace::read(&self.dir).unwrap_or_default();
        // Who has removed the folder wants nothing more of what belongs to it.
        if pace.stop || is_last || !self.dir.exists() {
            if !self.is_ending() {
                self.is_stopped = true;
                self.ask_to_end();
            }
            return;
        }
        match self.time.change(pace.frozen) {
            Some(true) if !self.is_ending() => {
                self.set_frozen(true);
                self.time.halt();
            }
            Some(false) => {
                self.time.go_on();
                self.set_frozen(false);
            }
            Some(true) | None => {}
        }
    }

    fn is_ending(&self) -> bool {
        self.is_stopped || self.is_timed_out
    }

    fn set_frozen(&self, is_frozen: bool) {
        self.hands.set_frozen(is_frozen);
        self.frozen.send_replace(is_frozen);
    }

    /// Asks the conversation to end, which tells what it has and lets go of its hands.
    fn ask_to_end(&mut self) {
        self.set_frozen(false);
        self.stop.send_replace(true);
        self.cut_at = Some(Instant::now() + self.grace);
    }
}

/// Goes on with something only while nobody has halted it.
async fn unless_frozen(what: impl Future<Output = ()>, mut frozen: watch::Receiver<bool>) {
    let mut what = pin!(what);
    loop {
        let is_frozen = *frozen.borrow_and_update();
        tokio::select! {
            biased;
            changed = frozen.changed() => {
                if changed.is_err() {
                    // Nobody is left who could halt it.
                    return what.await;
                }
            }
            () = &mut what, if !is_frozen => return,
        }
    }
}
