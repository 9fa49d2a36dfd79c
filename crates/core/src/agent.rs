//! Agents: what a definition says, what it may use, whom it may call.
//!
//! Definitions are read from files elsewhere; here they are data. Nothing here
//! knows a vendor's words: tools have their canonical names by the time they
//! arrive.

mod account;
mod choose;
mod configured;
mod cycles;
mod delegate;
pub mod glob;
mod id;
mod layer;
mod limited;
mod model;
mod permission;
mod references;
mod roster;
mod server;
mod tool;

pub use account::Account;
pub use choose::{Choice, Wish, choose};
pub use configured::{Stranger, check_configured};
pub(crate) use delegate::CYCLE;
pub use delegate::{Refusal, may_delegate};
pub use id::{MAX_ID_CHARS, RESERVED_IDS, is_valid_id, kebab_case};
pub use layer::{Because, Layer, Level, Source};
pub use model::*;
pub use permission::{Explained, Permissions, Verdict};
pub use references::{Finding, Severity, check_references};
pub use roster::Roster;
pub use server::{McpServer, Reach};
pub use tool::{CANONICAL, Tool};
