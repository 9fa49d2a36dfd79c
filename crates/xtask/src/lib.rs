//! The chores of the workspace, so that a person and the build server type the
//! same words.
//!
//! Nothing in here is part of the product, and no crate of the product may
//! depend on it.

pub mod bench;
pub mod ci;
pub mod commands;
pub mod conformance;
pub mod coverage;
pub mod fuzz;
pub mod npm;
pub mod process;
pub mod real_agents;
pub mod setup;
pub mod soak;
pub mod tidy;
pub mod workspace;
