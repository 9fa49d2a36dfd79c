//! What people and programs are shown.

mod cost;
mod registry;
mod status;
mod trace;
