//! What the engine promises, asked of the real program: real processes, real git, real
//! signals.

mod alone;
mod asks;
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
mod queue;
mod records;
mod resolve;
mod restart;
mod said;
mod stage;
mod stopped;
mod templates;
mod within;
