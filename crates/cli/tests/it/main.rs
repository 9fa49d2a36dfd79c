//! Terminal sessions: what a user types and what comes back.

mod decide;
mod session;
