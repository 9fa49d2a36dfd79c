//! Small languages: `[delegate:…]` entries, slash commands, spans of time, story ids.
