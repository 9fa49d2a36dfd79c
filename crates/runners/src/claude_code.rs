//! Claude Code: a process that stays for one turn, spoken to in JSON lines.

mod parse;
mod spawn;

use std::io;
use std::time::Duration;

use serde_json::json;

use crate::envoy::{Charge, End, Event, Interrupt, Outcome, Program, Spawn, Turn};

pub use parse::Parser;
pub use spawn::spawn;

/// A conversation with Claude Code.
#[derive(Clone, Debug, Default)]
pub struct ClaudeCode {
    parser: Parser,
}

impl Program for ClaudeCode {
    const SILENCE: Duration = Duration::from_secs(120);

    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn> {
        let conversation = self.parser.conversation().map(str::to_owned);
        self.parser.begin();
        Ok(spawn(charge, turn, conversation.as_deref()))
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
