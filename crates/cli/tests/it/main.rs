//! Terminal sessions: what a user types and what comes back.

mod parse;
mod session;
mod shell;
