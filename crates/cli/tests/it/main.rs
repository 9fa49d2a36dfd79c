//! Terminal sessions: what a user types and what comes back.

#![cfg(test)]
#![expect(clippy::too_many_lines, reason = "tables of cases are as long as they are")]

mod after;
mod agents;
mod check_return;
mod config;
mod decide;
mod delegate;
mod docs;
mod doctor;
mod engine;
mod fake_engine;
mod help;
mod install;
mod look;
mod mcp;
mod mounts;
mod parse;
mod prove;
mod serve;
mod session;
mod settings;
mod shell;
mod submit;
mod tasks;
mod terminal;
mod usage;
mod workspaces;
