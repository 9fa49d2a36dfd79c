//! The rules of delegation as pure functions.
//!
//! Everything that Legation decides is decided here: whether a task should be
//! delegated, whether a delegation fits within its bounds, what a pattern does
//! next, what a child's return is worth. Nothing in this crate reads a clock,
//! draws a random number, opens a file or awaits anything: time, ids and facts
//! about the world come in with the question.

pub mod agent;
pub mod call;
pub mod code;
pub mod config;
pub mod decision;
pub mod digest;
pub mod ids;
pub mod money;
pub mod prices;
pub mod returns;
pub mod task;
pub mod text;
pub mod time;
pub mod tree;

pub use code::Code;
