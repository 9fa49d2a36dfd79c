//! Names of keys: `limits.maxDepth`, `prices."gpt-5.1".input`.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use thiserror::Error;

/// Where in the configuration a value stands. The empty path is the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<String>);

/// Why a text is not the name of a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadPath {
    /// Two dots in a row, one at an end, or nothing at all.
    #[error("a part between the dots is empty")]
    EmptyPart,
    /// A quote that is opened and never closed, or that stands inside a part.
    #[error("the quotes do not match")]
    Quotes,
}

impl KeyPath {
    /// Reads a dotted name; a part with dots in it stands in double quotes.
    ///
    /// A leading `delegation.` is dropped, because that is how the same key is
    /// called in files that other programs share.
    pub fn parse(text: &str) -> Result<Self, BadPath> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        loop {
            let (part, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or(BadPath::Quotes)?,
                None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
            };
            if part.is_empty() {
                return Err(BadPath::EmptyPart);
            }
            parts.push(part.to_owned());
            rest = match after.strip_prefix('.') {
                Some(rest) => rest,
                None if after.is_empty() => break,
                None => return Err(BadPath::Quotes),
            };
        }
        if parts.len() > 1 && parts.first().is_some_and(|part| part == "delegation") {
            parts.remove(0);
        }
        Ok(Self(parts))
    }

    /// The path with these parts.
    pub fn of<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }

    /// The path one part further.
    #[must_use]
    pub fn child(&self, part: &str) -> Self {
        let mut parts = Vec::with_capacity(self.0.len() + 1);
        parts.extend_from_slice(&self.0);
        parts.push(part.to_owned());
        Self(parts)
    }

    /// The path one part back; none above the whole.
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, above)| Self(above.to_vec()))
    }

    /// The parts, outermost first.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether this is the path of the whole configuration.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this path is `other` or lies below it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            if part.chars().all(is_plain) && !part.is_empty() {
                f.write_str(part)?;
            } else {
                write!(f, "{part:?}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for KeyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The value that stands at a path.
pub fn get<'a>(value: &'a Value, path: &KeyPath) -> Option<&'a Value> {
    path.parts().try_fold(value, |value, part| value.get(part))
}

/// Puts a value at a path; whatever stood in the way gives way.
pub fn put(value: &mut Value, path: &KeyPath, leaf: Value) {
    let mut place = value;
    for part in path.parts() {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(section) = place else {
            return;
        };
        place = section.entry(part.to_owned()).or_insert(Value::Null);
    }
    *place = leaf;
}
