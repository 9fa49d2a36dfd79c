//! Which agent gets a subtask that names none.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{GENERAL_PURPOSE, Roster, may_delegate};
use crate::ids::AgentId;

/// Words a description must share with the subtask at least.
const MIN_SHARED_WORDS: usize = 2;

/// Words that only hold others together: articles, prepositions, pronouns, conjunctions,
/// auxiliary verbs, and what an apostrophe leaves of them. In order, so that they are found.
const EMPTY_WORDS: [&str; 165] = [
    "a",
    "about",
    "above",
    "across",
    "after",
    "against",
    "all",
    "along",
    "although",
    "am",
    "among",
    "an",
    "and",
    "another",
    "any",
    "anybody",
    "anyone",
    "anything",
    "are",
    "around",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "beside",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "down",
    "during",
    "each",
    "either",
    "every",
    "everybody",
    "everyone",
    "everything",
    "for",
    "from",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "ll",
    "m",
    "may",
    "me",
    "might",
    "mine",
    "must",
    "my",
    "myself",
    "neither",
    "no",
    "nobody",
    "none",
    "nor",
    "not",
    "nothing",
    "of",
    "off",
    "on",
    "onto",
    "or",
    "other",
    "others",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "re",
    "s",
    "shall",
    "she",
    "should",
    "since",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "though",
    "through",
    "throughout",
    "till",
    "to",
    "toward",
    "towards",
    "under",
    "until",
    "unto",
    "up",
    "upon",
    "us",
    "ve",
    "was",
    "we",
    "were",
    "what",
    "whatever",
    "when",
    "whenever",
    "where",
    "wherever",
    "whether",
    "which",
    "whichever",
    "while",
    "who",
    "whoever",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "yet",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// What is known about a subtask when an agent is chosen for it.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// Title and description of the subtask.
    pub text: &'a str,
    /// The task's `agentHints`: words that choose an agent, by agent.
    pub hints: &'a BTreeMap<String, Vec<String>>,
    /// The agents that the call names, to be used in turn.
    pub agents: &'a [AgentId],
    /// Which subtask of the batch this is, counted from 0.
    pub index: usize,
    /// The agents from the first below the root down to who delegates; none for a root.
    pub path: &'a [AgentId],
}

/// The agent that was chosen and why, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The agent.
    pub agent: AgentId,
    /// Why this one.
    pub reason: String,
}

/// Chooses an agent: by hint, by the call's list in turn, by shared words, or nobody
/// in particular. Whether the choice may be delegated to is asked afterwards.
pub fn choose(roster: &Roster, wish: &Wish<'_>) -> Choice {
    let words = words(wish.text);
    hinted(wish, &words)
        .or_else(|| in_turn(wish))
        .or_else(|| described(roster, wish, &words))
        .unwrap_or_else(|| Choice {
            agent: AgentId::new(GENERAL_PURPOSE),
            reason: "no hint, no list and no description fits".to_owned(),
        })
}

/// Runs of a–z, 0–9 and `_`, in lower case.
fn words(text: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let text = text.to_lowercase();
    let words = text.split(|letter| !is_word(letter));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The hint that stands first in the text; of two at the same place the longer one.
fn hinted(wish: &Wish<'_>, text: &[String]) -> Option<Choice> {
    let mut first: Option<(usize, usize, &str, &str)> = None;
    for (agent, hints) in wish.hints {
        for hint in hints {
            let phrase = words(hint);
            if phrase.is_empty() {
                continue;
            }
            let Some(place) = text.windows(phrase.len()).position(|seen| seen == phrase) else {
                continue;
            };
            let earlier = first.is_none_or(|(least, length, ..)| {
                place < least || (place == least && phrase.len() > length)
            });
            if earlier {
                first = Some((place, phrase.len(), agent, hint));
            }
        }
    }
    first.map(|(_, _, agent, hint)| Choice {
        agent: AgentId::new(agent),
        reason: format!("the hint `{hint}`"),
    })
}

fn in_turn(wish: &Wish<'_>) -> Option<Choice> {
    let place = wish.index.checked_rem(wish.agents.len())?;
    Some(Choice {
        agent: wish.agents.get(place)?.clone(),
        reason: format!("number {} of the agents given", place + 1),
    })
}

/// The agent whose description shares the most words; of equals the first by id.
fn described(roster: &Roster, wish: &Wish<'_>, text: &[String]) -> Option<Choice> {
    let text: BTreeSet<&str> = text.iter().map(String::as_str).filter(says_something).collect();
    let mut best: Option<(&AgentId, Vec<String>)> = None;
    for (id, definition) in roster.iter() {
        let described: BTreeSet<String> = words(&definition.description).into_iter().collect();
        let described = described.into_iter();
        let shared: Vec<String> = described.filter(|word| text.contains(word.as_str())).collect();
        let least = best.as_ref().map_or(MIN_SHARED_WORDS, |(_, best)| best.len() + 1);
        // Asking who may be called is dearer than counting words, so it comes last.
        if shared.len() >= least && may_delegate(roster, wish.path, id).is_ok() {
            best = Some((id, shared));
        }
    }
    best.map(|(id, shared)| Choice {
        agent: id.clone(),
        reason: format!("its description shares {}", listed(&shared)),
    })
}

fn says_something(word: &&str) -> bool {
    EMPTY_WORDS.binary_search(word).is_err()
}

/// Words as a sentence shows them, the first few of many.
fn listed(words: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = words.iter().take(SHOWN).map(|word| format!("`{word}`")).collect();
    match words.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        Some(_) | None => shown.join(", "),
    }
}
