//! The entries of one line of prose: brackets matched, code spans left out.
//!
//! Brackets and backquotes are each paired in a single sweep of the line before
//! the openings are walked, so a line of nothing but openings, brackets or
//! backquotes costs no more than any other of its length.

use std::ops::Range;

use memchr::{memchr2_iter, memmem};
use rustc_hash::FxHashMap;

use super::OPENING;

/// Where the entries stand in a line.
///
/// An entry is one piece: openings and backquotes inside it are its text.
pub(super) fn entries(line: &str) -> Vec<Range<usize>> {
    let starts: Vec<usize> = memmem::find_iter(line.as_bytes(), OPENING).collect();
    if starts.is_empty() {
        return Vec::new();
    }
    let ends = closings(line.as_bytes(), &starts);
    let mut code = CodeSpans::new(line.as_bytes());
    let mut entries = Vec::new();
    let mut position = 0;
    for (&start, end) in starts.iter().zip(ends) {
        position = code.skip_to(start, position);
        if let Some(end) = end
            && start >= position
        {
            entries.push(start..end + 1);
            position = end + 1;
        }
    }
    entries
}

/// For each opening the place of its matching `]`, if it has one.
fn closings(line: &[u8], starts: &[usize]) -> Vec<Option<usize>> {
    let mut closings = vec![None; starts.len()];
    let first = starts.first().copied().unwrap_or_default();
    let mut unseen = starts.iter().zip(&mut closings).peekable();
    // Openings that are not closed yet, with the depth of brackets around them.
    let mut open: Vec<(usize, &mut Option<usize>)> = Vec::new();
    let mut depth = 0_usize;
    let behind = line.get(first..).unwrap_or_default();
    for at in memchr2_iter(b'[', b']', behind).map(|at| at + first) {
        if line.get(at) == Some(&b'[') {
            if let Some((_, closing)) = unseen.next_if(|(start, _)| **start == at) {
                open.push((depth, closing));
            }
            depth += 1;
            continue;
        }
        depth = depth.saturating_sub(1);
        if let Some((_, closing)) = open.pop_if(|(around, _)| *around == depth) {
            *closing = Some(at);
        }
    }
    drop(open);
    closings
}

/// The code spans of a line, from left to right.
struct CodeSpans<'a> {
    line: &'a [u8],
    /// Runs of backquotes not looked at yet, the next one last.
    runs: Vec<Range<usize>>,
    /// Where runs of each length begin, the next one last.
    by_length: FxHashMap<usize, Vec<usize>>,
}

impl<'a> CodeSpans<'a> {
    fn new(line: &'a [u8]) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for at in memchr::memchr_iter(b'`', line) {
            match runs.last_mut() {
                Some(run) if run.end == at => run.end = at + 1,
                Some(_) | None => runs.push(at..at + 1),
            }
        }
        runs.reverse();
        let mut by_length: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for run in &runs {
            by_length.entry(run.len()).or_default().push(run.start);
        }
        Self { line, runs, by_length }
    }

    /// Walks the spans that begin at or behind `position` and before `target`;
    /// answers where the last of them ends, or `position` if there is none.
    fn skip_to(&mut self, target: usize, mut position: usize) -> usize {
        while let Some(run) = self.runs.pop_if(|run| run.start < target) {
            if run.start < position {
                continue;
            }
            // A backslash takes the first backquote out of a run that would open
            // a span; inside a span it is an ordinary character.
            let length = run.len() - usize::from(self.is_escaped(run.start));
            if let Some(closing) = self.closing(length, run.end) {
                position = closing + length;
            }
        }
        position
    }

    fn closing(&mut self, length: usize, from: usize) -> Option<usize> {
        let places = self.by_length.get_mut(&length)?;
        while places.pop_if(|place| *place < from).is_some() {}
        places.last().copied()
    }

    fn is_escaped(&self, at: usize) -> bool {
        let before = self.line.get(..at).unwrap_or_default();
        let backslashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        backslashes % 2 == 1
    }
}
