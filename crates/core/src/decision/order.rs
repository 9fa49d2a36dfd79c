//! Which parts of a task wait for which others.
//!
//! Users say so in words: "then …", "after the tests pass", "depends on step 2".
//! Where nothing is said, parts are independent. A dependency that would close a
//! circle is left out, and that is said.

use super::decompose::{MAX_SUBTASKS, Part};
use super::words::{plain, words};

/// Words that are in every sentence and name nothing.
const EMPTY: [&str; 22] = [
    "been",
    "complete",
    "completed",
    "done",
    "each",
    "every",
    "everything",
    "finished",
    "from",
    "have",
    "into",
    "item",
    "part",
    "point",
    "step",
    "steps",
    "task",
    "that",
    "them",
    "they",
    "this",
    "with",
];
/// Words before a number that refers to a part.
const COUNTED: [&str; 9] = [
    "item", "items", "no", "number", "part", "parts", "point", "step", "steps",
];
/// Openings of an entry that put it after the one before.
const OPENERS: [&str; 6] = ["afterwards", "finally", "last", "lastly", "next", "then"];
/// Words of a reference, and of a title, that are looked at.
const MAX_COMPARED: usize = 16;

/// For each part the set of those it waits for, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    before: [u8; MAX_SUBTASKS],
}

impl Links {
    /// Makes one part wait for another; refuses itself and circles.
    pub(super) fn add(&mut self, part: usize, other: usize) -> bool {
        if part == other || self.reaches(other, part) {
            return false;
        }
        if let Some(before) = self.before.get_mut(part) {
            *before |= 1 << other;
        }
        true
    }

    /// The parts that a part waits for, in order.
    pub(super) fn of(&self, part: usize) -> impl Iterator<Item = usize> {
        let before = self.before.get(part).copied().unwrap_or(0);
        (0..MAX_SUBTASKS).filter(move |other| before >> other & 1 == 1)
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        from == to || self.of(from).any(|next| self.reaches(next, to))
    }
}

/// Whether a text says "then", "after" or "depends on".
pub(super) fn has_order_word(text: &str) -> bool {
    let text = plain(text);
    let mut words = words(text.as_bytes()).peekable();
    while let Some(word) = words.next() {
        let is = |known: &str| known.as_bytes().eq_ignore_ascii_case(word);
        if is("then") || is("after") || is("afterwards") {
            return true;
        }
        let on = |next: &&[u8]| next.eq_ignore_ascii_case(b"on");
        if (is("depends") || is("depend")) && words.peek().is_some_and(on) {
            return true;
        }
    }
    false
}

/// One after another, in the order of the list.
pub(super) fn chain(count: usize) -> Links {
    let mut links = Links::default();
    for part in 1..count {
        links.add(part, part - 1);
    }
    links
}

/// What the words of the parts say. Where there are more parts than subtasks, the
/// last subtask gathers the rest, and waits for all others if one of them has an order word.
pub(super) fn from_words(parts: &[Part<'_>]) -> Links {
    let mut links = Links::default();
    let gathers = parts.len() > MAX_SUBTASKS;
    let shown = parts.get(..MAX_SUBTASKS).unwrap_or(parts);
    for (index, part) in shown.iter().enumerate() {
        if gathers && index + 1 == MAX_SUBTASKS {
            let rest = parts.get(index..).unwrap_or_default();
            let ordered =
                |part: &Part<'_>| part.follows || part.texts().into_iter().any(has_order_word);
            if rest.iter().any(ordered) {
                (0..index).for_each(|other| {
                    links.add(index, other);
                });
            }
            break;
        }
        let (opener, _) = super::sentences::first_word(part.title);
        let opens = OPENERS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(opener));
        if index > 0 && (part.follows || opens) {
            links.add(index, index - 1);
        }
        for other in part
            .texts()
            .into_iter()
            .flat_map(|text| references(text, shown, index))
        {
            links.add(index, other);
        }
    }
    links
}

/// The parts that "after …" and "depends on …" in the text of a part refer to.
fn references(text: &str, parts: &[Part<'_>], index: usize) -> Vec<usize> {
    let mut referred = Vec::new();
    let mut rest = text;
    while let Some((word, after)) = next_word(rest) {
        rest = after;
        let is = |known: &str| known.eq_ignore_ascii_case(word);
        let depends = (is("depends") || is("depend"))
            && next_word(rest).is_some_and(|(on, _)| on.eq_ignore_ascii_case("on"));
        if !depends && !is("after") {
            continue;
        }
        let phrase = rest
            .split([',', '.', ';', ':', ')', '\n'])
            .next()
            .unwrap_or_default();
        let previous = || index.checked_sub(1);
        let back = next_word(phrase).is_some_and(|(word, _)| {
            ["that", "this"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(word))
        });
        let mut numbers = numbers(phrase, parts.len());
        if back {
            referred.extend(previous());
        } else if numbers.is_empty() {
            let named = most_alike(parts, index, phrase);
            referred.extend(named.or_else(|| previous().filter(|_| depends)));
        } else {
            referred.append(&mut numbers);
        }
    }
    referred
}

/// The next word of a text, and what comes after it.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let text = text.trim_start_matches(|c| !is_word(c));
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    text.split_at_checked(end)
        .filter(|(word, _)| !word.is_empty())
}

/// "step 2", "#2", "2 and 3": parts by their number. "2 minutes" is none.
fn numbers(phrase: &str, count: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut counted = false;
    let mut rest = phrase;
    for _ in 0..MAX_COMPARED {
        let hash = rest.trim_start().starts_with('#');
        let Some((word, after)) = next_word(rest) else {
            break;
        };
        rest = after;
        let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if let Ok(number) = word.parse::<usize>() {
            let joins = |(next, _): (&str, &str)| next.eq_ignore_ascii_case("and");
            let alone = next_word(rest).is_none_or(joins);
            if !(counted || hash || alone) {
                break;
            }
            counted = true;
            found.extend(number.checked_sub(1).filter(|index| *index < count));
        } else if is(&COUNTED) {
            counted = true;
        } else if !is(&["on", "the", "and", "both"]) {
            break;
        }
    }
    found
}

/// The other part whose title shares most words with a phrase, the nearest before first.
fn most_alike(parts: &[Part<'_>], index: usize, phrase: &str) -> Option<usize> {
    let before = (0..index).rev();
    let mut best = (0, None);
    for other in before.chain(index + 1..parts.len()) {
        let title = parts.get(other).map_or("", |part| part.title);
        let shared = telling(phrase).filter(|word| telling(title).any(|own| alike(word, own)));
        let shared = shared.count();
        if shared > best.0 {
            best = (shared, Some(other));
        }
    }
    best.1
}

/// The words that name something.
fn telling(text: &str) -> impl Iterator<Item = &[u8]> {
    let names = |word: &&[u8]| {
        word.len() >= 4
            && !EMPTY
                .iter()
                .any(|known| known.as_bytes().eq_ignore_ascii_case(word))
    };
    words(text.as_bytes()).take(MAX_COMPARED).filter(names)
}

/// Whether two words have one stem: "export" and "exporting", "migrate" and "migration".
fn alike(one: &[u8], other: &[u8]) -> bool {
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let shared = one.iter().zip(other).take_while(same).count();
    let shorter = one.len().min(other.len());
    let longer = one.len().max(other.len());
    shared >= 6 || (shared == shorter && longer - shorter <= 3)
}
