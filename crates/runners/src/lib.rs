//! What executes agents: the vendors' file formats, and what starts their programs.
//!
//! Nothing here knows that a log exists.

pub mod agents;
pub mod artifacts;
pub mod command;
pub mod fence;
pub mod keep;
mod procfs;
pub mod supervise;
pub mod workspace;
