//! Programs as agents: what they say, what they see, and where they are found.

mod environment;
mod parse;
mod resolve;
