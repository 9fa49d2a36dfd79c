//! Words of a text: whole ones, so that `authentication` does not hint at `then`.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

/// The words of a text in order: runs of a–z, 0–9 and `_` after lower-casing.
///
/// A word that is already in lower case is a slice of the text.
pub fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    Words { rest: text }
}

/// Which of the `known` words (given in lower case) occur in the text, each
/// once, in the order of `known`.
pub fn found<'a>(text: &str, known: &[&'a str]) -> Vec<&'a str> {
    let present: FxHashSet<Cow<'_, str>> = words(text).collect();
    let found = known.iter().copied().filter(|&word| present.contains(word));
    found.collect()
}

/// The text as call keys compare it: in lower case, with each run of white
/// space one blank, and none at the ends.
pub fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        // What a letter becomes depends on its own word at most, never on blanks.
        if word.is_ascii() {
            normal.extend(word.chars().map(|symbol| symbol.to_ascii_lowercase()));
        } else {
            normal.push_str(&word.to_lowercase());
        }
    }
    normal
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.rest.as_bytes();
        let start = (0..bytes.len()).find(|&at| letter(bytes, at).is_some())?;
        let mut end = start;
        let mut as_it_stands = true;
        while let Some(letter) = letter(bytes, end) {
            as_it_stands &= bytes.get(end) == Some(&letter.lowered);
            end += letter.length;
            if letter.is_last {
                break;
            }
        }
        let (before, rest) = self.rest.split_at_checked(end)?;
        let (_, word) = before.split_at_checked(start)?;
        self.rest = rest;
        Some(if as_it_stands { Cow::Borrowed(word) } else { Cow::Owned(lowered(word)) })
    }
}

fn lowered(word: &str) -> String {
    let bytes = word.as_bytes();
    let letters = (0..bytes.len()).filter_map(|at| letter(bytes, at));
    letters.map(|letter| char::from(letter.lowered)).collect()
}

/// What stands at a place contributes to a word after lower-casing.
struct Letter {
    lowered: u8,
    /// How many bytes it takes before lower-casing.
    length: usize,
    /// Whether its lower case goes on with something that ends the word.
    is_last: bool,
}

fn letter(bytes: &[u8], at: usize) -> Option<Letter> {
    let (lowered, length, is_last) = match *bytes.get(at)? {
        byte @ (b'a'..=b'z' | b'0'..=b'9' | b'_') => (byte, 1, false),
        byte @ b'A'..=b'Z' => (byte.to_ascii_lowercase(), 1, false),
        ..=0x7f => return None,
        _ if is_here(bytes, at, KELVIN) => (b'k', KELVIN.len(), false),
        _ if is_here(bytes, at, DOTTED_I) => (b'i', DOTTED_I.len(), true),
        _ => return None,
    };
    Some(Letter { lowered, length, is_last })
}

/// The Kelvin sign becomes a plain `k` in lower case.
const KELVIN: &str = "\u{212a}";
/// Becomes `i` and a combining dot in lower case.
const DOTTED_I: &str = "\u{130}";

fn is_here(bytes: &[u8], at: usize, wanted: &str) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.starts_with(wanted.as_bytes())
}
