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

use std::io::{self, Read};
use std::process::ExitCode;

use rustix::process::{getpid, set_child_subreaper, setsid};
use tokio::runtime::Builder;

pub use ceilings::{Ceilings, Good};
pub use claim::{Claim, KEEPER_FILE};
pub use ended::{EXIT_FILE, Ended, Supervision};
pub use order::{Limits, Order};
pub use pace::{PACE_FILE, Pace};

/// Bytes an order may have at most.
pub const MAX_ORDER_BYTES: u64 = 64 << 20;

/// Exit code of a keeper whose order cannot be read.
const NO_ORDER: u8 = 2;
/// Exit code of a keeper whose attempt is somebody else's already.
const NOT_OURS: u8 = 3;

/// The whole life of a keeper, from its order to its end.
pub fn main() -> ExitCode {
    let Some(order) = read_order() else { return ExitCode::from(NO_ORDER) };
    // It fails for a process that leads a session already, which is just as well.
    let _ = setsid();
    let lived = set_child_subreaper(Some(getpid()))
        .map_err(io::Error::from)
        .and_then(|()| Builder::new_current_thread().enable_all().build())
        .and_then(|runtime| runtime.block_on(life::live(order)));
    // Without its report the attempt counts as lost, and that is all there is to say.
    lived.unwrap_or(ExitCode::FAILURE)
}

/// The order, if it came whole: a starter that died in the middle wants nothing.
fn read_order() -> Option<Order> {
    let mut text = Vec::new();
    io::stdin().take(MAX_ORDER_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
