//! What stands against what in files that two sides changed.
//!
//! Of text only what git has put between its markers is read. However much both sides wrote, what
//! is shown of it stays small.

use legation_core::tree::event::{Clash, Hunk};

/// Hunks that are shown of one conflict.
const MAX_HUNKS: usize = 20;
/// Bytes that are shown of one conflict, all hunks together.
const MAX_BYTES: usize = 8 * 1024;
/// Lines that are shown of one hunk; what is too much is left out in its middle.
const MAX_LINES: usize = 40;
/// Characters that are shown of one line.
const MAX_LINE_CHARS: usize = 200;
/// Files that are noted without lines.
pub(super) const MAX_NOTED: usize = 100;

/// How the sides of a merge are called.
pub(super) const MERGED: [&str; 2] = ["result", "subtask"];
/// How the sides are called where a result is applied.
pub(super) const APPLIED: [&str; 2] = ["yours", "result"];
/// How the sides are called where what was applied is taken back.
pub(super) const TAKEN_BACK: [&str; 2] = ["yours", "before"];

const OURS: &str = "<<<<<<< ";
const BETWEEN: &str = "=======";
const THEIRS: &str = ">>>>>>> ";

/// Hunks as they are found, until there are enough.
#[derive(Debug)]
pub(super) struct Collector {
    hunks: Vec<Hunk>,
    bytes: usize,
    noted: usize,
    called: [&'static str; 2],
}

impl Collector {
    /// None yet, of sides that are called like this.
    pub(super) fn new(called: [&'static str; 2]) -> Self {
        Self { hunks: Vec::new(), bytes: 0, noted: 0, called }
    }

    /// Whether more could be shown.
    pub(super) fn has_room(&self) -> bool {
        self.hunks.len() - self.noted < MAX_HUNKS && self.bytes < MAX_BYTES
    }

    /// Notes a file that does not fit and has no lines to show.
    pub(super) fn note(&mut self, file: &str, kind: Clash) {
        if self.noted < MAX_NOTED {
            self.noted += 1;
            self.hunks.push(Hunk::without_lines(file, kind));
        }
    }

    /// Takes the hunks of one marked file, and answers whether it has any. The labels are how
    /// its two sides are called in the markers: what only looks like a marker is text.
    pub(super) fn take(&mut self, file: &str, marked: &str, [ours, theirs]: [&str; 2]) -> bool {
        let mut any = false;
        let mut open: Option<(u64, Vec<&str>)> = None;
        for (number, line) in (1u64..).zip(marked.lines()) {
            let begins = is_edge(line, (OURS, ours));
            let ends = is_edge(line, (THEIRS, theirs));
            match &mut open {
                None if begins => open = Some((number, Vec::new())),
                Some((from, lines)) if ends => {
                    self.add(file, *from, lines);
                    (open, any) = (None, true);
                }
                Some((_, lines)) => lines.push(line),
                None => {}
            }
            if !self.has_room() {
                break;
            }
        }
        any
    }

    fn add(&mut self, file: &str, line: u64, inside: &[&str]) {
        let [ours, theirs] = self.called;
        let half = MAX_LINES / 2;
        let cut = inside.len().saturating_sub(MAX_LINES);
        let mut text = format!("{OURS}{ours}\n");
        for (at, line) in inside.iter().enumerate() {
            if cut > 0 && at == half {
                text.push_str(&format!("[{cut} lines left out]\n"));
            }
            let is_shown = cut == 0 || at < half || at >= half.saturating_add(cut);
            // The line between the sides is what makes sense of the rest.
            if is_shown || *line == BETWEEN {
                text.extend(line.chars().take(MAX_LINE_CHARS));
                text.push('\n');
            }
        }
        text.push_str(&format!("{THEIRS}{theirs}"));
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes <= MAX_BYTES || self.hunks.len() == self.noted {
            self.hunks.push(Hunk { file: file.to_owned(), line, text, kind: None });
        }
    }

    /// All that were found.
    pub(super) fn finish(self) -> Vec<Hunk> {
        self.hunks
    }
}

/// Whether a line is the edge of a side. Where that side has the file under another name, its
/// name stands behind the label.
fn is_edge(line: &str, (edge, label): (&str, &str)) -> bool {
    let rest = line.strip_prefix(edge).and_then(|rest| rest.strip_prefix(label));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}
