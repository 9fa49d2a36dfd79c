//! The chores, tried on samples: what each rule finds and what it leaves alone.

#![cfg(test)]

mod allow_list;
mod bench;
mod conformance;
mod coverage;
mod documents;
mod layers;
mod layout;
mod real;
mod sample;
mod setup;
mod sizes;
mod words;
mod workspace;
