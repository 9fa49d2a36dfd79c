//! The fence as programs meet it: real shells, inside.

mod calls;
mod closed;
mod kernel;
mod opened;
mod outside;
mod refusals;
mod sockets;
mod stage;
mod terminals;
