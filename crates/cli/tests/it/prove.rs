//! What the engine promises, asked of the real program: real processes, real git, real
//! signals.

mod alone;
mod caller;
mod ceilings;
mod chancery;
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
mod stage;
mod stopped;
mod templates;
