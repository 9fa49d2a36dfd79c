//! The other end of the socket: finding the engine of a project, starting it, and
//! talking to it.
//!
//! Nothing here decides anything about delegations. Where files of a project lie
//! is known here, because everybody who talks to an engine has to agree on it.

mod conversation;
mod folder;
mod launch;
mod lock;
mod passed_on;
mod paths;
mod prepare;

pub use conversation::{Client, Conversation, Lost, MAX_REPLY_BYTES};
pub use launch::{InAttempt, READY, StartError, launch, reach_from_attempt};
pub use lock::{Holder, attend, engine_pid, holder, is_attended, lock_text};
pub use passed_on::passed_on;
pub use paths::{MAX_SOCKET_BYTES, Paths, Surroundings, owner_of_workspace};
pub use prepare::{PrepareError, prepare};
