//! Stories about the rules: data in, text out.

mod money;
mod text;
