//! Telling a keeper to stop, freeze or thaw, from anywhere.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use legation_core::tree::event::Process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::Error;
use super::spawn::{KEEPER_VARIABLE, MANY};
use crate::keep::{Claim, Pace};
use crate::procfs;

/// How often a process that is not a child of this one is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A handle on a keeper. What it signals is the process it was made for or nothing:
/// a number that was given to another process in the meantime is never reached.
#[derive(Clone, Debug)]
pub struct Remote {
    pidfd: Arc<OwnedFd>,
    /// The folder of its attempt.
    dir: Arc<Path>,
    /// Whether it keeps many attempts: then a signal says only that there is something to
    /// read, and what is wanted of which stands in the folders.
    is_shared: bool,
    /// When a stop was first asked for.
    stopping: watch::Sender<Option<Instant>>,
}

impl Remote {
    /// Takes hold of a process; nothing if it is gone.
    pub(super) fn open(
        process: Process,
        dir: &Path,
        is_shared: bool,
    ) -> Result<Option<Self>, Error> {
        let Some(pid) = procfs::pid(process.pid) else { return Ok(None) };
        let pidfd = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(Error::Watch { pid: process.pid, source: error.into() }),
        };
        // The descriptor stands for whoever had the number just now. Only if that is
        // the process which was meant can it never stand for another.
        let is_same = procfs::stat(process.pid).is_some_and(|stat| stat.process == process);
        let stopping = watch::Sender::new(None);
        let (pidfd, dir) = (Arc::new(pidfd), dir.into());
        Ok(is_same.then(|| Self { pidfd, dir, is_shared, stopping }))
    }

    /// Takes hold of the keeper of the attempt in this folder, where nobody has recorded
    /// which process that is; nothing if there is none. It is the one that the folder
    /// names, if that was started as such.
    pub fn of(dir: &Path) -> Option<Self> {
        let claim = Claim::read(dir).filter(Claim::is_of_this_boot)?;
        let attempt = dir.file_name()?.to_string_lossy();
        let mark = format!("{KEEPER_VARIABLE}={attempt}");
        let keeper = claim.keeper?;
        let is_shared = keeps_many(keeper);
        if !is_shared && !procfs::has_variable(keeper.pid, &mark) {
            return None;
        }
        Self::open(keeper, dir, is_shared).ok().flatten()
    }

    /// Asks for the program and all its descendants to be stopped: SIGTERM, the
    /// grace, SIGKILL. Asking twice, or too late, is harmless.
    pub fn stop(&self) {
        if self.is_shared {
            self.change(|pace| pace.stop = true);
        } else {
            self.send(Signal::TERM);
        }
        // A keeper that its own program has halted still has to hear this.
        self.send(Signal::CONT);
        self.stopping.send_if_modified(|asked| {
            let is_first = asked.is_none();
            asked.get_or_insert_with(Instant::now);
            is_first
        });
    }

    /// Says how the attempt's time goes by from now on, and freezes or thaws the program
    /// and all its descendants accordingly.
    pub fn set_pace(&self, pace: Pace) -> io::Result<()> {
        // What was asked to stop is not asked to go on.
        let stop = pace.stop || (self.is_shared && self.stopping.borrow().is_some());
        Pace { stop, ..pace }.write(&self.dir)?;
        self.send(if pace.frozen { Signal::USR1 } else { Signal::USR2 });
        Ok(())
    }

    /// Freezes the program and all its descendants.
    pub fn freeze(&self) {
        if self.is_shared {
            return self.change(|pace| pace.frozen = true);
        }
        self.send(Signal::USR1);
    }

    /// Lets them go on.
    pub fn thaw(&self) {
        if self.is_shared {
            return self.change(|pace| pace.frozen = false);
        }
        self.send(Signal::USR2);
    }

    /// Says what is wanted of this attempt alone.
    fn change(&self, change: impl FnOnce(&mut Pace)) {
        let mut pace = Pace::read(&self.dir).unwrap_or_default();
        change(&mut pace);
        // Where the folder is gone nobody is left to be told.
        let _ = pace.write(&self.dir);
        self.send(Signal::USR1);
    }

    /// Whether it keeps others, too.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Ends the keeper at once, for when it no longer answers. Its attempt is lost,
    /// and whoever waits for it reaps what is left.
    pub fn kill(&self) {
        self.send(Signal::KILL);
    }

    /// Waits for the end of a process that may be anybody's child.
    pub(super) async fn ended(&self) {
        while !self.has_ended() {
            sleep(LOOK_EVERY).await;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        let mut watched = [PollFd::new(&*self.pidfd, PollFlags::IN)];
        !matches!(poll(&mut watched, Some(&Timespec::default())), Ok(0))
    }

    /// Tells when a stop has been asked for.
    pub(super) fn stopping(&self) -> watch::Receiver<Option<Instant>> {
        self.stopping.subscribe()
    }

    fn send(&self, signal: Signal) {
        // The only failure that is left is that the process has ended, and then
        // there is nothing to tell it.
        let _ = pidfd_send_signal(&*self.pidfd, signal);
    }
}

/// Whether a process keeps many attempts.
pub(super) fn keeps_many(process: Process) -> bool {
    let is_same = procfs::stat(process.pid).is_some_and(|stat| stat.process == process);
    is_same && procfs::has_variable(process.pid, &format!("{KEEPER_VARIABLE}={MANY}"))
}
