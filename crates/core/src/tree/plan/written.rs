//! How a plan is read: by its names, and with times in either of their forms.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Plan, PlanSubtask};

/// What is written as an object, and only so: a list in its place would be taken for its
/// values in order.
trait Written<'de>: Sized {
    /// What it is called where it is something else.
    const WHAT: &'static str;

    /// Reads it from its names and values.
    fn read<A: MapAccess<'de>>(map: MapAccessDeserializer<A>) -> Result<Self, A::Error>;
}

impl<'de> Written<'de> for Plan {
    const WHAT: &'static str = "a plan as an object with `subtasks`";

    fn read<A: MapAccess<'de>>(map: MapAccessDeserializer<A>) -> Result<Self, A::Error> {
        Self::deserialize(map)
    }
}

impl<'de> Written<'de> for PlanSubtask {
    const WHAT: &'static str = "a subtask as an object with `id`";

    fn read<A: MapAccess<'de>>(map: MapAccessDeserializer<A>) -> Result<Self, A::Error> {
        Self::deserialize(map)
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Written<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(MapAccessDeserializer::new(map))
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object(PhantomData))
    }
}

impl<'de> Deserialize<'de> for PlanSubtask {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object(PhantomData))
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl Serialize for PlanSubtask {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

/// A span of time, in words or as a number of seconds; it is kept in words.
pub(super) fn span<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    from.deserialize_option(Span)
}

/// Reads a span of time, and says how one is written where it is something else.
struct Span;

impl<'de> Visitor<'de> for Span {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`timeout` in whole seconds from 1, or in quotes such as \"30m\" or \"90s\"")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Self::Value, E> {
        match seconds {
            0 => Err(E::invalid_value(Unexpected::Unsigned(0), &self)),
            seconds => Ok(Some(format!("{seconds}s"))),
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }
}
