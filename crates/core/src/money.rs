//! Money as a whole number of billionths of a dollar, so that sums are exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NANOS_PER_USD: f64 = 1e9;

/// A non-negative amount of US dollars. On the wire it is a JSON number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u64);

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than any bound.
    pub const MAX: Self = Self(u64::MAX);

    /// An amount given in billionths of a dollar.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// An amount given in dollars; `None` for a negative, infinite or absurd one.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nanos = (dollars * NANOS_PER_USD).round();
        // 2^53 billionths are about nine million dollars; above it a float is no longer exact.
        (0.0..=9.0e15).contains(&nanos).then_some(Self(nanos as u64))
    }

    /// The amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / NANOS_PER_USD
    }

    /// The amount in billionths of a dollar.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The difference, or nothing if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many times the amount.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// An equal share for each of `parts`, rounded down.
    #[must_use]
    pub fn share(self, parts: u64) -> Self {
        Self(self.0 / parts.max(1))
    }
}

impl Add for Usd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Usd {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.2}", self.dollars())
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::from_dollars(dollars).ok_or_else(|| {
            serde::de::Error::custom(format!("{dollars} is not an amount of US dollars"))
        })
    }
}

impl schemars::JsonSchema for Usd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "number", "minimum": 0})
    }
}
