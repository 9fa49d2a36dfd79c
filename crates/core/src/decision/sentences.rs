//! Sentences that ask for something to be done, and the steps within them.
//!
//! "Export the rows, then convert them, finally import them." has three steps;
//! "Add a build, test and deploy pipeline." has one. Sentences that do not open
//! with an action belong to the part before them.

use super::decompose::Part;
use super::verbs::is_action;

/// Words before a verb that say nothing about order.
const FILLERS: [&str; 9] =
    ["and", "also", "first", "firstly", "please", "second", "secondly", "third", "thirdly"];
/// Words before a verb that put it after what was said before.
const ORDERED: [&str; 6] = ["afterwards", "finally", "last", "lastly", "next", "then"];
/// Words that open a step in the middle of a sentence.
const INNER: [&str; 3] = [" then ", " finally ", " afterwards "];
/// Words that open a condition; the action comes after the comma.
const CONDITIONS: [&str; 4] = ["after", "before", "once", "when"];
/// Fillers and order words that may stand before a verb at most.
const MAX_OPENERS: usize = 4;
/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 6] = ["e.g", "i.e", "vs", "cf", "etc", "approx"];

/// One step, as parts of the text it was found in.
#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    /// The text from the words on that lead over to the step.
    lead: &'a str,
    /// The text from the step's own first word on.
    from: &'a str,
    /// The step as far as its sentence goes.
    own: &'a str,
    /// Whether it comes after the step before it.
    ordered: bool,
}

/// Where a step begins within its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    /// Its own first word.
    at: usize,
    /// The words that lead over to it.
    lead: usize,
    ordered: bool,
}

/// The parts that the sentences of a text ask for.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (start, end) in sentences(text) {
        let from = text.get(start..).unwrap_or_default();
        let own = from.get(..end - start).unwrap_or_default();
        steps_of(from, own, &mut steps);
    }
    let next = steps.iter().skip(1).map(|step| step.lead.len()).chain([0]);
    let each = steps.iter().zip(next);
    each.map(|(step, next)| {
        let whole = step.from.get(..step.from.len() - next).unwrap_or(step.own);
        Part::new(bare(step.own), bare(whole)).following(step.ordered)
    })
    .collect()
}

/// A step without the blanks, the punctuation and the "and" before the next.
fn bare(step: &str) -> &str {
    let trim = |text: &'_ str| {
        text.trim_end_matches(|c: char| c.is_whitespace() || ".,;!".contains(c)).len()
    };
    let step = step.get(..trim(step)).unwrap_or_default();
    let before = step.strip_suffix("and").filter(|before| before.ends_with([' ', ',']));
    before.map_or(step, |before| before.get(..trim(before)).unwrap_or_default())
}

/// Where each sentence begins and ends.
fn sentences(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    let ends = text.bytes().enumerate().filter_map(move |(at, byte)| {
        let ends = match byte {
            b'.' | b'!' | b'?' => stops(text, at),
            b';' => true,
            b'\n' => starts_anew(text, at + 1),
            _ => false,
        };
        ends.then_some(at + 1)
    });
    ends.chain([text.len()]).map(move |end| {
        let sentence = (start, end);
        start = end;
        sentence
    })
}

/// Whether the full stop at this place ends a sentence: "README.md" and "e.g." have none.
fn stops(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let next = after.chars().nth(1);
    next.is_none_or(|c| c.is_whitespace() || ")\"'".contains(c))
        && !ABBREVIATIONS.iter().any(|short| before.ends_with(short))
}

/// Whether the line that begins here is blank or opens with an action. Other
/// lines go on with the sentence before them: prose is wrapped anywhere.
fn starts_anew(text: &str, at: usize) -> bool {
    let line = text.get(at..).unwrap_or_default();
    let line = line.split('\n').next().unwrap_or_default().trim_start();
    line.is_empty() || (line.starts_with(char::is_uppercase) && opening(line).is_some())
}

/// A text from its verb on, if an action opens it, and whether an order word came before.
fn opening(text: &str) -> Option<(&str, bool)> {
    let mut rest = text.trim_start();
    let mut ordered = false;
    for _ in 0..=MAX_OPENERS {
        // Quotes, brackets and stars before the verb are part of what is said.
        let bare = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let (word, after) = first_word(bare);
        let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if is_action(word) {
            return Some((rest, ordered));
        } else if is(&ORDERED) {
            ordered = true;
            rest = after;
        } else if is(&["after"]) {
            let (that, after) = first_word(after.trim_start());
            let back = ["that", "this", "which"];
            back.iter().find(|known| known.eq_ignore_ascii_case(that))?;
            ordered = true;
            rest = after;
        } else if is(&FILLERS) {
            rest = after;
        } else {
            return None;
        }
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",:".contains(c));
    }
    None
}

/// The letters at the start of a text, and the rest.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Adds the steps of a sentence; `from` is the text from its start on, `own` the sentence.
fn steps_of<'a>(from: &'a str, own: &'a str, steps: &mut Vec<Step<'a>>) {
    let Some((verb_on, ordered)) = opening(own) else {
        steps.extend(conditional(from, own));
        return;
    };
    let mut cuts = inner_cuts(own);
    cuts.push(Cut { at: own.len() - verb_on.len(), lead: 0, ordered });
    // A step may have been found both behind a comma and behind its order word.
    cuts.sort_unstable();
    cuts.dedup_by_key(|cut| cut.at);
    let ends = cuts.iter().skip(1).map(|cut| cut.lead).chain([own.len()]);
    for (cut, end) in cuts.iter().zip(ends) {
        steps.push(Step {
            lead: from.get(cut.lead..).unwrap_or_default(),
            from: from.get(cut.at..).unwrap_or_default(),
            own: own.get(cut.at..end).unwrap_or_default(),
            ordered: cut.ordered,
        });
    }
}

/// "After the tests pass, deploy it." is one step with its condition.
fn conditional<'a>(from: &'a str, own: &'a str) -> Option<Step<'a>> {
    let trimmed = own.trim_start();
    let (word, _) = first_word(trimmed);
    CONDITIONS.iter().find(|known| known.eq_ignore_ascii_case(word))?;
    let (_, action) = trimmed.split_once(',')?;
    opening(action)?;
    let from = from.get(own.len() - trimmed.len()..)?;
    Some(Step { lead: from, from, own: trimmed, ordered: false })
}

/// What stands between two commas.
struct Segment<'a> {
    start: usize,
    text: &'a str,
    opening: Option<(&'a str, bool)>,
}

/// Where further steps begin within a sentence.
fn inner_cuts(sentence: &str) -> Vec<Cut> {
    let mut next = 0;
    let segments = sentence.split(',').map(|text| {
        let start = next;
        next += text.len() + 1;
        let opening = opening(text);
        Segment { start, text, opening }
    });
    let segments: Vec<Segment<'_>> = segments.collect();
    let is_enumeration = segments.iter().all(|segment| {
        let words = segment.opening.map(|(step, _)| step.split_whitespace());
        words.is_some_and(|mut words| words.nth(1).is_some())
    });
    let mut cuts = Vec::new();
    for (index, segment) in segments.into_iter().enumerate() {
        let Segment { start, text, .. } = segment;
        let end = start + text.len();
        if index > 0
            && let Some((step, ordered)) = segment.opening
            && (ordered || is_enumeration)
        {
            cuts.push(Cut { at: end - step.len(), lead: start, ordered });
        }
        for place in memchr::memchr_iter(b' ', text.as_bytes()) {
            let rest = text.get(place..).unwrap_or_default();
            // Most blanks are ruled out by the letter behind them.
            if !matches!(rest.as_bytes(), [_, b't' | b'f' | b'a', ..]) {
                continue;
            }
            let after = INNER.iter().find_map(|word| rest.strip_prefix(word));
            let step = after.and_then(opening).map(|(step, _)| end - step.len());
            cuts.extend(step.map(|at| Cut { at, lead: start + place, ordered: true }));
        }
    }
    cuts
}
