//! The programs, and what each recorded conversation must come to.

use legation_core::returns::Tokens;
use legation_runners::claude_code::ClaudeCode;
use legation_runners::codex::Codex;
use legation_runners::envoy::{End, Event, Outcome, Program, Turn};
use legation_runners::gemini::Gemini;
use legation_runners::opencode::OpenCode;

use super::charge;

/// One program.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) start: fn() -> Box<dyn Heard>,
    /// What it printed in two turns of one conversation, in the first of which it used one
    /// tool. It said `first answer` and `second answer`.
    pub(super) turns: [&'static str; 2],
    /// Our name for that tool.
    pub(super) tool: &'static str,
    /// What both turns used together.
    pub(super) used: Tokens,
    /// And what they cost, in billionths of a dollar, where it says so.
    pub(super) cost_nanos: Option<u64>,
    /// A turn in which nothing was used.
    pub(super) unused: &'static str,
    /// A turn that its provider had no room for.
    pub(super) limited: &'static str,
    /// The exit code after that.
    pub(super) limited_code: i32,
    /// Whether it says that a turn is over. Else it just ends.
    pub(super) says_so: bool,
}

/// What the contract needs of a program.
pub(super) trait Heard {
    fn begin(&mut self, no: u32);
    fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>);
    fn is_over(&self) -> bool;
    fn end(&mut self, end: &End<'_>) -> Outcome;
}

impl<P: Program> Heard for P {
    fn begin(&mut self, no: u32) {
        let turn = Turn { text: "go on", no };
        let is_told = no > 0 && P::STAYS && self.again(&turn).is_some();
        assert!(is_told || self.spawn(&charge(), &turn).is_ok());
    }

    fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        Program::push(self, bytes, events);
    }

    fn is_over(&self) -> bool {
        Program::is_over(self)
    }

    fn end(&mut self, end: &End<'_>) -> Outcome {
        Program::end(self, end)
    }
}

pub(super) const COLUMNS: &[Column] = &[
    Column {
        name: "claude-code",
        start: || Box::new(ClaudeCode::default()),
        turns: [
            include_str!("../claude_code/fixtures/turn-1.jsonl"),
            include_str!("../claude_code/fixtures/turn-2.jsonl"),
        ],
        tool: "edit",
        used: Tokens { input: 3000, output: 150, reasoning: 0, cache_read: 600, cache_write: 90 },
        cost_nanos: Some(11_767_500),
        unused: include_str!("../claude_code/fixtures/overloaded.jsonl"),
        limited: include_str!("../claude_code/fixtures/overloaded.jsonl"),
        limited_code: 0,
        says_so: true,
    },
    Column {
        name: "codex",
        start: || Box::new(Codex::default()),
        turns: [
            include_str!("../codex/fixtures/turn-1.jsonl"),
            include_str!("../codex/fixtures/turn-2.jsonl"),
        ],
        tool: "shell",
        used: Tokens { input: 2400, output: 129, reasoning: 21, cache_read: 600, cache_write: 0 },
        cost_nanos: None,
        unused: include_str!("../codex/fixtures/limited.jsonl"),
        limited: include_str!("../codex/fixtures/limited.jsonl"),
        limited_code: 0,
        says_so: true,
    },
    Column {
        name: "gemini",
        start: || Box::new(Gemini::default()),
        turns: [
            include_str!("../gemini/fixtures/turn-1.jsonl"),
            include_str!("../gemini/fixtures/turn-2.jsonl"),
        ],
        tool: "shell",
        used: Tokens { input: 2400, output: 150, reasoning: 21, cache_read: 600, cache_write: 0 },
        cost_nanos: None,
        unused: include_str!("../gemini/fixtures/refused.jsonl"),
        limited: include_str!("../gemini/fixtures/refused.jsonl"),
        // What eight bits leave of 429.
        limited_code: 173,
        says_so: true,
    },
    Column {
        name: "opencode",
        start: || Box::new(OpenCode::default()),
        turns: [
            include_str!("../opencode/fixtures/turn-1.jsonl"),
            include_str!("../opencode/fixtures/turn-2.jsonl"),
        ],
        tool: "shell",
        used: Tokens { input: 2400, output: 129, reasoning: 21, cache_read: 600, cache_write: 0 },
        cost_nanos: Some(9_630_000),
        unused: include_str!("../opencode/fixtures/refused.jsonl"),
        limited: include_str!("../opencode/fixtures/refused.jsonl"),
        limited_code: 1,
        says_so: false,
    },
];
