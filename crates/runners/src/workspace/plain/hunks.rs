//! The conflicting lines of files that two sides changed, outside any repository.

use std::collections::BTreeSet;
use std::path::Path;

use legation_core::tree::event::Hunk;

use super::super::git::Trust;
use super::super::hunks::Collector;
use super::Plain;
use super::layer::Stack;

/// Files that are looked into.
const MAX_FILES: usize = 20;
/// How the two sides are called in the markers.
const SIDES: [&str; 2] = ["result", "subtask"];

impl Plain {
    /// What stands against what in these files: of the result, of what both began with, and
    /// of the work. Without git on this machine nothing can be shown.
    pub(super) fn hunks(
        &self,
        paths: &BTreeSet<Vec<u8>>,
        [ours, old, theirs]: [&Stack; 3],
    ) -> Vec<Hunk> {
        let mut found = Collector::default();
        for path in paths.iter().take(MAX_FILES) {
            if !found.has_room() {
                break;
            }
            let sides = (ours.file(path), old.file(path), theirs.file(path));
            if let (Some(ours), Some(old), Some(theirs)) = sides
                && let Some(marked) = self.marked([&ours, &old, &theirs])
            {
                found.take(&String::from_utf8_lossy(path), &marked, SIDES);
            }
        }
        found.finish()
    }

    /// A file with both sides between markers.
    fn marked(&self, [ours, old, theirs]: [&Path; 3]) -> Option<String> {
        let [result, subtask] = SIDES;
        let call = self.git.call("merge-file", Trust::Repository).within(&self.folders.state);
        let call = call.args(["-p", "-q", "-L", result, "-L", "", "-L", subtask]);
        let said = call.arg(ours).arg(old).arg(theirs).ask().ok()?;
        Some(String::from_utf8_lossy(&said.out).into_owned())
    }
}
