//! What recorded outcomes do to a score in the mode `smart`.

use super::inputs::Record;

/// Points by which outcomes move a score at most.
pub const MAX_CORRECTION: i32 = 10;

impl Record {
    /// The points by which this record moves a score: from −10 for failures only to
    /// +10 for successes only, 0 for as many of each.
    ///
    /// One success and one failure are added in thought, so that a single outcome
    /// moves the score by 3 points and the full 10 are approached by a long record.
    pub fn correction(self) -> i32 {
        let succeeded = f64::from(self.succeeded);
        let failed = f64::from(self.failed);
        let balance = (succeeded - failed) / (succeeded + failed + 2.0);
        (balance * f64::from(MAX_CORRECTION)).round() as i32
    }

    /// How many outcomes were recorded.
    pub(super) fn total(self) -> u64 {
        u64::from(self.succeeded) + u64::from(self.failed)
    }
}
