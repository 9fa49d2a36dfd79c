//! What an attempt wrote, after its end.

use std::path::Path;

use super::follow::Follow;

/// The pieces of standard output that are kept of an attempt, in order.
pub fn written(dir: &Path) -> impl Iterator<Item = Vec<u8>> + use<> {
    let mut follow = Follow::stdout(dir.to_owned());
    std::iter::from_fn(move || follow.next())
}
