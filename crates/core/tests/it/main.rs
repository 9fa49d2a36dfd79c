//! Stories about the rules: data in, text out.

#![cfg(test)]
#![expect(clippy::too_many_lines, reason = "tables of cases are as long as they are")]

mod agents;
mod call;
mod config;
mod decision;
mod golden;
mod money;
mod overlap;
mod prices;
mod returns;
mod story;
mod task;
mod text;
mod tree;

use proptest::strategy::{BoxedStrategy, Strategy as _};

/// Texts that match an expression. It is read once; a bare text would be read for every case.
fn matching(expression: &str) -> BoxedStrategy<String> {
    proptest::string::string_regex(expression).expect("a test's own expression").boxed()
}
