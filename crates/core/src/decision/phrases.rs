//! Configured hints: words and phrases that the user added to the built-in ones.
//!
//! Capitals do not matter. A phrase matches where its words follow one another,
//! whatever stands between them, in the title or in the description.

use rustc_hash::{FxHashMap, FxHashSet};

use super::words::{Found, Group, plain, words};
use crate::config::Hints;

/// Words that a phrase may have at most; a longer one never matches, and that is said.
const MAX_PHRASE_WORDS: usize = 16;

/// Configured hints that were found, and those that can never be.
#[derive(Debug, Default)]
pub(super) struct Phrases<'a> {
    found: Vec<(Group, &'a str)>,
    /// Hints without a word in them, or with too many.
    pub(super) unusable: Vec<&'a str>,
}

/// One configured hint, taken apart.
struct Phrase<'a> {
    group: Group,
    hint: &'a str,
    rest: Vec<String>,
    seen: bool,
}

impl<'a> Phrases<'a> {
    /// Looks for the configured hints in the texts; hints that are built in count there.
    pub(super) fn in_texts(texts: &[&str], hints: &'a Hints) -> Self {
        let mut phrases = Self::default();
        let mut by_first = phrases.by_first_word(hints);
        if by_first.is_empty() {
            return phrases;
        }
        let mut lower = Vec::new();
        for text in texts {
            let text = plain(text);
            let mut left = words(text.as_bytes());
            while let Some(word) = left.next() {
                lower.clear();
                lower.extend(word.iter().map(u8::to_ascii_lowercase));
                for phrase in by_first.get_mut(lower.as_slice()).into_iter().flatten() {
                    if !phrase.seen && follows(&phrase.rest, left.clone()) {
                        phrase.seen = true;
                        phrases.found.push((phrase.group, phrase.hint));
                    }
                }
            }
        }
        phrases
    }

    /// The hints of a group that were found, in the order of the text.
    pub(super) fn of(&self, group: Group) -> impl Iterator<Item = &'a str> {
        let of_group = self.found.iter().filter(move |(of, _)| *of == group);
        of_group.map(|(_, hint)| *hint)
    }

    fn by_first_word(&mut self, hints: &'a Hints) -> FxHashMap<Vec<u8>, Vec<Phrase<'a>>> {
        let mut by_first: FxHashMap<Vec<u8>, Vec<Phrase<'a>>> = FxHashMap::default();
        let mut known = FxHashSet::default();
        for (group, hint) in each(hints) {
            let lower = plain(hint).to_lowercase();
            let mut split =
                words(lower.as_bytes()).map(|word| String::from_utf8_lossy(word).into_owned());
            let Some(first) = split.next() else {
                self.unusable.push(hint);
                continue;
            };
            let rest: Vec<String> = split.take(MAX_PHRASE_WORDS).collect();
            if rest.len() == MAX_PHRASE_WORDS {
                self.unusable.push(hint);
                continue;
            }
            let built_in = rest.is_empty() && Found::is_built_in(first.as_bytes(), group);
            if built_in || !known.insert((group as u8, first.clone(), rest.clone())) {
                continue;
            }
            let phrase = Phrase { group, hint, rest, seen: false };
            by_first.entry(first.into_bytes()).or_default().push(phrase);
        }
        by_first
    }
}

/// Every configured hint with its group.
fn each(hints: &Hints) -> impl Iterator<Item = (Group, &str)> {
    [
        (Group::Parallel, &hints.parallel),
        (Group::Sequential, &hints.sequential),
        (Group::Debate, &hints.debate),
        (Group::Review, &hints.review),
        (Group::Ensemble, &hints.ensemble),
    ]
    .into_iter()
    .flat_map(|(group, list)| list.iter().map(move |hint| (group, hint.as_str())))
}

fn follows<'t>(rest: &[String], mut ahead: impl Iterator<Item = &'t [u8]>) -> bool {
    rest.iter()
        .all(|wanted| ahead.next().is_some_and(|word| word.eq_ignore_ascii_case(wanted.as_bytes())))
}
