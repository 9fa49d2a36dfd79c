//! The conflicting lines of a merge that was only tried.

use legation_core::tree::event::Hunk;

use super::super::hunks::Collector;
use super::Repository;

/// Files that are looked into.
const MAX_FILES: usize = 20;

impl Repository {
    /// What stands against what in these files of a tree that a trial left. A file that one
    /// side deleted, or that is no text, has nothing between markers.
    pub(super) fn hunks(&self, tree: &str, files: &[String], sides: [&str; 2]) -> Vec<Hunk> {
        let mut found = Collector::default();
        for file in files.iter().take(MAX_FILES) {
            if !found.has_room() {
                break;
            }
            let said = self.on_objects("cat-file").args(["blob", &format!("{tree}:{file}")]).ask();
            // One that is too large to read is still named.
            if let Ok(said) = said
                && said.code == 0
            {
                found.take(file, &String::from_utf8_lossy(&said.out), sides);
            }
        }
        found.finish()
    }
}
