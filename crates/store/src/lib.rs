//! The journal, and the tables that are read without replaying it.
//!
//! An event is text that is kept and handed back; nothing here looks into it. What
//! it means for the read tables arrives beside it, as rows with plain columns, and
//! both are written at once or not at all.

mod append;
mod error;
mod journal;
mod memory;
mod record;
mod sqlite;

pub use append::{Append, Appended, MAX_APPEND_BYTES, MAX_EVENTS, MAX_ROWS, Row};
pub use error::Error;
pub use journal::Journal;
pub use memory::Memory;
pub use record::{Delegation, Entry, MAX_PAGE, MAX_READ, MAX_READ_BYTES, Page, Past, PastPage};
pub use sqlite::{Durability, Options, Sqlite};
