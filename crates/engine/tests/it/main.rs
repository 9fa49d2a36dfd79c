//! Tests of the engine: trees over a journal in memory and a world that plays a script.

#![cfg(test)]

mod client;
mod scripted;
mod talks;
mod trees;
