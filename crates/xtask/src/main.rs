//! `cargo xtask`: the door to the chores. The words are in `commands`.

use std::process::ExitCode;

use clap::Parser as _;
use xtask::commands::Xtask;
use xtask::{coverage, process};

fn main() -> ExitCode {
    // While coverage is measured this program stands in for the compiler.
    if let Some(exit) = coverage::stand_in_for_rustc() {
        return exit;
    }
    match Xtask::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::complain(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
