//! The engine's side of keepers: starting them, listening to them, finding them
//! again after a crash, and ending what they could not.
//!
//! Nothing here decides when an attempt shall stop, or remembers one beyond the
//! process it runs in: what must survive is in the attempt's folder.

mod ancestry;
mod chancery;
mod find;
mod follow;
mod reap;
mod remote;
mod running;
mod spawn;
mod tail;
mod written;

use std::io;
use std::path::PathBuf;

use crate::keep::Ended;

pub use ancestry::{Ancestry, ancestry, is_kept, owner_of, session_in};
pub use chancery::Chancery;
pub use find::{Found, find};
pub(crate) use reap::SESSION_VARIABLE;
pub use reap::{Traces, become_subreaper, reap};
pub use remote::Remote;
pub use running::Running;
pub use spawn::{Keeper, Starting};
pub use tail::{Stream, Tail, tail};
pub use written::written;

/// How an attempt's processes came to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The keeper saw it through and says how.
    Ended(Ended),
    /// The keeper died. Whatever was left has been ended.
    Lost {
        /// How many processes that were.
        reaped: u32,
    },
}

/// Why a keeper could not be started or found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The binary could not be started.
    #[error("start the keeper {exe}: {source}")]
    Start {
        /// Which binary.
        exe: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// What to do could not be told, or the keeper ended before it was ready.
    #[error("instruct the keeper: {0}")]
    Order(io::Error),
    /// It started and ended at once: the attempt is kept by another, or its folder
    /// cannot be written to.
    #[error("the keeper gave up before it began; is {0} writable, and is the attempt a new one?")]
    GaveUp(PathBuf),
    /// A process could not be watched.
    #[error("watch process {pid}: {source}")]
    Watch {
        /// Which process.
        pid: u32,
        /// The system's reason.
        source: io::Error,
    },
    /// The attempt's folder could not be read or written.
    #[error("use the attempt's folder {dir}: {source}")]
    Folder {
        /// Which folder.
        dir: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}
