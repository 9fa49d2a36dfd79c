//! The workload of the peers through the whole engine, with an agent that is
//! scripted and in this process. Run by `cargo xtask bench engine`.
//!
//! `peers MODE N [VARIANT]` prints one line of JSON with the keys that the peers'
//! own scripts print, so that all of them stand in one table. Everything runs on one
//! thread, as in the program itself, or on two with the variant `threads`. `peers fill N
//! FILE` leaves a journal with a past.

mod figures;
mod modes;
#[path = "../tests/it/scripted.rs"]
mod scripted;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};

/// How many threads the engine gets where it gets several.
const THREADS: usize = 2;

fn main() -> ExitCode {
    let start = Instant::now();
    // `cargo bench` adds a word of its own.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    let (mode, variant) = (word(0), word(2));
    let Ok(n) = word(1).parse::<u32>() else {
        return complain("usage: peers hello|seq|fan|durable|trees N [threads], peers fill N FILE");
    };
    let line = runtime(variant).map_err(|error| error.to_string()).and_then(|runtime| {
        let run = modes::run((mode.to_owned(), variant.to_owned()), n, start);
        // A task of its own, so that nothing has to cross from one thread to another.
        runtime.block_on(async { tokio::spawn(run).await.map_err(|error| error.to_string())? })
    });
    match line {
        Ok(mut figures) => {
            figures.insert("peer".into(), "legation".into());
            figures.insert("variant".into(), variant.into());
            figures.insert("mode".into(), mode.into());
            figures.insert("n".into(), n.into());
            figures.insert("load1".into(), figures::load().into());
            let line = serde_json::Value::from(figures);
            match writeln!(std::io::stdout(), "{line}") {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            }
        }
        Err(problem) => complain(&problem),
    }
}

fn runtime(variant: &str) -> std::io::Result<Runtime> {
    match variant {
        "threads" => Builder::new_multi_thread().worker_threads(THREADS).enable_all().build(),
        _ => Builder::new_current_thread().enable_all().build(),
    }
}

fn complain(problem: &str) -> ExitCode {
    // With nobody to tell there is nothing more to do.
    let _ = writeln!(std::io::stderr(), "peers: {problem}");
    ExitCode::FAILURE
}
