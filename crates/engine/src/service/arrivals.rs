//! Taking connections, and where each of them comes from.
//!
//! The kernel tells which process has connected, by a number. Once that process has ended, the
//! number may be anybody's, whoever holds the connection now. So where it comes from is found
//! out while it is taken and never again, on a thread that does nothing else: what the engine is
//! busy with gives no number the time to come round. What is said is heard elsewhere.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use legation_core::ids::AttemptId;
use legation_runners::supervise::{Ancestry, is_kept};
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::BREATH;
use super::refuse::full;
use crate::protocol::Reply;
use crate::real::Real;
use crate::talks::{Full, MAX_TALKS, Side, Talk, Talks};

/// Processes above a caller that are looked at: more than anybody outside has.
const MAX_STEPS: usize = 4096;
/// How often a caller is looked at again when a process above it ends meanwhile.
const MAX_TRIES: usize = 16;
/// What stands where in a process's line of `/proc`, counted behind its name: its parent, its
/// session, and when it started.
const PARENT: usize = 1;
const SESSION: usize = 3;
const STARTED: usize = 19;

/// Where a connection comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A process of this attempt.
    Attempt(AttemptId),
    /// One that keeps all of these.
    Many(Vec<AttemptId>),
    /// Some attempt's, and whose cannot be told: another project's, or what was left.
    Inside,
    /// A person or a program outside.
    Outside,
    /// Nobody can say: the process that connected had ended.
    Unknown,
}

/// A connection that was taken.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) stream: UnixStream,
    pub(super) origin: Origin,
    /// That it is counted, for as long as it goes on.
    pub(super) talk: Talk,
}

impl Origin {
    /// Whose a conversation is that comes from there, as far as is known before it is heard.
    fn side(&self) -> Side {
        match self {
            Self::Attempt(attempt) => Side::Attempt(attempt.clone()),
            Self::Inside => Side::Unnamed,
            Self::Unknown => Side::Unknown,
            // What keeps many is ours, and says in a moment for whom it speaks.
            Self::Many(_) | Self::Outside => Side::Outside,
        }
    }
}

/// Takes connections from now on, until nobody wants them any more.
pub(super) fn take(
    listener: UnixListener,
    real: Arc<Real>,
    talks: Arc<Talks>,
) -> io::Result<Receiver<Arrival>> {
    let (sender, receiver) = mpsc::channel(MAX_TALKS);
    let handle = Handle::current();
    let name = "arrivals".to_owned();
    thread::Builder::new().name(name).spawn(move || {
        let _runtime = handle.enter();
        take_all(&listener, (&real, &talks), &sender);
    })?;
    Ok(receiver)
}

fn take_all(
    listener: &UnixListener,
    (real, talks): (&Real, &Arc<Talks>),
    sender: &Sender<Arrival>,
) {
    // Whether connections could not be taken, and those that wait may have waited for long.
    let mut is_late = false;
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(problem) if problem.kind() == ErrorKind::WouldBlock => {
                // Nobody waits any more.
                is_late = listener.set_nonblocking(false).is_err();
                if is_late {
                    thread::sleep(BREATH);
                }
                continue;
            }
            Err(_) => {
                // Out of descriptors: trying at once again would find none either.
                is_late = true;
                let _ = listener.set_nonblocking(true);
                thread::sleep(BREATH);
                continue;
            }
        };
        let taken = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
        let Some((stream, pid)) = taken.ok().and_then(admitted) else { continue };
        let origin = if is_late { Origin::Unknown } else { origin(real, pid) };
        let talk = match talks.begin(origin.side()) {
            Ok(talk) => talk,
            Err(why) => {
                turn_away(&stream, why);
                continue;
            }
        };
        // Never more than are counted, so that there is room for it.
        let sent = sender.try_send(Arrival { stream, origin, talk });
        if matches!(sent, Err(TrySendError::Closed(_))) {
            return;
        }
    }
}

/// Says why nothing is heard. To a connection that was just taken, a line takes no waiting.
fn turn_away(stream: &UnixStream, why: Full) {
    if let Ok(mut line) = serde_json::to_vec(&Reply::Refused(full(why))) {
        line.push(b'\n');
        // Asked of the kernel itself: the runtime has not heard yet whether it can be written to.
        let _ = rustix::io::write(stream, &line);
    }
}

/// A connection of somebody who may come in at all, and the number of its process.
fn admitted(stream: UnixStream) -> Option<(UnixStream, u32)> {
    let peer = stream.peer_cred().ok()?;
    // The socket lets nobody else in; this holds wherever its folder is.
    let may = peer.uid() == rustix::process::geteuid().as_raw() || peer.uid() == 0;
    // A process that cannot be seen from here has the number zero, and is nobody.
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok()).unwrap_or_default();
    may.then_some((stream, pid))
}

/// Where the process of this number comes from. Whoever looks up from a process while one above
/// it ends may miss those above that; so all of them have to be the same before and after.
fn origin(real: &Real, pid: u32) -> Origin {
    for _ in 0..MAX_TRIES {
        let before = lineage(pid);
        let origin = match real.owner_of(pid) {
            Ancestry::Attempt(attempt) => Origin::Attempt(attempt),
            Ancestry::Many(attempts) => Origin::Many(attempts),
            Ancestry::Own => Origin::Inside,
            // An attempt of another project is no new root here, either.
            Ancestry::Outside
                if is_kept(pid) || folder_of(pid).is_some_and(|at| real.is_workspace(&at)) =>
            {
                Origin::Inside
            }
            Ancestry::Outside => Origin::Outside,
            Ancestry::Gone => return Origin::Unknown,
        };
        if before.is_some() && lineage(pid) == before {
            return origin;
        }
    }
    Origin::Unknown
}

/// A process and all those above it, each with when it started; nothing where one of them ended
/// meanwhile.
fn lineage(pid: u32) -> Option<Vec<(u32, u64)>> {
    let (mut line, mut at) = (Vec::new(), pid);
    // The first process has no parent; neither has one whose parent cannot be seen from here.
    while at != 0 && line.len() < MAX_STEPS {
        let (parent, started) = stat(at)?;
        line.push((at, started));
        at = parent;
    }
    (at == 0 && !line.is_empty()).then_some(line)
}

/// The parent of a process, and when it started, in ticks of the kernel's.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may contain anything, even brackets and blanks.
    let line = String::from_utf8_lossy(&line);
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let field = |at: usize| fields.get(at).copied();
    // One that is just going has no session any more, and no parent that could be believed.
    let _session: u32 = field(SESSION)?.parse().ok()?;
    Some((field(PARENT)?.parse().ok()?, field(STARTED)?.parse().ok()?))
}

/// The folder a process works in.
fn folder_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}
