//! A keeper at work, as the engine sees it.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use legation_core::ids::SessionId;
use legation_core::tree::event::Process;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdout};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use super::follow::{CHUNK_BYTES, Follow};
use super::reap::reap_after;
use super::{Exit, Remote};
use crate::keep::{Ended, Order};

/// How often the files of a keeper that another engine started are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How much longer than its grace a keeper may take to stop before it is no longer
/// believed in.
const PATIENCE: Duration = Duration::from_secs(10);

/// A keeper that runs, and what is still to be read of its program's output.
///
/// Dropping it changes nothing for the program.
#[derive(Debug)]
pub struct Running {
    /// The keeper: what to look for after a restart.
    pub process: Process,
    dir: PathBuf,
    session: SessionId,
    grace: Duration,
    remote: Remote,
    /// The keeper as a child of this process, if it is one.
    child: Option<Child>,
    /// Output as it comes. Whatever does not come through here is in the files.
    pipe: Option<Pipe>,
    follow: Follow,
    is_over: bool,
    is_killed: bool,
}

/// What output comes through.
#[derive(Debug)]
pub(super) enum Pipe {
    /// A keeper's standard output.
    Keeper(ChildStdout),
    /// A line to a process that keeps many.
    Line(UnixStream),
}

impl Pipe {
    async fn read(&mut self, chunk: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Keeper(stdout) => stdout.read_buf(chunk).await,
            Self::Line(line) => line.read_buf(chunk).await,
        }
    }
}

impl Running {
    /// A keeper that was started here.
    pub(super) fn started(
        order: &Order,
        (process, remote): (Process, Remote),
        (child, pipe): (Child, ChildStdout),
    ) -> Self {
        let grace = Duration::from_millis(order.limits.grace_ms);
        let mut running = Self::found(order.dir.clone(), &order.session, (process, remote, grace));
        running.child = Some(child);
        running.pipe = Some(Pipe::Keeper(pipe));
        running
    }

    /// An attempt that was given to a process which keeps many.
    pub(super) fn handed_over(
        order: &Order,
        (process, remote): (Process, Remote),
        line: UnixStream,
    ) -> Self {
        let grace = Duration::from_millis(order.limits.grace_ms);
        let mut running = Self::found(order.dir.clone(), &order.session, (process, remote, grace));
        running.pipe = Some(Pipe::Line(line));
        running
    }

    /// A keeper that somebody else started. Its output is read from the beginning.
    pub(super) fn found(
        dir: PathBuf,
        session: &SessionId,
        (process, remote, grace): (Process, Remote, Duration),
    ) -> Self {
        Self {
            process,
            follow: Follow::stdout(dir.clone()),
            dir,
            session: session.clone(),
            grace,
            remote,
            child: None,
            pipe: None,
            is_over: false,
            is_killed: false,
        }
    }

    /// A handle that others may keep.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Bytes of the output that were gone before they could be read. Each gap was
    /// read as one line break.
    pub fn missed_bytes(&self) -> u64 {
        self.follow.missed
    }

    /// The next piece of the program's standard output; nothing when there will be no
    /// more. May be dropped while it waits, without loss.
    pub async fn read(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(chunk) = self.read_pipe().await {
                return Some(chunk);
            }
            if let Some(chunk) = self.follow.next() {
                return Some(chunk);
            }
            if self.is_over {
                return None;
            }
            // What was written before the end was seen is read in one more round.
            self.is_over = Ended::read(&self.dir).is_some() || self.ends_within(LOOK_EVERY).await;
        }
    }

    /// Waits for the end of the keeper, and of everything it kept. Output that was not
    /// read by now stays in the files.
    pub async fn wait(&mut self) -> Exit {
        // A keeper never waits for a reader that is gone.
        self.pipe = None;
        while !self.ends_within(Duration::MAX).await {}
        let status = match &mut self.child {
            Some(child) => child.wait().await.ok(),
            None => None,
        };
        let mut reaped = 0;
        // One that keeps others too has not ended, and says in the folder that this one has.
        let is_well = match self.remote.is_shared() {
            true => Ended::read(&self.dir).is_some(),
            false => status.as_ref().is_some_and(ExitStatus::success),
        };
        if !is_well {
            let (keeper, session, dir) = (self.process, self.session.clone(), self.dir.clone());
            let reaping = spawn_blocking(move || reap_after(keeper, &session, &dir));
            reaped = reaping.await.unwrap_or_default();
        }
        Ended::read(&self.dir).map_or(Exit::Lost { reaped }, Exit::Ended)
    }

    /// The next piece from the pipe; nothing once it is closed.
    async fn read_pipe(&mut self) -> Option<Vec<u8>> {
        loop {
            let overdue = self.overdue();
            let pipe = self.pipe.as_mut()?;
            let mut chunk = Vec::with_capacity(CHUNK_BYTES);
            tokio::select! {
                read = pipe.read(&mut chunk) => match read {
                    Ok(0) => self.pipe = None,
                    Ok(bytes) => {
                        self.follow.skip(bytes);
                        return Some(chunk);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => self.pipe = None,
                },
                () = overdue => self.give_up(),
            }
        }
    }

    /// Waits so long for the keeper's end, and says whether it came.
    async fn ends_within(&mut self, limit: Duration) -> bool {
        let overdue = self.overdue();
        let end = async {
            match &mut self.child {
                Some(child) => drop(child.wait().await),
                None if self.remote.is_shared() => {
                    while Ended::read(&self.dir).is_none()
                        && !self.remote.has_ended()
                        && !self.is_killed
                    {
                        sleep(LOOK_EVERY).await;
                    }
                }
                None => self.remote.ended().await,
            }
        };
        tokio::select! {
            () = end => return true,
            () = sleep(limit) => {}
            () = overdue => self.give_up(),
        }
        false
    }

    /// Comes when a stop was asked for and has not happened for far too long.
    fn overdue(&self) -> impl Future<Output = ()> + use<> {
        let mut stopping = self.remote.stopping();
        let patience = self.grace + PATIENCE;
        let is_killed = self.is_killed;
        async move {
            let asked: Option<Instant> = match stopping.wait_for(Option::is_some).await {
                Ok(asked) => *asked,
                Err(_) => None,
            };
            match asked {
                Some(asked) if !is_killed => sleep_until(asked + patience).await,
                Some(_) | None => std::future::pending().await,
            }
        }
    }

    fn give_up(&mut self) {
        self.is_killed = true;
        if self.remote.is_shared() {
            // The others that it keeps are not given up with this one, which is lost.
            self.pipe = None;
        } else {
            self.remote.kill();
        }
    }
}
