//! Terminal sessions: what a user types and what comes back.

#![cfg(test)]

mod agents;
mod session;
