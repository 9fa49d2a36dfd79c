//! Text for a screen of 80 columns: the one place where lines are broken and cut.
//!
//! Words of others go through here before they reach a terminal, and nothing that one
//! would obey gets past.

use legation_core::text::shown::{visible, wrap};

/// Columns a line may have.
pub(crate) const WIDTH: usize = 80;

/// Text from a file on one line, with nothing in it that a terminal would obey.
pub(crate) fn tame(text: &str) -> String {
    visible(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// The text in as many lines as it needs, each ended and behind `indent` blanks.
pub(crate) fn block(text: &str, indent: usize) -> String {
    wrap(text, WIDTH, indent) + "\n"
}

/// A text behind what its first line begins with; further lines stand behind `indent`
/// blanks, which are at least as wide.
pub(crate) fn hanging(first: &str, text: &str, indent: usize) -> String {
    format!("{first}{}\n", wrap(text, WIDTH, indent).trim_start())
}

/// A text in as many lines as it needs; all but the first begin with `indent` blanks.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let words = text.trim_start();
    let start = text.get(..text.len() - words.len()).unwrap_or_default();
    hanging(start, words, indent)
}

/// A row of a table: columns that are kept as they are, and a last one in as many lines as
/// it needs.
pub(crate) fn row(columns: &str, rest: &str) -> String {
    hanging(columns, rest, columns.chars().count())
}

/// The beginning of a text that fits into so many columns, on one line.
pub(crate) fn clipped(text: &str, columns: usize) -> String {
    let text = tame(text);
    if text.chars().count() <= columns {
        return text;
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// A number of things: `1 error`, `2 errors`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
