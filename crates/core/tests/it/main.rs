//! Stories about the rules: data in, text out.

mod agents;
mod money;
