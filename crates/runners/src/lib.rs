//! What executes agents: the vendors' file formats, and what starts their programs.
//!
//! Nothing here knows that a log exists.

pub mod acp;
pub mod agents;
pub mod artifacts;
pub mod claude_code;
pub mod command;
pub mod envoy;
pub mod fence;
pub mod hearing;
pub mod keep;
pub mod llm;
mod procfs;
pub mod prompt;
mod rpc;
pub mod supervise;
mod tail;
pub mod vendors;
pub mod workspace;
