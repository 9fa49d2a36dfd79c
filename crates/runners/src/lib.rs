//! What executes agents: the vendors' file formats now, their programs later.
//!
//! Nothing here knows that a log exists.

pub mod agents;
pub mod artifacts;
pub mod workspace;
