//! Starting a keeper.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use legation_core::ids::AttemptId;
use legation_core::tree::event::Process;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{Error, Remote, Running};
use crate::keep::Order;
use crate::procfs;

/// The variable that tells a keeper from what a dead one has left. No program that
/// is kept has it.
pub(super) const KEEPER_VARIABLE: &str = "LEGATION_KEEPER";

/// What it says of a process that keeps many attempts.
pub(super) const MANY: &str = "many";

/// The hidden verb by which our program becomes a keeper.
pub(super) const KEEP: &str = "keep";

/// How keepers are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeper {
    /// The binary.
    pub exe: PathBuf,
    /// What makes it a keeper.
    pub args: Vec<OsString>,
}

impl Keeper {
    /// This very binary with its hidden verb.
    pub fn own() -> io::Result<Self> {
        Ok(Self { exe: std::env::current_exe()?, args: vec![OsString::from(KEEP)] })
    }

    /// Starts a keeper and hands it its order. When this answers, the keeper listens
    /// to signals, has made its claim and is about to start the program.
    pub async fn spawn(&self, order: &Order) -> Result<Running, Error> {
        self.start(&order.attempt)?.instruct(order).await
    }

    /// The same; what is written to the answer's second half is the program's to read,
    /// where the order says that it serves somebody.
    pub(crate) async fn spawn_open(&self, order: &Order) -> Result<(Running, ChildStdin), Error> {
        self.start(&order.attempt)?.instruct_open(order).await
    }

    /// Starts a keeper that is told later what to do: it is loaded while that is worked out.
    /// One that is told nothing ends.
    pub fn start(&self, attempt: &AttemptId) -> Result<Starting, Error> {
        let mut command = Command::new(&self.exe);
        command.args(&self.args).env_clear().env(KEEPER_VARIABLE, attempt.as_str());
        // A keeper complains in the attempt's folder; its standard error would keep
        // whatever the engine's is open for longer than the engine lives.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn();
        let child = child.map_err(|source| Error::Start { exe: self.exe.clone(), source })?;
        Ok(Starting { child })
    }
}

/// A keeper without an order.
#[derive(Debug)]
pub struct Starting {
    child: Child,
}

impl Starting {
    /// Hands it its order; see [`Keeper::spawn`].
    pub async fn instruct(self, order: &Order) -> Result<Running, Error> {
        self.instruct_open(order).await.map(|(running, _)| running)
    }

    async fn instruct_open(mut self, order: &Order) -> Result<(Running, ChildStdin), Error> {
        let mut text = serde_json::to_vec(order).map_err(|error| Error::Order(error.into()))?;
        text.push(b'\n');
        let folder = |source| Error::Folder { dir: order.dir.clone(), source };
        fs::create_dir_all(&order.dir).map_err(folder)?;
        let (process, remote) = identify(&self.child, &order.dir)?;
        let (stdin, stdout) = instruct(&mut self.child, &text).await.map_err(|source| {
            let has_ended = source.kind() == ErrorKind::UnexpectedEof;
            if has_ended { Error::GaveUp(order.dir.clone()) } else { Error::Order(source) }
        })?;
        Ok((Running::started(order, (process, remote), (self.child, stdout)), stdin))
    }
}

/// A child that nobody has waited for keeps its number, so there is no race here.
fn identify(child: &Child, dir: &Path) -> Result<(Process, Remote), Error> {
    let pid = child.id().unwrap_or_default();
    let gone = || Error::Watch { pid, source: ErrorKind::NotFound.into() };
    let process = procfs::stat(pid).ok_or_else(gone)?.process;
    let remote = Remote::open(process, dir, false)?.ok_or_else(gone)?;
    Ok((process, remote))
}

/// Hands the order over and waits until the keeper is ready.
async fn instruct(child: &mut Child, order: &[u8]) -> io::Result<(ChildStdin, ChildStdout)> {
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ErrorKind::BrokenPipe.into());
    };
    // A keeper that gives up early says so by closing its output.
    let told = stdin.write_all(order).await;
    let mut ready = [0];
    stdout.read_exact(&mut ready).await?;
    told.map(|()| (stdin, stdout))
}
