//! Text for a screen: the one place where lines are broken and cut.
//!
//! Words of others go through here before they reach a terminal, and nothing that one
//! would obey gets past.

use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;

use legation_core::text::shown::{visible, wrap};
use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of a line where no terminal says.
const USUAL: usize = 80;
/// Columns below which nothing could be laid out, and above which nobody likes to read.
const BOUNDS: (usize, usize) = (40, 120);

/// Columns a line may have: those of the terminal, if the answer goes to one.
pub(crate) fn width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    *WIDTH.get_or_init(|| {
        let stdout = io::stdout();
        let size = tcgetwinsize(&stdout).ok().filter(|size| size.ws_col > 0);
        let columns =
            size.filter(|_| stdout.is_terminal()).map_or(USUAL, |size| size.ws_col.into());
        columns.clamp(BOUNDS.0, BOUNDS.1)
    })
}

/// Text from a file on one line, with nothing in it that a terminal would obey.
pub(crate) fn tame(text: &str) -> String {
    visible(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// The text in as many lines as it needs, each ended and behind `indent` blanks.
pub(crate) fn block(text: &str, indent: usize) -> String {
    wrap(text, width(), indent) + "\n"
}

/// A text behind what its first line begins with; further lines stand behind `indent`
/// blanks, which are at least as wide.
pub(crate) fn hanging(first: &str, text: &str, indent: usize) -> String {
    format!("{first}{}\n", wrap(text, width(), indent).trim_start())
}

/// A text in as many lines as it needs; all but the first begin with `indent` blanks.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let words = text.trim_start();
    let start = text.get(..text.len() - words.len()).unwrap_or_default();
    hanging(start, words, indent)
}

/// The same lines, those that are too long broken at blanks.
pub(crate) fn fitted(text: &str) -> String {
    let lines = text.lines().map(|line| match line.width() <= width() {
        true => line.to_owned(),
        false => {
            let indent = line.len() - line.trim_start().len();
            wrapped(line, indent + 2).trim_end().to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A row of a table: columns that are kept as they are, and a last one in as many lines as
/// it needs.
pub(crate) fn row(columns: &str, rest: &str) -> String {
    hanging(columns, rest, columns.width())
}

/// The beginning of a text that fits into so many columns, on one line.
pub(crate) fn clipped(text: &str, columns: usize) -> String {
    let text = tame(text);
    if text.width() <= columns {
        return text;
    }
    let mut room = columns.saturating_sub(1);
    let fits = |letter: &char| {
        let left = room.checked_sub(letter.width().unwrap_or(0));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// A number of things: `1 error`, `2 errors`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
