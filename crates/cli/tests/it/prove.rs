//! What the engine promises, asked of the real program: real processes, real git, real
//! signals.

mod fence;
mod hostile;
mod killed;
mod restart;
mod stage;
mod stopped;
