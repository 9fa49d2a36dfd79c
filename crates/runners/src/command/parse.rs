//! What a program says while it works: bytes in, reports out.
//!
//! Pure, and the same for any way of cutting the bytes into pieces. Memory is
//! bounded by the two limits below, whatever comes in.

use legation_core::money::Usd;
use legation_core::returns::Tokens;

/// Bytes of a line that may be a report; a longer one is text.
pub const MAX_LINE_BYTES: usize = 64 << 10;

/// Bytes of text that are kept, the newest: enough for the longest return there may
/// be, and something around it.
pub const MAX_TEXT_BYTES: usize = 2 << 20;

/// What a line said.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// More was used; all of it so far.
    Usage(Usage),
    /// How far it is.
    Progress(Progress),
    /// It wrote something else: a sign of life.
    Text,
    /// A line looked like a report and was not believed.
    Ignored(String),
}

/// What was used so far, in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens by kind.
    pub tokens: Tokens,
    /// Dollars; absent as long as no line named any.
    pub cost: Option<Usd>,
}

/// How far a program says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub current: u64,
    /// Steps in all.
    pub total: u64,
    /// What it did last.
    pub last_action: String,
}

/// Reads the standard output of one program.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    text: Vec<u8>,
    usage: Usage,
}

impl Parser {
    /// Takes the next piece and says what it told.
    pub fn push(&mut self, _bytes: &[u8]) -> Vec<Report> {
        Vec::new()
    }

    /// Takes the end of the output; the last line need not be ended by a line break.
    pub fn finish(&mut self) -> Vec<Report> {
        Vec::new()
    }

    /// What was used so far, in all.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The newest text that is no report: where the return and `[delegate:…]` entries
    /// are looked for.
    pub fn text(&self) -> String {
        let _ = &self.line;
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Whether older text was dropped.
    pub fn is_cut(&self) -> bool {
        false
    }
}
