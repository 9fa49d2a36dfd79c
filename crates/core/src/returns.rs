//! What a child says it did (the return), what the runtime saw (the receipt),
//! and what the one is worth in the light of the other.

mod model;

pub use model::*;
