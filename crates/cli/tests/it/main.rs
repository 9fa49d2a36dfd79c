//! Terminal sessions: what a user types and what comes back.

mod session;
mod check_return;
