//! What hears a program out: passes everything on, and keeps what is needed to decide
//! whether to ask again.

use std::io::{self, Write};
use std::time::Duration;

use legation_core::text::shown::{clip, visible};
use tokio::sync::watch;
use tokio::time::Instant;

use super::event::Event;
use super::told::Told;
use crate::tail::Tail;

/// Bytes of text that one line passes on.
const PIECE_BYTES: usize = 32 << 10;
/// Characters that are told of what a tool is used for.
const WHAT_CHARS: usize = 200;

/// Hears what a program does, and passes it on.
pub struct Ear {
    out: Box<dyn Write + Send>,
    stopped: watch::Receiver<bool>,
    text: Tail,
    tools: u64,
    open_tools: u32,
    heard_at: Instant,
}

impl Ear {
    /// An ear that passes on to `out`, and knows when all shall stop.
    pub fn new(out: impl Write + Send + 'static, stopped: watch::Receiver<bool>) -> Self {
        let (text, heard_at) = (Tail::default(), Instant::now());
        Self { out: Box::new(out), stopped, text, tools: 0, open_tools: 0, heard_at }
    }

    /// A new turn begins: what was said before is no answer to what is asked now.
    pub fn begin(&mut self) {
        self.text = Tail::default();
        self.open_tools = 0;
        self.heard_at = Instant::now();
    }

    /// Takes note of something.
    pub fn hear(&mut self, event: Event) {
        self.heard_at = Instant::now();
        match event {
            Event::Text(text) => {
                self.text.push(text.as_bytes());
                self.text.push(b"\n");
                self.pass_on_text(&text);
            }
            Event::Tool { tool, what } => {
                self.tools += 1;
                self.open_tools += 1;
                let what = clip(&visible(&what), WHAT_CHARS).into_owned();
                self.tell(&Told::Tool { tool, what, count: self.tools });
            }
            Event::ToolOver => self.open_tools = self.open_tools.saturating_sub(1),
            Event::Denied { tool, why } => {
                let why = clip(&visible(&why), WHAT_CHARS).into_owned();
                self.tell(&Told::Denied { tool, why });
            }
            Event::Unavailable { server, why } => {
                let why = clip(&visible(&why), WHAT_CHARS).into_owned();
                self.tell(&Told::Unavailable { server, why });
            }
            Event::Used { usage, model } => {
                self.tell(&Told::Used { tokens: usage.tokens, cost: usage.cost, model });
            }
            Event::Context(tokens) => self.tell(&Told::Context(tokens)),
            Event::Conversation(name) => self.tell(&Told::Conversation(name)),
            Event::Alive => {}
        }
    }

    /// What was said in this turn, the newest.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.text.newest()).into_owned()
    }

    /// How long nothing was heard; nothing while a tool is at work, which may be silent.
    pub fn silent_for(&self) -> Duration {
        if self.open_tools > 0 { Duration::ZERO } else { self.heard_at.elapsed() }
    }

    /// Something else shows that the program lives.
    pub fn stay_calm(&mut self) {
        self.heard_at = Instant::now();
    }

    /// Whether all shall stop.
    pub fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Waits until all shall stop.
    pub async fn stopped(&mut self) {
        if self.stopped.wait_for(|stop| *stop).await.is_err() {
            // Whoever could say so is gone.
            std::future::pending::<()>().await;
        }
    }

    /// Passes something on.
    pub fn tell(&mut self, told: &Told) {
        // Nobody can be told that nobody listens.
        let _ = self.write(told);
    }

    fn write(&mut self, told: &Told) -> io::Result<()> {
        let mut line = serde_json::to_vec(told)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }

    fn pass_on_text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = (0..=PIECE_BYTES.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at));
            let (piece, after) = rest.split_at_checked(end.unwrap_or(0)).unwrap_or((rest, ""));
            self.tell(&Told::Text(piece.to_owned()));
            rest = after;
        }
        // What was said is over: the next words do not go on with its last line.
        self.tell(&Told::Text("\n".to_owned()));
    }
}
