//! Characters that a reader does not see, or that change how others are seen.

/// Whether a character has to be spelled out. Line breaks and tabs are welcome.
pub(super) fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // Soft hyphen, Arabic letter mark, Hangul and Mongolian fillers.
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        // Zero widths, marks and overrides of direction, line and paragraph separators.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // Byte order mark and interlinear annotations.
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags and variation selectors that can smuggle whole texts.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => char.is_control(),
    }
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
