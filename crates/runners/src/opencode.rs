//! OpenCode: a process for each turn, which reads what is said on its standard input and
//! answers in JSON lines.

mod parse;
mod permissions;
mod spawn;

use std::io;
use std::time::Duration;

use crate::envoy::{Charge, End, Event, Interrupt, Outcome, Program, Spawn, Turn};

pub use parse::Parser;
pub(crate) use permissions::NEVER;
pub use permissions::{permissions, table};
pub use spawn::{CONFIG_VARIABLE, spawn};

/// A conversation with OpenCode.
#[derive(Clone, Debug, Default)]
pub struct OpenCode {
    parser: Parser,
}

impl Program for OpenCode {
    const SILENCE: Duration = Duration::from_secs(600);

    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn> {
        let conversation = self.parser.conversation().map(str::to_owned);
        self.parser.begin(charge.max_turns);
        let theirs = std::env::var(CONFIG_VARIABLE).ok();
        spawn(charge, turn, conversation.as_deref(), theirs.as_deref())
    }

    fn push(&mut self, bytes: &[u8], heard: &mut Vec<Event>) {
        self.parser.push(bytes, heard);
    }

    fn is_over(&self) -> bool {
        // It does not say so, it ends; unless it was allowed no more.
        self.parser.is_used_up()
    }

    fn must_be_stopped(&self) -> bool {
        self.parser.is_used_up()
    }

    fn may_be_silent(&self) -> bool {
        self.parser.is_in_step()
    }

    fn end(&mut self, end: &End<'_>) -> Outcome {
        self.parser.end(end)
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Signal
    }
}
