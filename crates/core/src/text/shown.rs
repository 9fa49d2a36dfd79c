//! Text from outside, made fit for a screen.
//!
//! What an agent or a file says may hold escape sequences, text that runs
//! backwards, or a megabyte in one word. Shown to a person it is clipped,
//! visible and wrapped; the value itself is never changed here.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most characters of somebody's text that an error message repeats.
pub const QUOTE_MAX_CHARS: usize = 60;

/// The first `max_chars` characters, and `…` if that is not all.
pub fn clip(text: &str, max_chars: usize) -> Cow<'_, str> {
    let cut = text.char_indices().nth(max_chars);
    match cut.and_then(|(at, _)| text.get(..at)) {
        Some(start) => Cow::Owned(format!("{start}…")),
        None => Cow::Borrowed(text),
    }
}

/// The text with everything escaped that would move a cursor or turn the line around.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for symbol in text.chars() {
        if is_hidden(symbol) {
            shown.extend(symbol.escape_default());
        } else {
            shown.push(symbol);
        }
    }
    Cow::Owned(shown)
}

/// A word of somebody's as an error message repeats it: clipped, visible, in backquotes.
pub fn quote(text: &str) -> String {
    format!("`{}`", visible(&clip(text, QUOTE_MAX_CHARS)))
}

/// The text as lines of at most `width` characters, each after `indent` blanks.
///
/// Breaks at blanks, and inside a word only if the word alone is too long.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(1);
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split_whitespace().map(visible) {
        let mut rest = &*word;
        while !rest.is_empty() {
            let cut = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
            let (piece, behind) = rest.split_at_checked(cut).unwrap_or((rest, ""));
            let length = piece.chars().count();
            if used > 0 && used + 1 + length <= room {
                lines.push(' ');
                used += 1 + length;
            } else {
                // Writing to a `String` cannot fail.
                let _ = write!(lines, "{}{:indent$}", if used > 0 { "\n" } else { "" }, "");
                used = length;
            }
            lines.push_str(piece);
            rest = behind;
        }
    }
    lines
}

/// Control characters, and the marks that turn the direction of writing around.
fn is_hidden(symbol: char) -> bool {
    symbol.is_control()
        || matches!(symbol, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
