//! `[delegate:description:hours]` in an agent's output.
//!
//! An entry runs from `[delegate:` to its matching `]` on the same line, and
//! splits at its last colon. In code, in quoted lines, and where it is never
//! closed it is plain text. Reading is one pass: text without entries costs a
//! substring search, and a hostile line no more than any other of its length.
//! Whether an entry fits the bounds is not decided here.

mod blocks;
mod inline;
mod lines;

use std::fmt;

use serde::{Serialize, Serializer};

use self::blocks::Blocks;
use self::lines::Lines;
use crate::text::shown;
use crate::text::span::EFFORT_MAX_HOURS;
use crate::text::story::StoryId;

/// The longest description, in characters.
pub const DESCRIPTION_MAX_CHARS: usize = 500;

/// How much of a rejected entry is repeated, in characters.
pub const REJECTED_MAX_CHARS: usize = 1_000;

const OPENING: &str = "[delegate:";

/// Everything that a text asks to delegate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parsed {
    /// The good entries, in order.
    pub delegations: Vec<Entry>,
    /// The bad ones, in order. They use no number.
    pub rejected: Vec<Rejected>,
}

/// One good entry. Shown, it is the syntax again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What is to be done.
    pub description: String,
    /// How long it would take a person; at least 1.
    pub estimated_hours: u32,
    /// The story whose agent wrote the entry.
    pub parent_story_id: StoryId,
    /// The id that the new part gets.
    pub child_story_id: StoryId,
    /// How deep the new part stands.
    pub depth: u32,
}

/// One bad entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The entry as it stands there, cut after [`REJECTED_MAX_CHARS`].
    pub text: String,
    /// What is wrong with it.
    pub reason: Reason,
    /// The line it stands on, from 1.
    pub line: usize,
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Nothing after the last colon, or no colon.
    #[error("the hours are missing: write [delegate:description:hours]")]
    NoHours,
    /// What stands after the last colon is no whole number.
    #[error("{0} is not a whole number of hours")]
    BadHours(String),
    /// Less than an hour.
    #[error("the hours must be at least 1")]
    ZeroHours,
    /// More than anybody could mean.
    #[error("the hours must be at most {EFFORT_MAX_HOURS}")]
    TooManyHours,
    /// Nothing before the hours.
    #[error("the description is empty")]
    NoDescription,
    /// More than a description may have.
    #[error("the description has {0} characters, at most {DESCRIPTION_MAX_CHARS} are allowed")]
    LongDescription(usize),
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPENING}{}:{}]", self.description, self.estimated_hours)
    }
}

/// Reads the output of an agent that works on `story` at `depth`.
pub fn parse(text: &str, story: &StoryId, depth: u32) -> Parsed {
    let mut parsed = Parsed::default();
    let mut blocks = Blocks::default();
    for (number, line) in Lines::new(text) {
        if blocks.is_prose(line) {
            for range in inline::entries(line) {
                let entry = line.get(range).unwrap_or_default();
                parsed.add(entry, number, (story, depth));
            }
        }
    }
    parsed
}

impl Parsed {
    fn add(&mut self, entry: &str, line: usize, (story, depth): (&StoryId, u32)) {
        let content = entry.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(']'));
        match split(content.unwrap_or_default()) {
            Ok((description, estimated_hours)) => {
                // More than 2^32 entries do not fit into any text that is read.
                let number = u32::try_from(self.delegations.len() + 1).unwrap_or(u32::MAX);
                self.delegations.push(Entry {
                    description: description.to_owned(),
                    estimated_hours,
                    parent_story_id: story.clone(),
                    child_story_id: story.part(number),
                    depth: depth.saturating_add(1),
                });
            }
            Err(reason) => self.rejected.push(Rejected {
                text: shown::clip(entry, REJECTED_MAX_CHARS).into_owned(),
                reason,
                line,
            }),
        }
    }
}

/// Splits what stands between `[delegate:` and `]`.
fn split(content: &str) -> Result<(&str, u32), Reason> {
    let (description, hours) = content.rsplit_once(':').ok_or(Reason::NoHours)?;
    let (description, hours) = (description.trim(), hours.trim());
    if hours.is_empty() {
        return Err(Reason::NoHours);
    }
    if !hours.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Reason::BadHours(shown::quote(hours)));
    }
    // Digits that do not fit are too many, not wrong.
    let hours = hours.parse().unwrap_or(u32::MAX);
    match (hours, description.chars().count()) {
        (0, _) => Err(Reason::ZeroHours),
        (hours, _) if hours > EFFORT_MAX_HOURS => Err(Reason::TooManyHours),
        (_, 0) => Err(Reason::NoDescription),
        (_, chars) if chars > DESCRIPTION_MAX_CHARS => Err(Reason::LongDescription(chars)),
        (hours, _) => Ok((description, hours)),
    }
}
