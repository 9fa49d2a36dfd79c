//! The life of a keeper after it has its order: start, listen, end, report.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Pid, WaitStatus, getppid, kill_process, set_parent_process_death_signal};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::Rest;
use super::cgroup;
use super::claim::Claim;
use super::copy::{Copy, Listener, PATIENCE};
use super::descendants::Descendants;
use super::ended::{Ended, Supervision};
use super::order::Order;
use super::pace::Time;
use super::program::Program;
use super::segments::Segments;
use super::signals::Signals;
use crate::fence::Standing;
use crate::fence::audit::Listening;
use crate::procfs;

/// How long processes that nothing seems to end are tried.
const GIVE_UP_AFTER: Duration = Duration::from_secs(30);
/// Time between the first two tries; it doubles up to the second.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// Carries an order out.
pub(super) async fn live(
    mut order: Order,
    rest: Rest,
    prepared: io::Result<()>,
) -> io::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    if order.serves.is_some_and(|process| !follow(process)) {
        return Ok(ExitCode::from(super::NOT_OURS));
    }
    let claim = Claim::own(order.cgroup.clone(), order.limits.grace_ms);
    if !claim.ok_or(io::ErrorKind::NotFound)?.make(&order.dir)? {
        return Ok(ExitCode::from(super::NOT_OURS));
    }
    let mut listener = Listener::take();
    listener.tell(b"\n", PATIENCE).await;
    let begun = Instant::now();
    // The listener takes the end of the pipe for the end of the attempt, so the pipe
    // stays open until the report is there.
    let nobody = |error| format!("its user is nobody in a user namespace of its own: {error}");
    let started = prepared.map_err(nobody).and_then(|()| Program::start(&order));
    let (mut ended, _listener) = match started {
        Ok(program) => keep((&mut order, rest), program, listener, &mut signals).await?,
        Err(message) => (Ended { start_failed: Some(message), ..Ended::default() }, listener),
    };
    ended.wall_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    ended.write(&order.dir)?;
    Ok(ExitCode::SUCCESS)
}

/// Carries output and waits until nobody is left.
async fn keep(
    (order, rest): (&mut Order, Rest),
    program: Program,
    listener: Listener,
    signals: &mut Signals,
) -> io::Result<(Ended, Listener)> {
    let files = |name, limit| Segments::new(order.dir.clone(), name, limit);
    let is_kept = order.serves.is_none();
    let stdout = Copy {
        source: Receiver::from_owned_fd(program.stdout)?,
        files: is_kept.then(|| files("stdout", order.limits.stdout_bytes)),
        listener,
    };
    let stderr = Copy {
        source: Receiver::from_owned_fd(program.stderr)?,
        files: Some(files("stderr", order.limits.stderr_bytes)),
        listener: Listener::nobody(),
    };
    let over = watch::Sender::new(false);
    let stdout = tokio::spawn(stdout.run(over.subscribe()));
    let stderr = tokio::spawn(stderr.run(over.subscribe()));
    let brief = std::mem::take(&mut order.stdin);
    let feed = feed(Sender::from_owned_fd(program.stdin)?, brief, (!is_kept).then_some(rest));
    let feed = tokio::spawn(feed);
    let tree = Descendants { group: program.group, is_shared: !is_kept };
    let mut watch = Watch::new(program.pid, order, tree);
    while !watch.is_over {
        watch.hear(signals).await;
        watch.look();
    }
    feed.abort();
    over.send_replace(true);
    let (stdout, listener) = stdout.await?;
    let (stderr, _) = stderr.await?;
    // A fence that does not stand refuses nothing, and there is nothing to be told of it.
    let stands = program.fence.as_ref().is_some_and(|fence| fence.is_on);
    let refused = program.refusals.and_then(Listening::end).filter(|_| stands);
    let group = watch.tree.group.take();
    group.as_deref().inspect(|group| cgroup::remove(group));
    program.held.remove();
    let ended = Ended {
        code: watch.program.and_then(WaitStatus::exit_status),
        signal: watch.program.and_then(WaitStatus::terminating_signal),
        stopped: watch.is_stopped,
        timed_out: watch.is_timed_out,
        stdout_bytes: stdout.bytes,
        stdout_dropped: stdout.dropped,
        stderr_bytes: stderr.bytes,
        stderr_dropped: stderr.dropped,
        left_over: watch.left_over,
        survivors: watch.survivors,
        cpu_ms: cpu_ms(),
        supervised_by: group.map_or(Supervision::Subreaper, |_| Supervision::Cgroup),
        ceiling_gaps: program.held.gaps,
        fence: program.fence.map(|fence| Standing { refused, ..fence }),
        ..Ended::default()
    };
    Ok((ended, listener))
}

/// Gives the program its brief, and whatever comes behind the order where that is its own
/// to read, and closes its input.
async fn feed(mut stdin: Sender, brief: String, rest: Option<Rest>) {
    // A program that does not care for its brief is free not to read it.
    let _ = stdin.write_all(brief.as_bytes()).await;
    let Some(Rest { read, stdin: more }) = rest else { return };
    let _ = stdin.write_all(&read).await;
    if let Ok(mut more) = Receiver::from_owned_fd(more) {
        let _ = tokio::io::copy(&mut more, &mut stdin).await;
    }
}

/// Ends with the process that it does something for; false where that is gone already.
fn follow(process: u32) -> bool {
    set_parent_process_death_signal(Some(rustix::process::Signal::TERM)).is_ok()
        && getppid().is_some_and(|parent| procfs::number(parent) == process)
}

/// Processor time of all descendants that have ended.
fn cpu_ms() -> u64 {
    let ticks = procfs::stat(procfs::own_pid()).map_or(0, |stat| stat.waited_ticks);
    ticks.saturating_mul(1_000) / rustix::param::clock_ticks_per_second().max(1)
}

/// What is known of a program and its descendants.
struct Watch {
    pid: Pid,
    grace: Duration,
    time: Time,
    tree: Descendants,
    program: Option<WaitStatus>,
    is_stopped: bool,
    is_timed_out: bool,
    is_over: bool,
    left_over: u32,
    survivors: u32,
    ending: Option<Ending>,
    asks_first: bool,
}

/// The end has been asked for.
struct Ending {
    /// When it is enforced next.
    kill_at: Instant,
    /// When it is given up.
    give_up_at: Instant,
    pause: Duration,
}

impl Watch {
    fn new(pid: Pid, order: &Order, tree: Descendants) -> Self {
        Self {
            pid,
            grace: Duration::from_millis(order.limits.grace_ms),
            time: Time::new(order.dir.clone(), order.deadline_ms),
            tree,
            program: None,
            is_stopped: false,
            is_timed_out: false,
            is_over: false,
            left_over: 0,
            survivors: 0,
            ending: None,
            asks_first: order.asks_first,
        }
    }

    /// Waits for the next thing to happen and does what it calls for.
    async fn hear(&mut self, signals: &mut Signals) {
        let kill_at = self.ending.as_ref().map(|ending| ending.kill_at);
        let grace_is_over = async {
            match kill_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let next_look = self.time.next_look();
        let time_is_up = async {
            match next_look {
                Some(wait) => sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = signals.child.recv() => {}
            _ = signals.stop.recv() => {
                self.is_stopped |= self.program.is_none();
                self.end();
            }
            _ = signals.freeze.recv() => self.follow_pace(true),
            _ = signals.thaw.recv() => self.follow_pace(false),
            () = grace_is_over => self.enforce(),
            () = time_is_up, if self.ending.is_none() => {
                if self.time.is_up() {
                    self.is_timed_out = true;
                    self.end();
                }
            }
        }
    }

    /// Halts everybody, or lets them go on. What is about to end is not held up.
    fn follow_pace(&mut self, asked: bool) {
        match self.time.change(asked) {
            Some(true) if self.ending.is_none() => {
                self.tree.freeze();
                self.time.halt();
            }
            Some(false) => {
                self.tree.thaw();
                self.time.go_on();
            }
            Some(true) | None => {}
        }
    }

    /// Buries who has ended, and sees to those who are left when the program has.
    fn look(&mut self) {
        let buried = Descendants::bury(self.pid);
        self.is_over |= buried.is_last;
        if let Some(status) = buried.program {
            self.program = Some(status);
            if !self.is_over {
                self.left_over = u32::try_from(Descendants::list().len()).unwrap_or(u32::MAX);
                self.end();
                if self.asks_first {
                    self.tree.terminate();
                }
            }
        }
    }

    /// Asks everybody to end, once.
    fn end(&mut self) {
        if self.ending.is_some() {
            return;
        }
        if self.asks_first && self.program.is_none() {
            self.tree.thaw();
            // One that has ended already is noticed in a moment.
            let _ = kill_process(self.pid, rustix::process::Signal::TERM);
        } else {
            self.tree.terminate();
        }
        let kill_at = Instant::now() + self.grace;
        let give_up_at = kill_at + GIVE_UP_AFTER;
        self.ending = Some(Ending { kill_at, give_up_at, pause: FIRST_PAUSE });
    }

    /// Ends everybody, and does so again after a while.
    fn enforce(&mut self) {
        let Some(ending) = &mut self.ending else { return };
        let now = Instant::now();
        if now >= ending.give_up_at {
            self.survivors = u32::try_from(Descendants::list().len()).unwrap_or(u32::MAX);
            self.is_over = true;
            return;
        }
        self.tree.kill();
        ending.kill_at = now + ending.pause;
        ending.pause = (ending.pause * 2).min(LAST_PAUSE);
    }
}
