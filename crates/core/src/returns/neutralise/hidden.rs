//! Characters that a child's text must not carry unseen.

use crate::text::shown;

/// Whether a character has to be spelled out. Line breaks and tabs are welcome.
pub(super) fn is_hidden(char: char) -> bool {
    !matches!(char, '\n' | '\t') && shown::is_hidden(char)
}

/// A visible form of such a character, at most four times as long.
pub(super) fn spelled(char: char) -> String {
    match u32::from(char) {
        // Unicode has pictures of the old control characters.
        code @ 0..=0x1f => char::from_u32(0x2400 + code).map_or_else(String::new, String::from),
        0x7f => "␡".to_owned(),
        code => format!("\\u{{{code:x}}}"),
    }
}
