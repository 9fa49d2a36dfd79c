//! Configuration: every key, its type, its range and its default; and how
//! layers of it are merged.
//!
//! Loading files is not done here. A layer arrives as a JSON value with a name
//! for where it came from.

mod check;
mod environment;
mod keys;
mod kind;
mod layer;
mod merge;
mod model;
mod path;
mod pattern;
mod problem;
mod reference;
mod schema;
pub mod story_loop;
mod tighten;
mod value;
mod version;

pub use check::near_key;
pub use environment::{RESERVED_NAMES, SHORT_NAMES, environment};
pub use keys::{KEYS, Key, Node, at, names_in, short_form};
pub use kind::{Kind, MAX_CHARS, MAX_ITEMS};
pub use layer::{Layer, Mark, Origin, Place};
pub use merge::{Effective, Setting, merge};
pub use model::*;
pub use path::{BadPath, KeyPath, get, put};
pub use pattern::Pattern;
pub use problem::{Fault, Note, Problem, Remark, Warning};
pub use reference::reference;
pub use schema::{about, schema};
pub use tighten::{BadDepth, Tightening, starting_depth};
pub use value::plain;
pub use version::config_version;
