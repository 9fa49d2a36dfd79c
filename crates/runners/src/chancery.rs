//! The chancery: one process that holds the conversations of many attempts with models.
//!
//! A conversation is waiting, almost all of its time, so many fit into one process. To each
//! attempt it is what a keeper is to a program: it claims it, writes down what is said,
//! ends it when its time is up, and reports. Like a keeper it needs no engine, and the next
//! one finds it by the claims it has made.
//!
//! It does nothing in a workspace: whatever a model wants done there is done by a hand, a
//! program under a keeper of its own and inside the attempt's fence (`hands.rs`).
//!
//! Its standard input is a line through which it gets attempts, each as a line of its own
//! on which the order comes and the output goes. Signals say that there is something to
//! read: what is wanted of which attempt stands in its folder. SIGTERM ends them all. When
//! nobody is left who could send one and the last attempt is over, it ends.

mod attempt;
mod line;
mod outlet;

use std::io;
use std::os::unix::net::UnixStream as Std;
use std::process::ExitCode;

use rustix::process::{getpid, set_child_subreaper, setsid};
use rustix::stdio::stdin;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) use line::pass;

use crate::keep::{self, Signals};
use crate::llm::Clients;
use crate::supervise::Keeper;

/// The verb by which the binary starts itself as a chancery. It is not for people.
pub const VERB: &str = "chancery";

/// What all attempts in a chancery share.
#[derive(Clone)]
struct House {
    /// What starts their hands.
    keeper: Keeper,
    /// The lines to providers.
    clients: Clients,
    /// Says when there is something to read in the folders.
    looks: watch::Receiver<Look>,
}

/// A call to look into the folders.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// How many there have been.
    count: u64,
    /// Whether all shall end.
    is_last: bool,
}

/// The whole life of a chancery.
pub fn main() -> ExitCode {
    // It fails for a process that leads a session already, which is just as well.
    let _ = setsid();
    let lived = set_child_subreaper(Some(getpid()))
        .map_err(io::Error::from)
        .and_then(|()| keep::runtime())
        .and_then(|runtime| runtime.block_on(live()));
    // Attempts without a report count as lost, and that is all there is to say.
    lived.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

async fn live() -> io::Result<()> {
    let mut signals = Signals::listen()?;
    let line = Std::from(stdin().try_clone_to_owned()?);
    line.set_nonblocking(true)?;
    let mut line = Some(UnixStream::from_std(line)?);
    let (look, looks) = watch::channel(Look::default());
    let house = House { keeper: Keeper::own()?, clients: Clients::default(), looks };
    let mut attempts = JoinSet::new();
    while line.is_some() || !attempts.is_empty() {
        tokio::select! {
            end = next(line.as_ref()) => match end {
                Some(end) => drop(attempts.spawn(attempt::see_through(end, house.clone()))),
                None => line = None,
            },
            is_last = next_signal(&mut signals) => look.send_modify(|look| {
                look.count += 1;
                look.is_last |= is_last;
            }),
            // One that broke off has left no report, and counts as lost.
            Some(_) = attempts.join_next() => {}
        }
    }
    Ok(())
}

/// The next attempt's line; nothing when there will be no more.
async fn next(line: Option<&UnixStream>) -> Option<UnixStream> {
    match line {
        Some(line) => line::take(line).await.and_then(|end| {
            let end = Std::from(end);
            end.set_nonblocking(true).ok()?;
            UnixStream::from_std(end).ok()
        }),
        None => std::future::pending().await,
    }
}

/// Waits for the next signal; whether it ends everything.
async fn next_signal(signals: &mut Signals) -> bool {
    tokio::select! {
        _ = signals.stop.recv() => true,
        _ = signals.freeze.recv() => false,
        _ = signals.thaw.recv() => false,
    }
}
