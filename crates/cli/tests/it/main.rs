//! Terminal sessions: what a user types and what comes back.

mod check_return;
mod session;
