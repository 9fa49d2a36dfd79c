//! Claude Code: one process that stays for the whole conversation, spoken to in JSON lines.
//!
//! What is said to it and heard from it is here; it is started, watched and buried by
//! `envoy/process.rs`.

mod parse;
mod permissions;
mod spawn;

use std::io;
use std::time::Duration;

use serde_json::json;

use crate::envoy::{Charge, End, Event, Interrupt, Outcome, Program, Spawn, Turn};

pub use parse::Parser;
pub(crate) use permissions::NEVER;
pub use permissions::{Permissions, permissions, table};
pub use spawn::spawn;

/// A conversation with Claude Code.
#[derive(Clone, Debug, Default)]
pub struct ClaudeCode {
    parser: Parser,
}

impl Program for ClaudeCode {
    const SILENCE: Duration = Duration::from_secs(120);
    const STAYS: bool = true;

    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn> {
        // One that has to be started again knows nothing of what was said before, and
        // its figures begin anew.
        self.parser = Parser::default();
        if turn.no == 0 {
            return Ok(spawn(charge, turn.text));
        }
        Ok(spawn(charge, &format!("{}\n\n{}", charge.prompt, turn.text)))
    }

    fn again(&mut self, turn: &Turn<'_>) -> Option<String> {
        self.parser.begin();
        Some(spawn::said(turn.text))
    }

    fn push(&mut self, bytes: &[u8], heard: &mut Vec<Event>) {
        self.parser.push(bytes, heard);
    }

    fn is_over(&self) -> bool {
        self.parser.is_over()
    }

    fn end(&mut self, end: &End<'_>) -> Outcome {
        self.parser.end(end)
    }

    fn interrupt(&self) -> Interrupt {
        let words = json!({
            "type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"},
        });
        Interrupt::Say(format!("{words}\n"))
    }
}
