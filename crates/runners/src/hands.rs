//! Hands: what does something in a workspace for a conversation that may not.
//!
//! Each is a program under a keeper of its own, with the fence, the environment, the
//! ceilings and the cgroup of its attempt. It lives for one use of a tool, or as long as a
//! server of tools is needed, and ends with whoever holds it. What it leaves is ended by
//! its keeper, which does not outlive this process.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::{oneshot, watch};

use crate::fence::{MAX_TOLD, Standing};
use crate::keep::{Ended, Limits, Order, Segments, Supervision, Written};
use crate::procfs;
use crate::supervise::{Exit, Keeper, Remote, Running, Stream, tail};

/// Bytes of what a hand says about itself that are kept.
const STDERR_BYTES: u64 = 64 << 10;
/// Bytes of that which are told.
const LAST_WORDS: usize = 4 << 10;
/// Pieces of what it says that wait to be heard.
const PIECES: usize = 4;

/// The hands of one attempt.
pub struct Hands {
    keeper: Keeper,
    /// What every hand is ordered by.
    order: Order,
    state: Mutex<State>,
    /// What they say about themselves, as the attempt's.
    complaints: Mutex<Segments>,
    /// How many are at work.
    at_work: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    next: u32,
    is_frozen: bool,
    is_over: bool,
    reached: BTreeMap<u32, Remote>,
    sum: Sum,
}

/// Something for a hand to do.
pub(crate) struct Errand {
    /// The program, found already, and its arguments; nothing means what uses a tool.
    pub(crate) program: Option<Vec<String>>,
    /// Its whole environment.
    pub(crate) env: Vec<(String, String)>,
    /// The first that it reads.
    pub(crate) stdin: String,
}

/// A hand at work. Dropped, it is stopped.
pub(crate) struct Hand {
    /// What it says.
    pub(crate) output: mpsc::Receiver<Vec<u8>>,
    /// How it ended.
    pub(crate) finished: oneshot::Receiver<Finished>,
}

/// How a hand ended.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Why it never began.
    pub(crate) not_started: Option<String>,
    /// What it said last about itself.
    pub(crate) last_words: String,
}

/// What all hands of an attempt came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    fence: Option<Standing>,
    ceiling_gaps: Vec<String>,
    cpu_ms: u64,
    left_over: u32,
    survivors: u32,
    supervised_by: Supervision,
}

impl Sum {
    /// What is known before there were any.
    pub(crate) fn expected(fence: Option<Standing>, ceiling_gaps: Vec<String>) -> Self {
        Self { fence, ceiling_gaps, ..Self::default() }
    }

    fn of(ended: Ended) -> Self {
        let Ended { fence, ceiling_gaps, cpu_ms, left_over, survivors, supervised_by, .. } = ended;
        Self { fence, ceiling_gaps, cpu_ms, left_over, survivors, supervised_by }
    }

    /// Both together; of a fence, the worse.
    pub(crate) fn with(self, other: Self) -> Self {
        let fence = match (self.fence, other.fence) {
            (Some(one), Some(two)) => Some(worse(one, two)),
            (one, two) => one.or(two),
        };
        let supervised_by = match (self.supervised_by, other.supervised_by) {
            (Supervision::Subreaper, Supervision::Subreaper) => Supervision::Subreaper,
            (Supervision::Cgroup, _) | (_, Supervision::Cgroup) => Supervision::Cgroup,
        };
        Self {
            fence,
            ceiling_gaps: union(self.ceiling_gaps, other.ceiling_gaps),
            cpu_ms: self.cpu_ms.saturating_add(other.cpu_ms),
            left_over: self.left_over.saturating_add(other.left_over),
            survivors: self.survivors.saturating_add(other.survivors),
            supervised_by,
        }
    }

    /// The part of a report that is known by it.
    pub(crate) fn ended(self) -> Ended {
        let Self { fence, ceiling_gaps, cpu_ms, left_over, survivors, supervised_by } = self;
        let known = Ended { fence, ceiling_gaps, cpu_ms, left_over, ..Ended::default() };
        Ended { survivors, supervised_by, ..known }
    }
}

/// Of two fences, what holds for both, and all that they refused.
fn worse(one: Standing, two: Standing) -> Standing {
    let refused = match (one.refused, two.refused) {
        (Some(one), Some(two)) => Some(union(one, two).into_iter().take(MAX_TOLD).collect()),
        (one, two) => one.or(two),
    };
    Standing { is_on: one.is_on && two.is_on, gaps: union(one.gaps, two.gaps), refused }
}

fn union<T: PartialEq>(mut one: Vec<T>, two: Vec<T>) -> Vec<T> {
    for new in two {
        if !one.contains(&new) {
            one.push(new);
        }
    }
    one
}

impl Hands {
    /// The hands of the attempt that this order is about. Its program is what uses a tool.
    pub fn new(keeper: Keeper, order: Order) -> Self {
        let limit = order.limits.stderr_bytes;
        let complaints = Mutex::new(Segments::new(order.dir.clone(), "stderr", limit));
        let at_work = watch::Sender::new(0);
        Self { keeper, order, state: Mutex::default(), complaints, at_work }
    }

    /// Starts one. What comes through `words` is said to it until nobody is left who could
    /// say something.
    pub(crate) fn begin(
        self: &Arc<Self>,
        errand: Errand,
        words: Option<UnboundedReceiver<String>>,
    ) -> Hand {
        let ((say, output), (tell, finished)) = (mpsc::channel(PIECES), oneshot::channel());
        let no = {
            let mut state = self.state();
            state.next += 1;
            state.next
        };
        self.at_work.send_modify(|count| *count += 1);
        let hands = self.clone();
        // A task of its own: it is seen through even where nobody waits for it any more.
        tokio::spawn(async move {
            let order = hands.order_of(no, errand);
            let finished = hands.see_through(no, (&order, words), say).await;
            // Nothing is left to be found by what is in there.
            let _ = fs::remove_dir_all(&order.dir);
            let _ = tell.send(finished);
            hands.at_work.send_modify(|count| *count -= 1);
        });
        Hand { output, finished }
    }

    /// Halts them all, or lets them go on.
    pub(crate) fn set_frozen(&self, is_frozen: bool) {
        let mut state = self.state();
        state.is_frozen = is_frozen;
        let tell = if is_frozen { Remote::freeze } else { Remote::thaw };
        state.reached.values().for_each(tell);
    }

    /// Stops those that are left, and waits until nobody is.
    pub async fn end(&self) {
        {
            let mut state = self.state();
            state.is_over = true;
            state.reached.values().for_each(Remote::stop);
        }
        // The sender is ours, so it cannot be closed.
        let _ = self.at_work.subscribe().wait_for(|count| *count == 0).await;
    }

    /// What all that have ended came to.
    pub(crate) fn sum(&self) -> Sum {
        self.state().sum.clone()
    }

    fn order_of(&self, no: u32, errand: Errand) -> Order {
        let Errand { program, env, stdin } = errand;
        let limits = Limits { stdout_bytes: 0, stderr_bytes: STDERR_BYTES, ..self.order.limits };
        Order {
            dir: self.order.dir.join(format!("hand-{no}")),
            program: program.unwrap_or_else(|| self.order.program.clone()),
            env,
            stdin,
            limits,
            // It ends with this process, which keeps the time.
            deadline_ms: None,
            asks_first: false,
            serves: Some(procfs::own_pid()),
            attempt: self.order.attempt.clone(),
            session: self.order.session.clone(),
            cwd: self.order.cwd.clone(),
            cgroup: self.order.cgroup.clone(),
            ceilings: self.order.ceilings,
            fence: self.order.fence.clone(),
        }
    }

    async fn see_through(
        &self,
        no: u32,
        (order, words): (&Order, Option<UnboundedReceiver<String>>),
        say: mpsc::Sender<Vec<u8>>,
    ) -> Finished {
        let (mut running, stdin) = match self.keeper.spawn_open(order).await {
            Ok(started) => started,
            Err(error) => {
                return Finished { not_started: Some(error.to_string()), ..Finished::default() };
            }
        };
        match words {
            Some(words) => drop(tokio::spawn(speak(stdin, words))),
            None => drop(stdin),
        }
        self.reach(no, running.remote());
        hear(&mut running, say).await;
        let exit = running.wait().await;
        let said = tail(&order.dir, Stream::Stderr, STDERR_BYTES).bytes;
        self.complain(&said);
        let mut state = self.state();
        state.reached.remove(&no);
        let not_started = match exit {
            Exit::Ended(mut ended) => {
                let not_started = ended.start_failed.take();
                state.sum = std::mem::take(&mut state.sum).with(Sum::of(ended));
                not_started
            }
            Exit::Lost { .. } => None,
        };
        let surplus = said.len().saturating_sub(LAST_WORDS);
        let last_words = String::from_utf8_lossy(said.get(surplus..).unwrap_or_default());
        Finished { not_started, last_words: last_words.into_owned() }
    }

    /// Writes down what was said beside the conversation; what came of that so far.
    pub(crate) fn complain(&self, words: &[u8]) -> Written {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        complaints.write(words);
        complaints.written()
    }

    /// There is something to reach, which may have to stop or to be halted at once.
    fn reach(&self, no: u32, remote: Remote) {
        let mut state = self.state();
        if state.is_frozen {
            remote.freeze();
        }
        if state.is_over {
            remote.stop();
        }
        state.reached.insert(no, remote);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes on what a hand says. Where nobody wants to hear it any more, it is stopped.
async fn hear(running: &mut Running, say: mpsc::Sender<Vec<u8>>) {
    let mut is_wanted = true;
    loop {
        let chunk = tokio::select! {
            chunk = running.read() => chunk,
            () = say.closed(), if is_wanted => {
                is_wanted = false;
                running.remote().stop();
                continue;
            }
        };
        let Some(chunk) = chunk else { return };
        // What is said after that is said to nobody.
        let _ = say.send(chunk).await;
    }
}

/// Says what there is to say, until nobody wants to say anything more.
async fn speak(mut stdin: ChildStdin, mut words: UnboundedReceiver<String>) {
    while let Some(words) = words.recv().await {
        if stdin.write_all(words.as_bytes()).await.is_err() {
            return;
        }
    }
}
