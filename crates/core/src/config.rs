//! Configuration: every key, its type, its range and its default; and how
//! layers of it are merged.
//!
//! Loading files is not done here. A layer arrives as a JSON value with a name
//! for where it came from.

mod model;

pub use model::*;
