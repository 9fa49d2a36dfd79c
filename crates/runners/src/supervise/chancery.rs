//! The engine's side of a chancery: starting one, and giving it attempts.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Pair;
use std::process::Stdio;
use std::time::Duration;

use legation_core::tree::event::Process;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::spawn::{KEEPER_VARIABLE, MANY};
use super::{Error, Keeper, Remote, Running};
use crate::chancery::{VERB, pass};
use crate::keep::Order;
use crate::procfs;

/// How long it may take until an attempt is claimed.
const READY_IN: Duration = Duration::from_secs(60);

/// How conversations get to a process that holds many, which is started for the first.
///
/// It ends when the last of them has and whoever holds this is gone.
#[derive(Debug)]
pub struct Chancery {
    keeper: Keeper,
    open: Mutex<Option<Open>>,
}

/// One that runs.
#[derive(Debug)]
struct Open {
    process: Process,
    child: Child,
    /// Attempts go through here.
    line: UnixStream,
}

impl Chancery {
    /// One that is started by the same binary as keepers are, once it is needed.
    pub fn beside(keeper: &Keeper) -> Self {
        let args = vec![OsString::from(VERB)];
        Self { keeper: Keeper { exe: keeper.exe.clone(), args }, open: Mutex::default() }
    }

    /// Gives it an attempt: its standard input is what the conversation is about, and its
    /// program whatever uses a tool. When this answers, the attempt is claimed.
    pub async fn spawn(&self, order: &Order) -> Result<Running, Error> {
        let text = serde_json::to_vec(order).map_err(|error| Error::Order(error.into()))?;
        let folder = |source| Error::Folder { dir: order.dir.clone(), source };
        fs::create_dir_all(&order.dir).map_err(folder)?;
        let (mut line, theirs) = pair().map_err(Error::Order)?;
        let told = async {
            let process = self.hand_over(&theirs).await?;
            drop(theirs);
            line.write_all(&text).await.map_err(Error::Order)?;
            line.shutdown().await.map_err(Error::Order)?;
            let mut ready = [0];
            line.read_exact(&mut ready).await.map_err(|_| Error::GaveUp(order.dir.clone()))?;
            Ok(process)
        };
        let Ok(told) = timeout(READY_IN, told).await else {
            // Whoever comes next gets another. Should this one go on after all, it finds
            // that the attempt is not its own any more.
            self.open.lock().await.take();
            return Err(Error::GaveUp(order.dir.clone()));
        };
        let process = told?;
        let gone = || Error::Watch { pid: process.pid, source: io::ErrorKind::NotFound.into() };
        let remote = Remote::open(process, &order.dir, true)?.ok_or_else(gone)?;
        Ok(Running::handed_over(order, (process, remote), line))
    }

    /// Passes the other end of an attempt's line on; a chancery that is gone is started
    /// anew.
    async fn hand_over(&self, end: &OwnedFd) -> Result<Process, Error> {
        let mut open = self.open.lock().await;
        if let Some(open) = open.as_mut() {
            let runs = matches!(open.child.try_wait(), Ok(None));
            if runs && pass(&open.line, end).await.is_ok() {
                return Ok(open.process);
            }
        }
        let new = self.start()?;
        let passed = pass(&new.line, end).await.map_err(Error::Order);
        let process = new.process;
        *open = Some(new);
        passed.map(|()| process)
    }

    fn start(&self) -> Result<Open, Error> {
        let Keeper { exe, args } = &self.keeper;
        let failed = |source| Error::Start { exe: exe.clone(), source };
        let (line, theirs) = pair().map_err(failed)?;
        let mut command = Command::new(exe);
        command.args(args).env_clear().env(KEEPER_VARIABLE, MANY);
        command.stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(failed)?;
        let pid = child.id().unwrap_or_default();
        let gone = || Error::Watch { pid, source: io::ErrorKind::NotFound.into() };
        let process = procfs::stat(pid).ok_or_else(gone)?.process;
        Ok(Open { process, child, line })
    }
}

/// A line of which one end is ours.
fn pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = Pair::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}
