//! Gemini CLI: a process for each turn, which reads what is said on its standard input and
//! answers in JSON lines.

mod around;
mod parse;
mod permissions;
mod settings;
mod spawn;

use std::io;
use std::time::Duration;

use crate::envoy::{Charge, End, Event, Interrupt, Outcome, Program, Spawn, Turn};

pub use around::Around;
pub use parse::Parser;
pub use permissions::{policy, table};
pub use settings::settings;
pub use spawn::spawn;

/// A conversation with Gemini CLI.
#[derive(Clone, Debug, Default)]
pub struct Gemini {
    parser: Parser,
}

impl Program for Gemini {
    const SILENCE: Duration = Duration::from_secs(120);

    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn> {
        let around = Around::look(&|name| std::env::var(name).ok())?;
        let conversation = self.parser.conversation().map(str::to_owned);
        self.parser.begin();
        spawn(charge, turn, conversation.as_deref(), &around)
    }

    fn push(&mut self, bytes: &[u8], heard: &mut Vec<Event>) {
        self.parser.push(bytes, heard);
    }

    fn is_over(&self) -> bool {
        self.parser.is_over()
    }

    fn overhear(&mut self, _last_words: &str, heard: &mut Vec<Event>) {
        self.parser.finish(heard);
    }

    fn end(&mut self, end: &End<'_>) -> Outcome {
        self.parser.end(end)
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Signal
    }
}
