//! The tree: what every command means, and what follows.

mod budget;
mod context;
mod cost;
mod count;
mod cycle;
mod depth;
mod lineage;
mod time;
mod width;
