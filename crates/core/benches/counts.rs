//! A case, run a given number of times and nothing else, so that a program that
//! counts instructions sees only that.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cases::{CASES, Case, Reach};

/// Does what `--list-cases` or `--count CASE ROUNDS` asks for, if one of them
/// was said.
pub(crate) fn asked_for() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match *words.as_slice() {
        ["--list-cases", ..] => list(),
        ["--count", name, rounds, ..] => run(name, rounds),
        _ => return None,
    };
    Some(done.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// Prints one JSON object per case.
fn list() -> Option<()> {
    let mut out = std::io::stdout().lock();
    CASES.iter().try_for_each(|case| writeln!(out, "{}", described(case)).ok())
}

fn described(case: &Case) -> Value {
    let (name, rounds) = (case.name, case.rounds);
    match case.reach {
        Reach::Nanos(nanos) => json!({"name": name, "rounds": rounds, "nanos": nanos}),
        Reach::PerSecond(things, rate) => {
            json!({"name": name, "rounds": rounds, "things": things, "perSecond": rate})
        }
        Reach::FlatWith(other) => json!({"name": name, "rounds": rounds, "flatWith": other}),
    }
}

fn run(name: &str, rounds: &str) -> Option<()> {
    let case = CASES.iter().find(|case| case.name == name)?;
    let rounds: u64 = rounds.parse().ok()?;
    let mut round = (case.set_up)();
    (0..rounds).for_each(|_| round());
    Some(())
}
