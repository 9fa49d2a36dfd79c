//! A tree: a root delegation and everything delegated below it.
//!
//! Four pure functions are the product. [`decide`] says what a command means,
//! [`evolve`] folds what happened into the state, [`owed`] says what the world
//! still has to be made to do, and [`view`] shows it. A tree has one writer,
//! one log and one budget.

pub mod bounds;
pub mod brief;
pub mod command;
pub mod effect;
pub mod event;
pub mod ledger;
pub mod plan;
pub mod rejection;
pub mod state;
pub mod view;

mod arena;
mod decide;
mod evolve;
mod owed;
mod pattern;

pub use arena::{AttemptNo, DelegationNo, SubtaskNo};
pub use command::Command;
pub use decide::decide;
pub use effect::Effect;
pub use event::Event;
pub use evolve::{evolve, replay};
pub use owed::{owed, owed_apart, owed_slots};
pub use rejection::Rejection;
pub use state::State;
