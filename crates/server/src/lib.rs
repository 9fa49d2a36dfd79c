//! What other programs talk to: the tools of agents (MCP), and HTTP.
//!
//! Everything is asked of the engine over its socket, as the command line does; no
//! rule lives here, no SQL, no process.

pub mod http;
pub mod mcp;
mod office;

pub use office::{Caller, Closing, Office};
