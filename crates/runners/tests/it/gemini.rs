//! Gemini CLI: what it is told, and what it says.

mod parse;
mod permissions;
mod spawn;
