//! What can be wrong or odd about settings, in words that name file, key, value and range.

use std::fmt;

use thiserror::Error;

use super::layer::Place;
use super::path::KeyPath;

/// Something wrong: the configuration is refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// Which key; the empty path is the whole file.
    pub key: KeyPath,
    /// What.
    pub fault: Fault,
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        let is_sentence = matches!(self.fault, Fault::Unreadable { .. } | Fault::More { .. });
        match (self.key.is_root(), is_sentence) {
            (true, true) => {}
            (true, false) => f.write_str("the configuration ")?,
            (false, _) => write!(f, "{} ", self.key)?,
        }
        self.fault.fmt(f)
    }
}

/// What is wrong, as the rest of a sentence that begins with the key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The right kind of value, but too small, too large or too long.
    #[error("= {value} is out of range: it takes {takes}")]
    OutOfRange {
        /// What was found.
        value: String,
        /// What the key takes.
        takes: String,
    },
    /// Another kind of value.
    #[error("takes {takes}, not {found}")]
    WrongType {
        /// What was found, and of what kind it is.
        found: String,
        /// What the key takes.
        takes: String,
    },
    /// A word that is none of those accepted.
    #[error("= {value} is not known: it takes {takes}{}", did_you_mean(.nearest.as_deref()))]
    UnknownWord {
        /// What was found.
        value: String,
        /// What the key takes.
        takes: String,
        /// The accepted word that was probably meant.
        nearest: Option<String>,
    },
    /// A part is absent that must be there.
    #[error("needs {field}, which is missing")]
    Missing {
        /// The part.
        field: String,
    },
    /// The source could not be read at all.
    #[error("{reason}")]
    Unreadable {
        /// What the reader said.
        reason: String,
    },
    /// More problems than are worth listing.
    #[error("and {count} more problems like these")]
    More {
        /// How many were left out.
        count: usize,
    },
}

impl Fault {
    /// The value that was refused, where there is one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::OutOfRange { value, .. } | Self::UnknownWord { value, .. } => Some(value),
            Self::WrongType { found, .. } => Some(found),
            Self::Missing { .. } | Self::Unreadable { .. } | Self::More { .. } => None,
        }
    }

    /// What the key takes instead.
    pub fn takes(&self) -> Option<&str> {
        match self {
            Self::OutOfRange { takes, .. }
            | Self::UnknownWord { takes, .. }
            | Self::WrongType { takes, .. } => Some(takes),
            Self::Missing { .. } | Self::Unreadable { .. } | Self::More { .. } => None,
        }
    }
}

/// Something odd: the configuration holds, but the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What.
    pub remark: Remark,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.remark)
    }
}

/// What is odd.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Remark {
    /// A key that does not exist; it is ignored.
    #[error("{key} is not a known key and is ignored{}", did_you_mean(.nearest.as_deref()))]
    UnknownKey {
        /// The key.
        key: KeyPath,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A variable that begins like ours but stands for no key; it is ignored.
    #[error("no setting has this variable, it is ignored{}", did_you_mean(.nearest.as_deref()))]
    UnknownVariable {
        /// The variable that was probably meant.
        nearest: Option<String>,
    },
    /// A task, an agent or a call asked for more than is allowed.
    #[error(transparent)]
    Looser(#[from] Note),
    /// A file that would hold settings was not read.
    #[error("not read: {reason}")]
    NotRead {
        /// Why.
        reason: String,
    },
    /// More oddities than are worth listing.
    #[error("and {count} more keys that are not known")]
    More {
        /// How many were left out.
        count: usize,
    },
}

/// A limit was asked for that is looser than the one that holds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key} = {asked} was asked for, but limits may only be tightened: {holds} holds")]
pub struct Note {
    /// The limit.
    pub key: KeyPath,
    /// What was asked for.
    pub asked: String,
    /// What holds instead.
    pub holds: String,
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}
