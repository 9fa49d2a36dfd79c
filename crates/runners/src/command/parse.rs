//! What a program says while it works: bytes in, reports out.
//!
//! Pure, and the same for any way of cutting the bytes into pieces. A line that is a
//! JSON object with `usage` or `progress`, and without the `status` that makes it a
//! return, is a report; everything else is text. Memory is bounded by the limits
//! below, whatever comes in.

mod line;

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use memchr::memchr;

use self::line::Line;
use crate::tail::Tail;

/// Bytes of a line that may be a report; a longer one is text.
pub const MAX_LINE_BYTES: usize = 64 << 10;

/// Bytes of text that are kept, the newest.
pub const MAX_TEXT_BYTES: usize = crate::tail::MAX_TEXT_BYTES;

/// Lines that were not believed and are reported; further ones are only counted.
pub const MAX_NOTES: u64 = 16;

/// What a line said.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// More was used. The figures are those of all lines so far, so of several such
    /// reports only the last matters.
    Usage(Usage),
    /// How far it is.
    Progress(Progress),
    /// So many tokens are in its context now.
    Context(u64),
    /// Nothing more is to be expected of it.
    Stalled,
    /// A line looked like a report and was not believed, for this reason.
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

impl Usage {
    /// Both together. Nothing that is added can make it less.
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        let cost = match (self.cost, more.cost) {
            (Some(cost), Some(more)) => Some(cost + more),
            (cost, more) => cost.or(more),
        };
        Self { tokens: self.tokens.plus(&more.tokens), cost }
    }
}

/// How far a program says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub current: u64,
    /// Steps in all.
    pub total: u64,
    /// What it did last; empty if it does not say.
    pub last_action: String,
}

/// Reads the standard output of one program.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The line that has begun, as long as it may turn out to be a report.
    line: Vec<u8>,
    /// Whether it begins like a JSON object; until then it is blank.
    is_object: bool,
    /// Whether the line that has begun is text for sure, and is no longer held back.
    is_text: bool,
    text: Tail,
    usage: Usage,
    ignored: u64,
}

impl Parser {
    /// Takes the next piece and says what it told.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Report> {
        let mut reports = Vec::new();
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
            self.take(line);
            self.end_line(&mut reports, b"\n");
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.take(bytes);
        reports
    }

    /// Takes the end of the output; the last line need not be ended by a line break.
    pub fn finish(&mut self) -> Vec<Report> {
        let mut reports = Vec::new();
        self.end_line(&mut reports, b"");
        reports
    }

    /// What was used so far, in all.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How many lines looked like reports and were not believed.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The newest text that is no report: where the return and `[delegate:…]` entries
    /// are looked for. Bytes that are no text are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.text.newest()).into_owned()
    }

    /// Whether there was more text than is kept.
    pub fn is_cut(&self) -> bool {
        self.text.is_cut()
    }

    /// Takes a piece of a line. It is held back only while it may become a report.
    fn take(&mut self, part: &[u8]) {
        if !self.is_text {
            let first = part.iter().find(|byte| !byte.is_ascii_whitespace());
            let is_possible = self.is_object || first.is_none_or(|byte| *byte == b'{');
            self.is_object |= first.is_some();
            if is_possible && self.line.len() + part.len() <= MAX_LINE_BYTES {
                self.line.extend_from_slice(part);
                return;
            }
            self.is_text = true;
            self.text.push(&self.line);
            self.line.clear();
        }
        self.text.push(part);
    }

    fn end_line(&mut self, reports: &mut Vec<Report>, line_break: &[u8]) {
        let line = if self.is_text { Line::Text } else { Line::read(&self.line) };
        match line {
            Line::Text => {
                self.text.push(&self.line);
                self.text.push(line_break);
            }
            Line::Report { used, progress } => {
                if let Some(used) = used {
                    self.usage = self.usage.plus(&used);
                    reports.push(Report::Usage(self.usage));
                }
                reports.extend(progress.map(Report::Progress));
            }
            Line::Absurd(why) => {
                self.ignored += 1;
                if self.ignored <= MAX_NOTES {
                    reports.push(Report::Ignored(why));
                }
            }
        }
        self.line.clear();
        self.is_object = false;
        self.is_text = false;
    }
}
