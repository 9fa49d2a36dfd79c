//! Stories about the rules: data in, text out.

#![cfg(test)]

mod config;
mod golden;
mod money;
mod returns;
mod story;
mod tree;
