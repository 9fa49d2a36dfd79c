//! Text of a child is data: whatever could pass for somebody else's turn, for a
//! tool's answer or for a command of ours is made harmless and left readable.
//!
//! One backslash breaks a marker apart: `<system>` becomes `<\system>`, `[INST]`
//! becomes `[\INST]`, `[delegate:` becomes `[\delegate:`, and `Human:` at the
//! start of a line becomes `Human\:`. Characters that cannot be seen, or that
//! move the cursor or the direction of writing, are spelled out. Taking the
//! backslashes out again gives the words back.
//!
//! It is a pass over the text that makes it at most four times as long;
//! doing it twice changes nothing more. Whether a text is true is not judged here.

mod hidden;
mod marker;

use std::borrow::Cow;

/// The same text with nothing in it that could be taken for an instruction of the system.
pub fn neutralise(text: &str) -> Cow<'_, str> {
    let mut pass = Pass { text, made: String::new(), copied: 0 };
    let mut colon = marker::role_colon(text);
    for (at, char) in text.char_indices() {
        let after = at + char.len_utf8();
        let rest = text.get(after..).unwrap_or_default();
        match char {
            '\n' => colon = marker::role_colon(rest).map(|offset| after + offset),
            '<' if marker::is_tag(rest) => pass.replace(at, after, "<\\"),
            '[' if marker::is_bracketed(rest) => pass.replace(at, after, "[\\"),
            _ if colon == Some(at) => pass.replace(at, at, "\\"),
            '\r' if rest.starts_with('\n') => {}
            _ if hidden::is_hidden(char) => pass.replace(at, after, &hidden::spelled(char)),
            _ => {}
        }
    }
    pass.finish()
}

/// What has been made so far, and how much of the text is in it.
struct Pass<'a> {
    text: &'a str,
    made: String,
    copied: usize,
}

impl<'a> Pass<'a> {
    fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.made.push_str(self.text.get(self.copied..from).unwrap_or_default());
        self.made.push_str(with);
        self.copied = to;
    }

    fn finish(mut self) -> Cow<'a, str> {
        // Every replacement adds something, so nothing made means nothing replaced.
        if self.made.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.made.push_str(self.text.get(self.copied..).unwrap_or_default());
        Cow::Owned(self.made)
    }
}
