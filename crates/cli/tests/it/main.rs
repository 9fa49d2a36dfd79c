//! Terminal sessions: what a user types and what comes back.

#![cfg(test)]

mod check_return;
mod config;
mod docs;
mod parse;
mod session;
mod shell;
