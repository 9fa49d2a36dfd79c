//! The tree: what every command means, and what follows.

mod budget;
mod context;
mod cost;
mod count;
mod cycle;
mod debate;
mod depth;
mod ensemble;
mod lineage;
mod plain;
mod review;
mod time;
mod width;
