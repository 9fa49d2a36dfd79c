//! What stands against what in files that two sides changed.
//!
//! Only what git has put between its markers is read. However much both sides wrote, what
//! is shown of it stays small.

use legation_core::tree::event::Hunk;

/// Hunks that are shown of one conflict.
const MAX_HUNKS: usize = 20;
/// Bytes that are shown of one conflict, all hunks together.
const MAX_BYTES: usize = 8 * 1024;
/// Lines that are shown of one hunk; what is too much is left out in its middle.
const MAX_LINES: usize = 40;
/// Characters that are shown of one line.
const MAX_LINE_CHARS: usize = 200;
/// How each side of a hunk is called.
const SIDES: [&str; 2] = ["result", "subtask"];

const OURS: &str = "<<<<<<< ";
const BETWEEN: &str = "=======";
const THEIRS: &str = ">>>>>>> ";

/// Hunks as they are found, until there are enough.
#[derive(Debug, Default)]
pub(super) struct Collector {
    hunks: Vec<Hunk>,
    bytes: usize,
}

impl Collector {
    /// Whether more could be shown.
    pub(super) fn has_room(&self) -> bool {
        self.hunks.len() < MAX_HUNKS && self.bytes < MAX_BYTES
    }

    /// Takes the hunks of one marked file. The labels are how its two sides are called in
    /// the markers: what only looks like a marker is text.
    pub(super) fn take(&mut self, file: &str, marked: &str, [ours, theirs]: [&str; 2]) {
        let mut open: Option<(u64, Vec<&str>)> = None;
        for (number, line) in (1u64..).zip(marked.lines()) {
            let begins = line.strip_prefix(OURS) == Some(ours);
            let ends = line.strip_prefix(THEIRS) == Some(theirs);
            match &mut open {
                None if begins => open = Some((number, Vec::new())),
                Some((from, lines)) if ends => {
                    self.add(file, *from, lines);
                    open = None;
                }
                Some((_, lines)) => lines.push(line),
                None => {}
            }
            if !self.has_room() {
                return;
            }
        }
    }

    fn add(&mut self, file: &str, line: u64, inside: &[&str]) {
        let [result, subtask] = SIDES;
        let half = MAX_LINES / 2;
        let cut = inside.len().saturating_sub(MAX_LINES);
        let mut text = format!("{OURS}{result}\n");
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
        text.push_str(&format!("{THEIRS}{subtask}"));
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes <= MAX_BYTES || self.hunks.is_empty() {
            self.hunks.push(Hunk { file: file.to_owned(), line, text });
        }
    }

    /// All that were found.
    pub(super) fn finish(self) -> Vec<Hunk> {
        self.hunks
    }
}
