//! What the engine promises, asked of the real program: real processes, real git, real
//! signals.

mod alone;
mod asks;
mod caller;
mod ceilings;
mod chancery;
mod copy;
mod demo;
mod dir;
mod fence;
mod hostile;
mod killed;
mod models;
mod namespace;
mod patterns;
mod protocol;
mod queue;
mod records;
mod resolve;
mod restart;
mod set_up;
mod stage;
mod stopped;
mod submodules;
mod templates;
mod within;
