//! What people and programs are shown of a tree. Nothing here changes anything.

mod cost;
mod registry;
mod status;
mod trace;

use serde::{Serialize, Serializer};

pub use cost::{Cost, cost};
pub use registry::{Registered, registry};
pub use status::{DelegationView, Metrics, ProgressView, SubtaskView, status};
pub use trace::{Span, trace};

use crate::time::Now;

/// An instant as RFC 3339 text in UTC, the form every surface shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub Now);

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = i64::try_from(self.0.0).unwrap_or(i64::MAX);
        match jiff::Timestamp::from_millisecond(millis) {
            // Always to the millisecond: stamps below each other line up, and sort as text.
            Ok(time) => write!(f, "{time:.3}"),
            // Beyond the year 9999 the bare number is more honest than a made-up date.
            Err(_) => write!(f, "{millis}"),
        }
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
