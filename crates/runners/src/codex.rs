//! Codex: a process for each turn (`codex exec`), gone on with by the name of its thread.
//!
//! What is said to it and heard from it is here; it is started, watched and buried by
//! `envoy/process.rs`.

mod parse;
mod permissions;
mod record;
mod servers;
mod spawn;
mod strict;

use std::fs;
use std::io;
use std::time::Duration;

use crate::envoy::{Charge, End, Event, Interrupt, Outcome, Program, Spawn, Turn};

pub use parse::Parser;
pub use permissions::{Permissions, Sandbox, permissions, table};
pub use record::Record;
pub use servers::named_in;
pub use spawn::{Before, spawn};
pub use strict::return_schema;

/// A conversation with Codex.
#[derive(Debug, Default)]
pub struct Codex {
    parser: Parser,
    /// What it writes down of the thread, once that is there.
    record: Option<Record>,
}

impl Program for Codex {
    /// It says nothing until an item is whole.
    const SILENCE: Duration = Duration::from_secs(600);

    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn> {
        let thread = self.parser.thread().map(str::to_owned);
        self.parser.begin(charge.model.as_deref());
        let servers = servers::of_user()?;
        let before = Before { thread: thread.as_deref(), servers: &servers };
        let charge = Charge { is_fenced: charge.is_fenced && stands(charge), ..charge.clone() };
        Ok(spawn(&charge, turn.text, &before))
    }

    fn push(&mut self, bytes: &[u8], heard: &mut Vec<Event>) {
        self.parser.push(bytes, heard);
    }

    fn look(&mut self, heard: &mut Vec<Event>) {
        if self.record.is_none() {
            let thread = self.parser.thread();
            self.record = thread.and_then(|thread| Record::find(&servers::home()?, thread));
        }
        if let Some(record) = &mut self.record {
            self.parser.note(&record.read(), heard);
        }
    }

    fn overhear(&mut self, last_words: &str, heard: &mut Vec<Event>) {
        self.parser.overhear(last_words, heard);
    }

    fn is_over(&self) -> bool {
        self.parser.is_over()
    }

    fn end(&mut self, end: &End<'_>) -> Outcome {
        self.parser.end(end)
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Signal
    }
}

/// Whether the fence that was wanted is really there: the attempt's own folder, in which its
/// keeper writes, is closed to those inside. Without it Codex must not go without its own.
fn stands(charge: &Charge) -> bool {
    let attempt = charge.scratch.ancestors().nth(2);
    let looked = attempt.map(fs::read_dir);
    matches!(looked, Some(Err(problem)) if problem.kind() == io::ErrorKind::PermissionDenied)
}
