//! One piece of a text that was replaced by another, and how to undo that: to the byte where
//! nothing else has changed since, and around what has.

use legation_core::digest;
use serde::{Deserialize, Serialize};

/// Digits of the hash by which a text is known again.
const DIGITS: usize = 32;
/// Bytes that a piece must have to be looked for in a text that has changed.
const MIN_BYTES: usize = 40;

/// A piece that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Splice {
    /// Whether there was a file at all.
    pub(super) was_there: bool,
    at: usize,
    old: String,
    new: String,
    /// The hash of the text as it was left.
    left: String,
}

impl Splice {
    /// What makes one text of another.
    pub(super) fn between(before: &str, after: &str, was_there: bool) -> Self {
        let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other);
        let at: usize = same.map(|(one, _)| one.len_utf8()).sum();
        let (old, new) = (before.get(at..), after.get(at..));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let same = old.chars().rev().zip(new.chars().rev()).take_while(|(one, other)| one == other);
        let end: usize = same.map(|(one, _)| one.len_utf8()).sum();
        let piece = |text: &str| text.get(..text.len() - end).unwrap_or_default().to_owned();
        Self { was_there, at, old: piece(old), new: piece(new), left: hash(after) }
    }

    /// What was put in.
    pub(super) fn piece(&self) -> &str {
        &self.new
    }

    /// Whether the text is still as it was left.
    pub(super) fn is_as_left(&self, text: &str) -> bool {
        hash(text) == self.left
    }

    /// The text as it would be without it, if the piece can be told apart.
    pub(super) fn undone(&self, text: &str) -> Option<String> {
        let at = if self.is_as_left(text) {
            self.at
        } else if self.new.len() >= MIN_BYTES && text.matches(&self.new).count() == 1 {
            text.find(&self.new)?
        } else {
            return None;
        };
        Some(format!("{}{}{}", text.get(..at)?, self.old, text.get(at + self.new.len()..)?))
    }
}

fn hash(text: &str) -> String {
    digest::hex(&[text], DIGITS)
}
