//! The conflicting lines of a merge that was only tried.

use legation_core::tree::event::{Clash, Hunk};

use super::super::hunks::Collector;
use super::Repository;
use super::trial::Conflict;

/// Files that are looked into.
const MAX_FILES: usize = 20;

impl Repository {
    /// What stands against what in a trial of two commits, and how its sides are called. A
    /// file that is not a matter of lines is there with what kind of conflict it is.
    pub(super) fn hunks(
        &self,
        conflict: &Conflict,
        sides: [&str; 2],
        called: [&'static str; 2],
    ) -> Vec<Hunk> {
        let mut found = Collector::new(called);
        let mut read = 0;
        for file in &conflict.files {
            if let Some(kind) = conflict.kinds.get(file) {
                found.note(file, *kind);
                continue;
            }
            if read == MAX_FILES || !found.has_room() {
                continue;
            }
            read += 1;
            let named = format!("{}:{file}", conflict.tree);
            let said = self.on_objects("cat-file").args(["blob", &named]).ask();
            let said = said.ok().filter(|said| said.code == 0);
            let has_lines = said
                .is_some_and(|said| found.take(file, &String::from_utf8_lossy(&said.out), sides));
            // One that is too large to read is still named.
            if !has_lines {
                found.note(file, Clash::Unshown);
            }
        }
        found.finish()
    }
}
