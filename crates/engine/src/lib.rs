//! Decide, append, fold, act: what turns the rules into running work.
//!
//! One actor per tree is the only writer of that tree. It asks `core` what a
//! command means, appends the answer to the journal, and acts on what is owed and
//! not under way. Everything that touches processes, files or the clock is behind
//! [`World`], so that the simulator can drive the same engine through a fake one.

pub mod client;
pub mod host;
pub mod logs;
pub mod news;
pub mod protocol;
pub mod read;
pub mod talks;
pub mod world;

mod actor;
mod desk;
mod engine;
mod ids;
mod mail;
mod real;
mod record;
mod service;
mod slots;
mod token;

pub use engine::{Engine, Error, Options};
pub use mail::{Accepted, Answer, Follow, Mailbox};
pub use real::{Grounds, Real, RealOptions, named};
pub use service::{ServeError, serve};
pub use token::Secret;
pub use world::World;
