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

/// The text with everything escaped that would move a cursor, turn the line around or not be
/// seen at all.
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

/// Whether a character is one that a reader does not see, or that changes how others are seen.
pub fn is_hidden(symbol: char) -> bool {
    match symbol {
        // Soft hyphen, Arabic letter mark, Hangul and Mongolian fillers.
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        // Zero widths, marks and overrides of direction, line and paragraph separators.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // Byte order mark and interlinear annotations.
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags and variation selectors that can smuggle whole texts.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => symbol.is_control(),
    }
}
