//! The hand: a small program that uses one tool in a workspace and says what came of it.
//!
//! It runs under a keeper and inside the attempt's fence, with the environment that the
//! tool is to see. What it is about it is told on its standard input.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use rustix::stdio::stdin;

use super::tools::{Came, Told, apply};
use crate::keep;

/// The verb by which the binary starts itself as a hand. It is not for people.
pub const VERB: &str = "hand";

/// Bytes that it may be told at most.
const MAX_TOLD_BYTES: u64 = 64 << 20;
/// Exit code of a hand that cannot read what it is told.
const NOT_TOLD: u8 = 2;

/// The whole life of a hand.
pub fn main() -> ExitCode {
    let Some(told) = read() else { return ExitCode::from(NOT_TOLD) };
    match use_it(told).and_then(|came| say(&came)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read() -> Option<Told<'static>> {
    let mut text = Vec::new();
    let stdin = File::from(stdin().try_clone_to_owned().ok()?);
    stdin.take(MAX_TOLD_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn use_it(told: Told<'_>) -> io::Result<Came> {
    let env = std::env::vars_os();
    let env = env
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(keep::runtime()?.block_on(apply(told, &env)))
}

fn say(came: &Came) -> io::Result<()> {
    io::stdout().write_all(&serde_json::to_vec(came)?)
}
