//! Real programs under real keepers: what they do, and that nothing of them is left.

mod ceilings;
mod chancery;
mod ends;
mod found;
mod freeze;
mod output;
mod owner;
mod refusals;
mod stage;
mod start;
mod time;
