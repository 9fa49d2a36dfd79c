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
/// As high as git counts the conflicts of one file.
const MAX_CONFLICTS: i32 = 127;
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
            let sides = [ours.file(path), old.file(path), theirs.file(path)];
            if let Some(marked) = self.marked(sides.each_ref().map(Option::as_deref)) {
                let marked = String::from_utf8_lossy(&marked);
                found.take(&String::from_utf8_lossy(path), &marked, SIDES);
            }
        }
        found.finish()
    }

    /// A file of the result, of what both began with and of the work, with both sides between
    /// markers. What only one side has, links, and what is no text cannot be shown so.
    pub(super) fn marked(&self, [ours, old, theirs]: [Option<&Path>; 3]) -> Option<Vec<u8>> {
        let (ours, theirs) = (ours?, theirs?);
        // Where both sides made the file, they began with nothing.
        let old = old.unwrap_or(Path::new("/dev/null"));
        if [ours, old, theirs].iter().any(|file| file.is_symlink()) {
            return None;
        }
        let [result, subtask] = SIDES;
        let call = self.git.call("merge-file", Trust::Repository).within(&self.folders.state);
        let call = call.args(["-p", "-q", "-L", result, "-L", "", "-L", subtask]);
        let said = call.arg(ours).arg(old).arg(theirs).ask().ok()?;
        // It answers with the number of conflicts, and with a large one where it gives up.
        (said.code <= MAX_CONFLICTS).then_some(said.out)
    }
}
