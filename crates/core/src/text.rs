//! Small languages: `[delegate:…]` entries, slash commands, spans of time, story ids.
//!
//! Everything here turns text into values or an error that says what is wrong.
//! Nothing here acts on what it reads, and every parser takes time in
//! proportion to its input, whoever wrote it.

pub mod delegate;
pub mod nearest;
pub mod shown;
pub mod slash;
pub mod span;
pub mod story;
pub mod words;
