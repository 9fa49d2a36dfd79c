//! Stories about the rules: data in, text out.

#![cfg(test)]

mod agents;
mod money;
