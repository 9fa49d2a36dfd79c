//! Instructions per round of a case, counted under valgrind.
//!
//! A case is run `n` and `2n` times; the difference, divided by `n`, is one
//! round. What it takes to start the program and to set the case up is in both
//! and cancels out.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::table::Case;
use crate::process;

/// Instructions that one round of the case takes.
pub fn per_round(counter: &Path, case: &Case) -> Result<f64> {
    let rounds = case.rounds.max(1);
    let once = instructions(counter, &case.name, rounds)?;
    let twice = instructions(counter, &case.name, rounds * 2)?;
    Ok(twice.saturating_sub(once) as f64 / rounds as f64)
}

fn instructions(counter: &Path, case: &str, rounds: u64) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(counter).args(["--count", case, &rounds.to_string()]);
    let said = process::stderr_of(&mut command)?;
    collected(&said).with_context(|| format!("valgrind counted nothing:\n{said}"))
}

/// The figure in valgrind's line `==1234== Collected : 5678`.
pub fn collected(said: &str) -> Option<u64> {
    said.lines().find_map(|line| {
        let (_, figure) = line.split_once("Collected :")?;
        figure.trim().parse().ok()
    })
}
