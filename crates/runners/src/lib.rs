//! What executes agents: the vendors' file formats, and what starts their programs.
//!
//! Nothing here knows that a log exists.

pub mod acp;
pub mod agents;
pub mod artifacts;
pub mod chancery;
pub mod claude_code;
pub mod codex;
pub mod command;
pub mod depths;
pub mod door;
pub mod envoy;
pub mod fence;
mod folder;
pub mod gemini;
mod group;
pub mod hands;
pub mod hearing;
pub mod keep;
pub mod llm;
mod mounts;
pub mod opencode;
pub mod permissions;
pub mod pricing;
mod procfs;
pub mod prompt;
mod rpc;
pub mod servers;
mod settings;
pub mod supervise;
mod tail;
pub mod vendors;
pub mod wary;
mod what_for;
pub mod workspace;
