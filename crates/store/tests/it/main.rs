//! Every journal keeps what it promised; the one on disk also when the disk does not.

#![cfg(test)]

mod agreement;
mod concurrency;
mod contract;
mod faults;
mod kill;
mod migration;
mod plans;
mod samples;
