//! Stories about the rules: data in, text out.

mod decision;
mod money;
