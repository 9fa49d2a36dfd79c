//! Sentences that ask for something to be done, and the steps within them.
//!
//! "Export the rows, then convert them, finally import them." has three steps;
//! "Add a build, test and deploy pipeline." has one. Sentences that do not open
//! with an action belong to the part before them.

use super::decompose::Part;
use super::verbs::is_action;

/// Words before a verb that say nothing about order.
const FILLERS: [&str; 9] = [
    "and", "also", "first", "firstly", "please", "second", "secondly", "third", "thirdly",
];
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

/// Where a step begins, and whether it comes after the one before it.
#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    /// The step and all that follows it, from its first word on.
    from: &'a str,
    /// The step as far as its own words go.
    own: &'a str,
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
    let next = steps.iter().skip(1).map(|step| step.from.len()).chain([0]);
    let each = steps.iter().zip(next);
    each.map(|(step, next)| {
        let whole = step.from.get(..step.from.len() - next).unwrap_or(step.own);
        Part::new(bare(step.own), bare(whole)).following(step.ordered)
    })
    .collect()
}

/// A step without the blanks, the punctuation and the words that lead over to the next.
fn bare(mut step: &str) -> &str {
    loop {
        step = step.trim_end_matches(|c: char| c.is_whitespace() || ".,;!".contains(c));
        let last = step
            .rsplit(|c: char| !c.is_alphabetic())
            .next()
            .unwrap_or_default();
        let leads_over = |word: &&str| word.eq_ignore_ascii_case(last);
        if last.len() == step.len() || !FILLERS.iter().chain(&ORDERED).any(leads_over) {
            return step;
        }
        step = step.strip_suffix(last).unwrap_or_default();
    }
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
    let mut rest = text;
    let mut ordered = false;
    for _ in 0..=MAX_OPENERS {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let (word, after) = first_word(rest);
        let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if is_action(word) {
            return Some((rest, ordered));
        } else if is(&ORDERED) {
            ordered = true;
            rest = after;
        } else if is(&["after"]) {
            let (that, after) = first_word(after.trim_start());
            ["that", "this", "which"]
                .iter()
                .find(|known| known.eq_ignore_ascii_case(that))?;
            ordered = true;
            rest = after;
        } else if is(&FILLERS) {
            rest = after;
        } else {
            return None;
        }
    }
    None
}

/// The letters at the start of a text, and the rest.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Adds the steps of a sentence; `from` is the text from its start on, `own` the sentence.
fn steps_of<'a>(from: &'a str, own: &'a str, steps: &mut Vec<Step<'a>>) {
    let Some((verb_on, ordered)) = opening(own) else {
        if let Some(step) = conditional(from, own) {
            steps.push(step);
        }
        return;
    };
    let mut cuts = inner_cuts(own);
    cuts.push((own.len() - verb_on.len(), ordered));
    // A step may have been found both behind a comma and behind its order word.
    cuts.sort_unstable();
    cuts.dedup_by_key(|(at, _)| *at);
    let ends = cuts.iter().skip(1).map(|(at, _)| *at).chain([own.len()]);
    for (&(at, ordered), end) in cuts.iter().zip(ends) {
        let from = from.get(at..).unwrap_or_default();
        let own = from.get(..end.saturating_sub(at)).unwrap_or_default();
        steps.push(Step { from, own, ordered });
    }
}

/// "After the tests pass, deploy it." is one step with its condition.
fn conditional<'a>(from: &'a str, own: &'a str) -> Option<Step<'a>> {
    let trimmed = own.trim_start();
    let (word, _) = first_word(trimmed);
    CONDITIONS
        .iter()
        .find(|known| known.eq_ignore_ascii_case(word))?;
    let (_, action) = trimmed.split_once(',')?;
    opening(action)?;
    let from = from.get(own.len() - trimmed.len()..)?;
    Some(Step {
        from,
        own: trimmed,
        ordered: false,
    })
}

/// Where further steps begin within a sentence, and whether each follows the one before.
fn inner_cuts(sentence: &str) -> Vec<(usize, bool)> {
    let segments = || {
        let mut at = 0;
        sentence.split(',').map(move |segment| {
            let start = at;
            at += segment.len() + 1;
            (start, segment)
        })
    };
    let is_enumeration = segments().all(|(_, segment)| {
        opening(segment).is_some_and(|(step, _)| step.split_whitespace().nth(1).is_some())
    });
    let mut cuts = Vec::new();
    for (index, (start, segment)) in segments().enumerate() {
        if index > 0
            && let Some((step, ordered)) = opening(segment)
            && (ordered || is_enumeration)
        {
            cuts.push((start + segment.len() - step.len(), ordered));
        }
        for word in INNER {
            for (at, _) in segment.match_indices(word) {
                let after = segment.get(at + word.len()..).unwrap_or_default();
                let step = opening(after).map(|(step, _)| step.len());
                cuts.extend(step.map(|step| (start + segment.len() - step, true)));
            }
        }
    }
    cuts
}
