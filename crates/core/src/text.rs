//! Small languages: `[delegate:…]` entries, slash commands, spans of time, story ids.

pub mod words;
