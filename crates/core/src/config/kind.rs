//! What a key takes: its type and its range, and how a value is held against them.

use std::fmt;

use serde_json::{Number, Value, json};

use super::problem::Fault;
use super::value::{described, quoted};
use crate::text::nearest::nearest;

/// A list holds at most this many items.
pub const MAX_ITEMS: usize = 1_000;
/// A text holds at most this many characters.
pub const MAX_CHARS: usize = 4_096;

/// The type and range of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number.
    Whole {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A number, possibly with a fraction.
    Number {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// A text that is not empty.
    Text,
    /// A list of such texts.
    List,
    /// A list of named grants.
    Grants,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("true or false"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Text => write!(f, "a text of 1 to {MAX_CHARS} characters"),
            Self::List => write!(f, "a list of at most {MAX_ITEMS} texts"),
            Self::Grants => write!(f, "a list of at most {MAX_ITEMS} grants"),
        }
    }
}

impl Kind {
    /// Holds a value against type and range; answers with it in its one normal form.
    ///
    /// Of a list only its own type and length are looked at, not its items.
    pub fn check(&self, value: &Value) -> Result<Value, Fault> {
        match (self, value) {
            (Self::Flag, Value::Bool(_)) => Ok(value.clone()),
            (Self::Word(words), Value::String(word)) => known_word(self, words, word),
            (Self::Whole { min, max }, Value::Number(number)) => {
                let Some(whole) = whole(number) else {
                    return Err(self.wrong_type(value));
                };
                let in_range =
                    u64::try_from(whole).ok().filter(|whole| (*min..=*max).contains(whole));
                in_range.map_or_else(|| Err(self.out_of_range(value)), |whole| Ok(json!(whole)))
            }
            (Self::Number { min, max }, Value::Number(number)) => {
                let in_range = number.as_f64().filter(|it| (*min..=*max).contains(it));
                in_range.map_or_else(|| Err(self.out_of_range(value)), |_| Ok(value.clone()))
            }
            (Self::Text, Value::String(text)) => {
                // One character more than allowed is enough to know.
                let chars = text.chars().take(MAX_CHARS + 1).count();
                if (1..=MAX_CHARS).contains(&chars) {
                    Ok(value.clone())
                } else {
                    Err(self.out_of_range(value))
                }
            }
            (Self::List | Self::Grants, Value::Array(items)) if items.len() <= MAX_ITEMS => {
                Ok(value.clone())
            }
            (Self::List | Self::Grants, Value::Array(_)) => Err(self.out_of_range(value)),
            (
                Self::Flag
                | Self::Word(_)
                | Self::Whole { .. }
                | Self::Number { .. }
                | Self::Text
                | Self::List
                | Self::Grants,
                _,
            ) => Err(self.wrong_type(value)),
        }
    }

    /// Reads the text of an environment variable as this kind of value.
    ///
    /// What cannot be read stays a text, so that the check names it.
    pub fn read(&self, text: &str) -> Value {
        let text = text.trim();
        let value = match self {
            Self::Flag => flag(text),
            Self::Whole { .. } | Self::Number { .. } => number(text),
            Self::List if !text.starts_with('[') => Some(
                text.split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                    .map(Value::from)
                    .collect(),
            ),
            Self::List | Self::Grants => serde_json::from_str(text).ok(),
            Self::Word(_) | Self::Text => None,
        };
        value.unwrap_or_else(|| Value::from(text))
    }

    fn out_of_range(&self, value: &Value) -> Fault {
        Fault::OutOfRange { value: quoted(value), takes: self.to_string() }
    }

    fn wrong_type(&self, value: &Value) -> Fault {
        Fault::WrongType { found: described(value), takes: self.to_string() }
    }
}

fn known_word(kind: &Kind, words: &[&'static str], word: &str) -> Result<Value, Fault> {
    if words.contains(&word) {
        return Ok(Value::from(word));
    }
    Err(Fault::UnknownWord {
        value: quoted(&Value::from(word)),
        takes: kind.to_string(),
        nearest: nearest(word, words.iter().copied()).map(str::to_owned),
    })
}

/// The number if it has no fraction. One beyond all ranges may lose its last digits on the way.
fn whole(number: &Number) -> Option<i128> {
    let exact = number.as_i128();
    exact.or_else(|| number.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as i128))
}

fn flag(text: &str) -> Option<Value> {
    let is_any = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_any(["true", "1", "yes", "on"]) {
        Some(Value::Bool(true))
    } else {
        is_any(["false", "0", "no", "off"]).then_some(Value::Bool(false))
    }
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<u64>().map(Value::from);
    let whole = whole.or_else(|_| text.parse::<i64>().map(Value::from));
    let number = whole.ok();
    number.or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}
