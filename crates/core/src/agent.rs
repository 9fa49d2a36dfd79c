//! Agents: what a definition says, what it may use, whom it may call.
//!
//! Definitions are read from files elsewhere; here they are data.

mod model;

pub use model::*;
