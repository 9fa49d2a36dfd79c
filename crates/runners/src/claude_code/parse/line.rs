//! The lines of Claude Code, as far as they matter. What does not is skipped over, not kept.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use legation_core::returns::Tokens;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::what_for::WhatFor;

/// What every line has.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) subtype: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) session_id: Option<Cow<'a, str>>,
}

/// The first line of a turn.
#[derive(Deserialize)]
pub(super) struct First {
    #[serde(default)]
    pub(super) tools: Vec<String>,
}

/// A message of the agent, or what its tools answered.
#[derive(Deserialize)]
pub(super) struct Spoken<'a> {
    #[serde(borrow)]
    pub(super) message: Message<'a>,
    /// Set where it was not the agent itself who spoke.
    #[serde(default, borrow)]
    pub(super) parent_tool_use_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(default, borrow)]
    pub(super) content: Parts<'a>,
}

/// The parts of a message; one that is plain text has none.
#[derive(Default)]
pub(super) struct Parts<'a>(pub(super) Vec<Part<'a>>);

#[derive(Deserialize)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) text: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(default)]
    pub(super) input: WhatFor,
    #[serde(default, borrow)]
    pub(super) tool_use_id: Cow<'a, str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Parts<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PartsVisitor)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts<'de>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("text or a list of parts")
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Parts::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Parts::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = from.next_element()? {
            parts.push(part);
        }
        Ok(Parts(parts))
    }
}

/// A piece of a message on its way.
#[derive(Deserialize)]
pub(super) struct Streamed<'a> {
    #[serde(borrow)]
    pub(super) event: StreamEvent<'a>,
}

#[derive(Deserialize)]
pub(super) struct StreamEvent<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) message: Option<Begun<'a>>,
    #[serde(default)]
    pub(super) usage: Option<Figures>,
}

#[derive(Deserialize)]
pub(super) struct Begun<'a> {
    #[serde(default, borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) usage: Option<Figures>,
}

/// A tool was not allowed.
#[derive(Deserialize)]
pub(super) struct Refused {
    #[serde(default)]
    pub(super) tool_name: String,
    #[serde(default)]
    pub(super) message: String,
}

/// The provider is asked again.
#[derive(Deserialize)]
pub(super) struct Retry {
    #[serde(default)]
    pub(super) retry_delay_ms: f64,
}

/// The last line of a turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LastLine {
    pub(super) subtype: String,
    pub(super) is_error: bool,
    pub(super) result: Option<String>,
    pub(super) total_cost_usd: Option<f64>,
    pub(super) usage: Figures,
    #[serde(rename = "modelUsage")]
    pub(super) models: BTreeMap<String, ModelFigures>,
    pub(super) terminal_reason: Option<String>,
    pub(super) api_error_status: Option<u16>,
    pub(super) errors: Vec<Value>,
}

/// What a message or a turn has used. Thinking is part of the output, which is how it is
/// counted and priced; figures on the way do not tell it apart.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Figures {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl Figures {
    pub(super) fn tokens(self) -> Tokens {
        Tokens {
            input: self.input_tokens.unwrap_or(0),
            output: self.output_tokens.unwrap_or(0),
            reasoning: 0,
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            cache_write: self.cache_creation_input_tokens.unwrap_or(0),
        }
    }
}

/// What a model has used in the whole conversation.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelFigures {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

impl ModelFigures {
    pub(super) fn tokens(self) -> Tokens {
        Tokens {
            input: self.input_tokens,
            output: self.output_tokens,
            reasoning: 0,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
        }
    }
}
