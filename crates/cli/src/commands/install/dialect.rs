//! Settings as their program reads them: JSON, and what some programs allow beside it.
//!
//! What a text says is read from a copy in which everything else is blank, so that every
//! place in the copy is the same place in the text.

use serde_json::Value;

use super::program::Program;

/// What may stand in a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON and nothing else.
    Strict,
    /// Comments, too.
    Comments,
    /// Comments, and a comma after the last of a list.
    Relaxed,
}

impl Dialect {
    /// How that program reads its settings.
    pub(super) fn of(program: Program) -> Self {
        match program {
            Program::ClaudeCode | Program::Codex => Self::Strict,
            Program::Gemini => Self::Comments,
            Program::Opencode => Self::Relaxed,
        }
    }

    /// What a text says.
    pub(super) fn read(self, text: &str) -> serde_json::Result<Value> {
        serde_json::from_str(&self.plain(text))
    }

    /// The text as JSON, byte for byte in the same places.
    pub(super) fn plain(self, text: &str) -> String {
        if self == Self::Strict {
            return text.to_owned();
        }
        let mut plain = String::with_capacity(text.len());
        // Where a comma stands that nothing but blanks follows so far.
        let mut comma = None;
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at_checked(first(rest)).unwrap_or((rest, ""));
            rest = after;
            if piece.starts_with("//") || piece.starts_with("/*") {
                let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
                plain.extend(piece.bytes().map(blank));
                continue;
            }
            if let ("}" | "]", Some(at), Self::Relaxed) = (piece, comma, self) {
                plain.replace_range(at..=at, " ");
            }
            if !piece.trim().is_empty() {
                comma = (piece == ",").then_some(plain.len());
            }
            plain.push_str(piece);
        }
        plain
    }
}

/// How long the comment, the string or the character is that a text begins with.
fn first(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if let Some(rest) = text.strip_prefix("/*") {
        return rest.find("*/").map_or(text.len(), |end| end + 4);
    }
    let mut letters = text.char_indices();
    let Some((_, '"')) = letters.next() else {
        return text.chars().next().map_or(0, char::len_utf8);
    };
    let mut is_escaped = false;
    let end = letters.find(|(_, letter)| {
        let ends = *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
