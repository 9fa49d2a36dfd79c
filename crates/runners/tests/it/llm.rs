//! Our own agent, against providers that say what a script tells them to.

mod conversation;
mod gate;
mod hostile;
mod provider;
pub(crate) mod server;
mod servers;
mod stage;
mod stream;
mod tools;
