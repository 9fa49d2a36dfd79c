//! A simulator that attacks the rules.
//!
//! Everything follows from a seed: agents, plans, budgets, what children do,
//! what people do to them, how the clock jumps, which reports come twice or out
//! of order, and where the runtime dies. After every step the properties that
//! must always hold are checked; at the end, those that must hold at the end.

pub mod check;
mod child;
pub mod engine_world;
mod plan;
mod world;

pub use check::Broken;
pub use world::{Outcome, run};
