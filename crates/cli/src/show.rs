//! Words on the screen that several verbs share.
//!
//! Delegations come here as the value that programs are given, so that people and
//! programs are never told different things.

pub(crate) mod cost;
pub(crate) mod figures;
pub(crate) mod live;
pub(crate) mod model;
pub(crate) mod news;
pub(crate) mod plan;
pub(crate) mod trace;
pub(crate) mod tree;
