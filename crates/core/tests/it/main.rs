//! Stories about the rules: data in, text out.

#![cfg(test)]
#![expect(clippy::too_many_lines, reason = "tables of cases are as long as they are")]

mod agents;
mod config;
mod decision;
mod golden;
mod money;
mod returns;
mod story;
mod text;
mod tree;
