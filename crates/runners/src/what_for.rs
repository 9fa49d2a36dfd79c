//! What a tool is used for, in the words of its first argument that is text.
//!
//! Arguments may be as long as files; only the beginning of one of them is kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Characters that are kept.
const MAX_CHARS: usize = 300;

/// The first text among the arguments of a tool; empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WhatFor(pub(crate) String);

impl<'de> Deserialize<'de> for WhatFor {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = from.deserialize_any(Look { is_inside: false })?;
        Ok(Self(found.unwrap_or_default()))
    }
}

/// A text, or anything else that is passed over.
struct Argument(Option<String>);

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Look { is_inside: true }).map(Self)
    }
}

/// Looks for a text: among the arguments, or inside one of them, where only a plain text
/// is taken.
struct Look {
    is_inside: bool,
}

impl<'de> Visitor<'de> for Look {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the arguments of a tool")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.chars().take(MAX_CHARS).collect()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while map.next_key::<IgnoredAny>()?.is_some() {
            if self.is_inside || found.is_some() {
                map.next_value::<IgnoredAny>()?;
            } else {
                found = map.next_value::<Argument>()?.0;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
