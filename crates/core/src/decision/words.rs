//! Words of a text, and the built-in words that mean something to a decision.
//!
//! A word is a run of a–z, 0–9 and `_` after lower-casing; a letter beyond ASCII
//! ends it. Nothing here looks inside a word: "authentication" has no "then" in it.

use std::borrow::Cow;
use std::iter;

/// What a built-in word speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Raises the complexity: the work is technical.
    Technical,
    /// Raises the complexity: the work is wide.
    Scope,
    /// Hints at the pattern `parallel`.
    Parallel,
    /// Hints at the pattern `sequential`.
    Sequential,
    /// Hints at the pattern `debate`.
    Debate,
    /// Hints at the pattern `review`.
    Review,
    /// Hints at the pattern `ensemble`.
    Ensemble,
}

impl Group {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

const T: u8 = Group::Technical.bit();
const S: u8 = Group::Scope.bit();
const P: u8 = Group::Parallel.bit();
const Q: u8 = Group::Sequential.bit();
const D: u8 = Group::Debate.bit();
const R: u8 = Group::Review.bit();
const E: u8 = Group::Ensemble.bit();

/// Every built-in word with its groups, by first letter: a word of the text is
/// compared only with those that begin like it. At most 64, one bit each.
const WORDS: [(&str, u8); 43] = [
    ("after", Q),
    ("all", S),
    ("alternatives", D),
    ("api", T),
    ("async", T),
    ("batch", P),
    ("before", Q),
    ("compare", D),
    ("complete", S),
    ("comprehensive", S),
    ("concurrent", T | P),
    ("controversial", D),
    ("create", R),
    ("critical", E),
    ("critique", R),
    ("database", T),
    ("depends", Q),
    ("discuss", D),
    ("distributed", T),
    ("draft", R),
    ("ensure", E),
    ("entire", S),
    ("evaluate", D),
    ("finally", Q),
    ("first", Q),
    ("full", S),
    ("important", E),
    ("independent", P),
    ("integration", T),
    ("multiple", S),
    ("options", D),
    ("parallel", P),
    ("performance", T),
    ("prerequisite", Q),
    ("redundant", E),
    ("review", R),
    ("revise", R),
    ("security", T),
    ("simultaneously", P),
    ("then", Q),
    ("validate", E),
    ("verify", E),
    ("write", R),
];

/// Where the words of each letter begin in `WORDS`, and where those of `z` end.
#[expect(clippy::indexing_slicing, reason = "in a constant, a bad index does not compile")]
const BY_LETTER: [usize; 27] = {
    let mut starts = [WORDS.len(); 27];
    let mut index = WORDS.len();
    while index > 0 {
        index -= 1;
        let letter = (WORDS[index].0.as_bytes()[0] - b'a') as usize;
        let mut before = 0;
        while before <= letter {
            starts[before] = index;
            before += 1;
        }
    }
    starts
};

/// For each letter, the lengths that its words have, one bit each: most words of a text
/// are none of ours, and that tells without a comparison.
#[expect(clippy::indexing_slicing, reason = "in a constant, a bad index does not compile")]
const LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut index = 0;
    while index < WORDS.len() {
        let word = WORDS[index].0.as_bytes();
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        index += 1;
    }
    lengths
};

/// The built-in words that a text contains, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found(u64);

impl Found {
    /// Looks through texts; the end of one also ends a word.
    pub(super) fn in_texts(texts: &[&str]) -> Self {
        let mut found = 0;
        for text in texts {
            for word in words(plain(text).as_bytes()) {
                found |= bit_of(word);
            }
        }
        Self(found)
    }

    /// How many words of the group there are.
    pub(super) fn count(self, group: Group) -> u32 {
        self.list(group).fold(0, |count, _| count + 1)
    }

    /// The words of the group, in alphabetical order.
    pub(super) fn list(self, group: Group) -> impl Iterator<Item = &'static str> {
        let mut left = self.0;
        iter::from_fn(move || {
            while left != 0 {
                let index = left.trailing_zeros();
                left &= left - 1;
                if let Some((word, groups)) = WORDS.get(index as usize)
                    && groups & group.bit() != 0
                {
                    return Some(*word);
                }
            }
            None
        })
    }

    /// Whether a word is built in for the group.
    pub(super) fn is_built_in(word: &[u8], group: Group) -> bool {
        Self(bit_of(word)).list(group).next().is_some()
    }
}

/// The bit of a built-in word, or 0.
fn bit_of(word: &[u8]) -> u64 {
    let first = word.first().map_or(0, u8::to_ascii_lowercase);
    let letter = usize::from(first.wrapping_sub(b'a'));
    let lengths = LENGTHS.get(letter).copied().unwrap_or_default();
    // No word of ours is longer than fourteen letters.
    if (lengths >> word.len().min(15)) & 1 == 0 {
        return 0;
    }
    let (Some(&start), Some(&end)) = (BY_LETTER.get(letter), BY_LETTER.get(letter + 1)) else {
        return 0;
    };
    let candidates = WORDS.get(start..end).unwrap_or_default();
    let place = candidates.iter().position(|(known, _)| {
        known.len() == word.len() && known.as_bytes().eq_ignore_ascii_case(word)
    });
    place.map_or(0, |place| 1 << (start + place))
}

/// The words of a text, in the capitals they were written in.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let mut rest = text;
    iter::from_fn(move || {
        let start = rest.iter().position(|byte| is_word_byte(*byte))?;
        let (_, from) = rest.split_at_checked(start)?;
        let end = from.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(from.len());
        let (word, after) = from.split_at_checked(end)?;
        rest = after;
        Some(word)
    })
}

/// For each byte, whether it belongs to a word.
#[expect(clippy::indexing_slicing, reason = "in a constant, a bad index does not compile")]
const WORD_BYTES: [bool; 256] = {
    let mut belongs = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        belongs[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    belongs
};

/// Whether a byte belongs to a word.
fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The text with the two letters beyond ASCII replaced that become ASCII when
/// lower-cased (the Kelvin sign and the dotted capital I); all others end a word.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(['\u{212a}', '\u{130}']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\u{212a}', "k").replace('\u{130}', "i\u{307}"))
}
