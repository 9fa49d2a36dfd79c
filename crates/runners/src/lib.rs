//! What executes agents: the vendors' file formats, and what starts their programs.
//!
//! Nothing here knows that a log exists.

pub mod agents;
pub mod artifacts;
pub mod claude_code;
pub mod command;
pub mod envoy;
pub mod fence;
pub mod hearing;
pub mod keep;
mod procfs;
pub mod prompt;
pub mod supervise;
mod tail;
pub mod vendors;
pub mod workspace;
