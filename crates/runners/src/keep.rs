//! The keeper: a small process that starts one program and outlives it.
//!
//! It is told what to do on its standard input and answers with files in the
//! attempt's folder, so it needs nobody: whoever started it may die and another
//! may take over. It is the parent of every orphan the program leaves, and does
//! not end before the last of them has.
//!
//! - `keeper.json`: who keeps this attempt. Made before the program starts, and
//!   only once; whoever finds it made does nothing.
//! - `stdout`, `stdout.<offset>`: what the program wrote, if anything, each file
//!   named after the place of its first byte. Beyond the limit the beginning and the
//!   end stay. The same for `stderr`.
//! - `pace.json`: when its time is up and whether it stands still, where that has
//!   changed since the order. Written by whoever steers the attempt.
//! - `exit.json`: how it ended, when everything has. It is `keeper.json` with a
//!   second line and a new name, which is faster than another file.
//!
//! Standard output carries one line break when the keeper is ready for signals, and
//! then what the program writes as it comes. SIGTERM stops the program and all its
//! descendants, SIGUSR1 freezes them, SIGUSR2 thaws them, unless the file says other.
//! When the time is up it stops them by itself. The keeper knows nothing of
//! delegations.
//!
//! A program may do something on behalf of a process that lives: then the keeper goes
//! when that goes, and the program's words are handed on and not written down.

pub(crate) mod ceilings;
pub mod cgroup;
mod claim;
mod copy;
mod descendants;
mod ended;
mod life;
pub(crate) mod mark;
mod order;
mod pace;
mod program;
mod segments;
mod signals;

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::process::ExitCode;

use rustix::process::{getpid, set_child_subreaper, setsid};
use rustix::stdio::stdin;
use tokio::runtime::{Builder, Runtime};

use crate::fence;

pub use ceilings::{Ceilings, Good};
pub use claim::{Claim, KEEPER_FILE};
pub use ended::{EXIT_FILE, Ended, Supervision};
pub use order::{Limits, Order};
pub(crate) use pace::Time;
pub use pace::{PACE_FILE, Pace};
pub(crate) use segments::{Segments, Written};
pub(crate) use signals::Signals;

/// Bytes an order may have at most.
pub const MAX_ORDER_BYTES: u64 = 64 << 20;

/// Bytes of it that are read in one go.
const PIECE_BYTES: usize = 64 << 10;

/// Things that are heard of in one go. Room for them is taken at once.
const MAX_EVENTS: usize = 32;

/// Exit code of a keeper whose order cannot be read.
const NO_ORDER: u8 = 2;
/// Exit code of a keeper whose attempt is somebody else's already.
const NOT_OURS: u8 = 3;

/// The whole life of a keeper, from its order to its end.
pub fn main() -> ExitCode {
    let Some((order, rest)) = read_order() else { return ExitCode::from(NO_ORDER) };
    // It fails for a process that leads a session already, which is just as well.
    let _ = setsid();
    let prepared = order.fence.as_ref().map_or(Ok(()), fence::prepare);
    let lived = set_child_subreaper(Some(getpid()))
        .map_err(io::Error::from)
        .and_then(|()| runtime())
        .and_then(|runtime| runtime.block_on(life::live(order, rest, prepared)));
    // Without its report the attempt counts as lost, and that is all there is to say.
    lived.unwrap_or(ExitCode::FAILURE)
}

/// A runtime for a process that waits for a handful of things.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_io_events_per_tick(MAX_EVENTS).build()
}

/// The order, if it came whole: a starter that died in the middle wants nothing. It ends
/// with its line; what was read behind it is for the program.
fn read_order() -> Option<(Order, Rest)> {
    // Not by the standard library's own reader, whose buffer would stay.
    let stdin = File::from(stdin().try_clone_to_owned().ok()?);
    let (text, read) = first_line(&stdin, MAX_ORDER_BYTES).ok()?;
    let order = serde_json::from_slice(&text).ok()?;
    Some((order, Rest { read, stdin: stdin.into() }))
}

/// What comes on standard input behind the order.
#[derive(Debug)]
struct Rest {
    /// What of it was read with the order.
    read: Vec<u8>,
    stdin: OwnedFd,
}

/// The first line, and what was read behind it.
fn first_line(mut input: &File, limit: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut text = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    while (text.len() as u64) < limit {
        let count = input.read(&mut piece)?;
        let bytes = piece.get(..count).unwrap_or_default();
        let end = memchr::memchr(b'\n', bytes);
        let (line, rest) = bytes.split_at_checked(end.unwrap_or(count)).unwrap_or((bytes, &[]));
        text.extend_from_slice(line);
        if count == 0 || end.is_some() {
            return Ok((text, rest.get(1..).unwrap_or_default().to_vec()));
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}
