//! Ids of stories, and of the parts that are split off from them.
//!
//! A part is numbered under its story: `US-007-DEL-001`, and a part of that one
//! `US-007-DEL-001-DEL-002`. So an id alone says whose part it is and how deep
//! it stands. Nothing here knows whether such a story exists.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::text::shown;

/// What a text without a story of its own is numbered under.
pub const DEFAULT_STORY: &str = "TASK";

/// The longest id that is taken from outside.
pub const STORY_ID_MAX_CHARS: usize = 100;

const PART: &str = "-DEL-";

/// The fewest digits a part's number has; it grows past 999.
const NUMBER_WIDTH: usize = 3;

/// Why a text is no story id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is nothing there.
    #[error("a story id has at least one character; write it like US-007")]
    Empty,
    /// Longer than any id that is taken from outside.
    #[error("a story id has at most {STORY_ID_MAX_CHARS} characters, this one has {chars}")]
    TooLong {
        /// How many it has.
        chars: usize,
    },
    /// Something that could not stand in a file name or a branch name.
    #[error(
        "{id} is no story id: {symbol:?} is not one of A-Z, a-z, 0-9, `_`, `-` and `.`; \
         write it like US-007"
    )]
    BadSymbol {
        /// The id, as a message shows it.
        id: String,
        /// The first character that does not fit.
        symbol: char,
    },
}

/// The id of a story or of a part of one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StoryId(Arc<str>);

impl StoryId {
    /// Takes an id from outside.
    pub fn new(id: &str) -> Result<Self, Error> {
        if id.is_empty() {
            return Err(Error::Empty);
        }
        let allowed = |symbol: char| symbol.is_ascii_alphanumeric() || "_-.".contains(symbol);
        if let Some(symbol) = id.chars().find(|&symbol| !allowed(symbol)) {
            return Err(Error::BadSymbol { id: shown::quote(id), symbol });
        }
        if id.len() > STORY_ID_MAX_CHARS {
            return Err(Error::TooLong { chars: id.len() });
        }
        Ok(Self(Arc::from(id)))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the `number`th part of this story; numbers start at 1.
    #[must_use]
    pub fn part(&self, number: u32) -> Self {
        Self(Arc::from(format!("{}{PART}{number:0NUMBER_WIDTH$}", self.0)))
    }

    /// Whose part this is, and which one; `None` for a story of its own.
    pub fn whole(&self) -> Option<(Self, u32)> {
        let (whole, number) = split_part(&self.0)?;
        Some((Self(Arc::from(whole)), number))
    }

    /// How many times a part was split off to get here: 0 for a story of its own.
    pub fn depth(&self) -> u32 {
        let mut depth = 0;
        let mut id = self.as_str();
        while let Some((whole, _)) = split_part(id) {
            id = whole;
            depth += 1;
        }
        depth
    }
}

impl Default for StoryId {
    fn default() -> Self {
        Self(Arc::from(DEFAULT_STORY))
    }
}

impl std::str::FromStr for StoryId {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self, Error> {
        Self::new(id)
    }
}

impl fmt::Display for StoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// Only what [`StoryId::part`] could have written counts as a part: a story
/// may well be called `FIX-DEL-key` or `X-DEL-0001` by its owner.
fn split_part(id: &str) -> Option<(&str, u32)> {
    let (whole, digits) = id.rsplit_once(PART)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let padded = digits.len() > NUMBER_WIDTH && digits.starts_with('0');
    if whole.is_empty() || !plain || padded || digits.len() < NUMBER_WIDTH {
        return None;
    }
    let number = digits.parse().ok().filter(|&number| number > 0)?;
    Some((whole, number))
}
