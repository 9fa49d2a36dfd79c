//! YAML into nodes, within a budget that no honest frontmatter comes near.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Options, Spanned};

use super::node::{Entry, Node, Shape};

/// Values one frontmatter may have at most.
const MAX_NODES: usize = 5_000;

/// How deep its values may lie in each other.
const MAX_DEPTH: usize = 32;

/// References to earlier values (`*name`) it may have at most.
const MAX_ALIASES: usize = 64;

/// What is wrong, and on which line of the text that was parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: Option<u32>,
    pub(super) message: String,
}

/// Parses one document. Nothing at all is `Shape::Null`.
pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    let found = serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options());
    match found {
        Ok(value) => Ok(node(value, text)),
        Err(error) => {
            let line = error.location();
            let line = line.and_then(|place| u32::try_from(place.line()).ok());
            Err(Problem {
                line: line.filter(|line| *line > 0),
                message: message(error.without_snippet()),
            })
        }
    }
}

/// The parser's complaint, in words for the author of the file.
fn message(error: &Error) -> String {
    if let Error::AliasError { error, .. } = error {
        return message(error);
    }
    if let Error::DuplicateMappingKey { key, .. } = error {
        return format!("the key `{}` stands twice", key.as_deref().unwrap_or("?"));
    }
    if let Error::NonFiniteFloat { value, .. } = error {
        return format!("the number `{value}` is not finite");
    }
    let budget = matches!(
        error,
        Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. }
    );
    if budget {
        return format!(
            "too much of it: at most {MAX_NODES} values, {MAX_DEPTH} deep, {MAX_ALIASES} aliases, one document"
        );
    }
    let message = error.to_string();
    // The place is told apart from the message, as for every other finding.
    let message = message.split(" at line ").next().unwrap_or_default();
    message.lines().next().unwrap_or_default().to_owned()
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 1,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_recorded_anchor_events: 4 * MAX_NODES,
            max_merge_keys: MAX_ALIASES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 4 * MAX_NODES,
            max_replay_stack_depth: MAX_DEPTH,
        },
        strict_booleans: true,
        with_snippet: false,
    }
}

/// A value as the parser hands it over.
enum Raw {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn node(value: Spanned<Raw>, text: &str) -> Node {
    let written = {
        let span = value.defined.span();
        let range = span.byte_offset().zip(span.byte_len()).and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            text.get(start..start.checked_add(usize::try_from(length).ok()?)?)
        });
        range.map(str::trim)
    };
    let shape = match value.value {
        Raw::Null => Shape::Null,
        Raw::Bool(value) => Shape::Bool(value),
        Raw::Number(number) => {
            let same =
                |text: &&str| text.parse().is_ok_and(|read: f64| Some(read) == number.as_f64());
            let written = written.filter(same).map_or_else(|| number.to_string(), str::to_owned);
            Shape::Number(number, written)
        }
        Raw::Text(text) => Shape::Text(text),
        Raw::List(items) => Shape::List(items.into_iter().map(|item| node(item, text)).collect()),
        Raw::Map(entries) => {
            let entry = |(key, value): (Spanned<String>, Spanned<Raw>)| Entry {
                line: line(key.referenced),
                key: key.value,
                value: node(value, text),
            };
            Shape::Map(entries.into_iter().map(entry).collect())
        }
    };
    Node { line: line(value.referenced), shape }
}

fn line(place: serde_saphyr::Location) -> u32 {
    u32::try_from(place.line()).unwrap_or(u32::MAX)
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Raw, E> {
        let number = serde_json::Number::from_f64(value);
        number.map(Raw::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            entries.push((key, map.next_value()?));
            if entries.len() > MAX_NODES {
                return Err(A::Error::custom("too many keys"));
            }
        }
        Ok(Raw::Map(entries))
    }
}
