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
const COUNTED: [&str; 9] =
    ["item", "items", "no", "number", "part", "parts", "point", "step", "steps"];
/// Openings of an entry that put it after the one before.
const OPENERS: [&str; 6] = ["afterwards", "finally", "last", "lastly", "next", "then"];
/// Letters of a word that can name something, at least.
const TELLING: usize = 4;
/// Letters that make a stem, whatever follows.
const STEM: usize = 6;
/// Letters of an ending at most: "exporting", "tests".
const ENDING: usize = 3;
/// What ends a phrase.
const PHRASE_ENDS: [char; 6] = [',', '.', ';', ':', ')', '\n'];
/// Words of a reference, and of a title, that are looked at; one bit each.
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
        let says = match word.first().map(u8::to_ascii_lowercase) {
            Some(b't') => is("then"),
            Some(b'a') => is("after") || is("afterwards"),
            Some(b'd') => {
                let on = words.peek().is_some_and(|next| next.eq_ignore_ascii_case(b"on"));
                on && (is("depends") || is("depend"))
            }
            Some(_) | None => false,
        };
        if says {
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

/// What the words of the parts say, and the references that would have closed a circle.
///
/// Where there are more parts than subtasks, the last subtask gathers the rest, and
/// waits for all others if one of them has an order word.
pub(super) fn from_words(parts: &[Part<'_>]) -> (Links, Vec<(usize, usize)>) {
    let mut links = Links::default();
    let mut refused = Vec::new();
    let shown = parts.get(..MAX_SUBTASKS).unwrap_or(parts);
    for (index, part) in shown.iter().enumerate() {
        if parts.len() > MAX_SUBTASKS && index + 1 == MAX_SUBTASKS {
            let rest = parts.get(index..).unwrap_or_default();
            let all = if rest.iter().any(is_ordered) { 0..index } else { 0..0 };
            refused
                .extend(all.filter(|other| !links.add(index, *other)).map(|other| (index, other)));
            break;
        }
        let (opener, _) = super::sentences::first_word(part.title);
        let opens = OPENERS.iter().any(|known| known.eq_ignore_ascii_case(opener));
        let previous = index.checked_sub(1).filter(|_| part.follows || opens);
        let texts = part.texts().into_iter().filter(|text| has_order_word(text));
        let named = texts.flat_map(|text| references(text, shown, index));
        for other in previous.into_iter().chain(named) {
            // A part that names itself means itself: "export the rows after all rows are there".
            if other != index && !links.add(index, other) {
                refused.push((index, other));
            }
        }
    }
    (links, refused)
}

fn is_ordered(part: &Part<'_>) -> bool {
    part.follows || part.texts().into_iter().any(has_order_word)
}

/// The parts that "after …" and "depends on …" in the text of a part refer to.
fn references(text: &str, parts: &[Part<'_>], index: usize) -> Vec<usize> {
    let mut referred = Vec::new();
    let mut rest = text;
    while let Some((word, after)) = next_word(rest) {
        rest = after;
        let is = |known: &str| known.eq_ignore_ascii_case(word);
        let next = next_word(rest).map_or("", |(next, _)| next);
        let depends = (is("depends") || is("depend")) && next.eq_ignore_ascii_case("on");
        if !depends && !is("after") {
            continue;
        }
        let previous = index.checked_sub(1);
        let mut numbers = numbers(rest, parts.len());
        if ["that", "this"].iter().any(|back| back.eq_ignore_ascii_case(next)) {
            referred.extend(previous);
        } else if !numbers.is_empty() {
            referred.append(&mut numbers);
        } else if !next.starts_with(|c: char| c.is_ascii_digit()) {
            // "after 2 minutes" names no part; other phrases may name one or more.
            let phrase = rest.split(PHRASE_ENDS).next().unwrap_or_default();
            let named = phrase.split(" and ").take(MAX_COMPARED);
            let before = referred.len();
            referred.extend(named.filter_map(|name| most_alike(parts, index, name)));
            let found = referred.len() > before;
            referred.extend(previous.filter(|_| depends && !found));
        }
    }
    referred
}

/// The next word of a text, and what comes after it.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let text = text.trim_start_matches(|c| !is_word(c));
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(word, _)| !word.is_empty())
}

/// "step 2", "#2", "2 and 3": parts by their number. "2 minutes" is none.
fn numbers(text: &str, count: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut counted = false;
    let mut rest = text;
    for _ in 0..MAX_COMPARED {
        let hash = rest.trim_start().starts_with('#');
        let Some((word, after)) = next_word(rest) else {
            break;
        };
        rest = after;
        let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if let Ok(number) = word.parse::<usize>() {
            let ends = after.trim_start().is_empty() || after.starts_with(PHRASE_ENDS);
            let joins = next_word(after).is_some_and(|(next, _)| next.eq_ignore_ascii_case("and"));
            if !(counted || hash || ends || joins) {
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
    let wanted: Vec<&[u8]> = telling(phrase).collect();
    let before = (0..index).rev();
    let mut best = (0, None);
    for other in before.chain(index + 1..parts.len()) {
        let title = parts.get(other).map_or("", |part| part.title);
        let mut shared = 0_u16;
        for own in words(title.as_bytes()).take(MAX_COMPARED) {
            for (bit, word) in wanted.iter().enumerate() {
                shared |= u16::from(alike(word, own)) << bit;
            }
        }
        let shared = shared.count_ones();
        if shared > best.0 {
            best = (shared, Some(other));
        }
    }
    best.1
}

/// The words that name something.
fn telling(text: &str) -> impl Iterator<Item = &[u8]> {
    let is = |word: &[u8], known: &str| known.as_bytes().eq_ignore_ascii_case(word);
    let names =
        move |word: &&[u8]| word.len() >= TELLING && !EMPTY.iter().any(|known| is(word, known));
    words(text.as_bytes()).take(MAX_COMPARED).filter(names)
}

/// Whether two words have one stem: "export" and "exporting", "migrate" and "migration".
fn alike(one: &[u8], other: &[u8]) -> bool {
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let shared = one.iter().zip(other).take_while(same).count();
    let shorter = one.len().min(other.len());
    let longer = one.len().max(other.len());
    shared >= STEM || (shared >= TELLING && shared == shorter && longer - shorter <= ENDING)
}
