//! Stories about the rules: data in, text out.

#![cfg(test)]

mod config;
mod money;
mod returns;
mod text;
