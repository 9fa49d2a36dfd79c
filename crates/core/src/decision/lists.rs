//! Numbered and bulleted lines of a description.
//!
//! A line is an entry if it matches `^\s*(\d+[.)]|[-*•])\s+\S`. What is indented
//! below an entry belongs to it.

use super::decompose::Part;

/// How an entry is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// `1.` or `1)`.
    Number,
    /// `-`, `*` or `•`.
    Bullet,
}

/// One line that is an entry of a list, and how far the text below it belongs to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    marker: Marker,
    indent: usize,
    title: &'a str,
    /// Where the line begins, where its text begins, and where all that belongs to it ends.
    line: usize,
    start: usize,
    end: usize,
}

/// Columns that a tab counts for.
const TAB_COLUMNS: usize = 4;

/// Every line of the text that is an entry.
pub(super) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let line_end = line_start + line.len();
        let body = line.trim_start();
        if let Some((marker, item)) = marked(body) {
            entries.push(Entry {
                marker,
                indent: indent(line, body),
                title: item.trim_end(),
                line: line_start,
                start: line_end - item.len(),
                end: line_end,
            });
        } else if let Some(last) = entries.last_mut()
            && last.end == line_start
            && (body.is_empty() || indent(line, body) > last.indent)
        {
            last.end = line_end;
        }
        line_start = line_end;
    }
    entries
}

/// The marker of a line without its indentation, and what comes after the blanks behind it.
fn marked(body: &str) -> Option<(Marker, &str)> {
    let (marker, rest) = match body.strip_prefix(['-', '*', '•']) {
        Some(rest) => (Marker::Bullet, rest),
        None => {
            let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
            let numbered = rest.len() < body.len();
            let rest = rest.strip_prefix(['.', ')']).filter(|_| numbered)?;
            (Marker::Number, rest)
        }
    };
    let item = rest.trim_start();
    (item.len() < rest.len() && !item.is_empty()).then_some((marker, item))
}

fn indent(line: &str, body: &str) -> usize {
    let blanks = line.chars().take(line.len() - body.len());
    let blanks = blanks.take_while(|c| c.is_whitespace());
    blanks.map(|c| if c == '\t' { TAB_COLUMNS } else { 1 }).sum()
}

/// The parts that the entries with this marker name, or with any where none is given, and
/// how many of them were checked off already.
///
/// Only the outermost entries are parts; those indented below one are its details.
/// Where just one entry with a marker is outermost, all entries with it are parts.
pub(super) fn parts<'a>(
    text: &'a str,
    entries: &[Entry<'a>],
    marker: Option<Marker>,
) -> (Vec<Part<'a>>, usize) {
    let is_marked = |entry: &Entry<'_>| marker.is_none_or(|marker| entry.marker == marker);
    let marked = || entries.iter().filter(|entry| is_marked(entry));
    let outermost = marked().map(|entry| entry.indent).min().unwrap_or(0);
    // One column more is a slip of the hand, not a level.
    let is_outer = |entry: &Entry<'_>| entry.indent <= outermost + 1;
    let take_all = marker.is_some() && marked().filter(|entry| is_outer(entry)).count() < 2;
    let mut chosen: Vec<Entry<'a>> = Vec::new();
    for entry in entries {
        if is_marked(entry) && (take_all || is_outer(entry)) {
            chosen.push(*entry);
        } else if let Some(last) = chosen.last_mut()
            && last.end == entry.line
        {
            last.end = entry.end;
        }
    }
    let all = chosen.len();
    let open = chosen.into_iter().filter_map(|entry| open_part(text, &entry));
    let open: Vec<Part<'a>> = open.collect();
    let done = all - open.len();
    (open, done)
}

/// The part that an entry names, unless its box is checked.
fn open_part<'a>(text: &'a str, entry: &Entry<'a>) -> Option<Part<'a>> {
    let whole = text.get(entry.start..entry.end).unwrap_or(entry.title).trim();
    let unboxed = |text: &'a str| text.strip_prefix("[ ]").map_or(text, str::trim_start);
    let is_done = ["[x]", "[X]"].iter().any(|done| whole.starts_with(done));
    (!is_done).then(|| Part::new(unboxed(entry.title), unboxed(whole)))
}
