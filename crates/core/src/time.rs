//! Instants and spans as plain numbers. The clock itself is outside.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch. Comes in with every command.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Now(pub u64);

impl Now {
    /// This instant moved later; it stops at the end of time instead of wrapping.
    pub fn plus_ms(self, span_ms: u64) -> Self {
        Self(self.0.saturating_add(span_ms))
    }

    /// How much later this instant is than `earlier`, or 0 if the clock went backwards.
    pub fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
