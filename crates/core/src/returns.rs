//! What a child says it did (the return), what the runtime saw (the receipt),
//! and what the one is worth in the light of the other.
//!
//! Text comes in, a [`Return`] or the first failed check comes out. Nothing here
//! looks at a disk: whether an artifact is there arrives as a [`Fact`]. Nothing a
//! child says about its own place in the tree is believed.

mod artifacts;
mod attest;
mod check;
mod claim;
mod extract;
mod failure;
mod fields;
mod harmless;
mod instruction;
mod judge;
mod limits;
mod model;
mod neutralise;
mod on_behalf;
mod path;
mod quality;
mod schema;
mod summarise;
mod violation;
mod within;

pub use artifacts::{ArtifactFacts, Fact};
pub use check::{Expectation, check, check_text};
pub use extract::{Absent, Extracted, extract};
pub use failure::failure_sentence;
pub use harmless::harmless;
pub use instruction::{MAX_ASKS, ask_again, instruction};
pub(crate) use judge::evidence;
pub use judge::{Doubt, Judgement, judge, settle};
pub use limits::*;
pub use model::*;
pub use neutralise::neutralise;
pub use on_behalf::{Attempt, Ceiling, NO_WORKSPACE, Stop, on_behalf};
pub use path::{BadPath, normalise_path};
pub use quality::{Measures, measured_quality, quality_of};
pub use schema::{BadSchema, CompiledSchema};
pub use summarise::{SUMMARY_TOKENS, Told, summarise};
pub use violation::{Check, Violation};
pub use within::told_to_parent;
