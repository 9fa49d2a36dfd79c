//! What earlier processes left of a plain folder's copies, at the next start.
//!
//! A copy that was handed out is never cleared here, and neither is work that was kept.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use super::super::{Error, names};
use super::Plain;

impl Plain {
    /// Clears away what was left half made, and takes up an apply that was killed.
    pub(super) fn take_up(&self) -> Result<(), Error> {
        self.folders.sweep();
        self.folders.clear_drafts();
        // Where something is in the way of it, the next apply says so.
        drop(self.recover(false));
        self.folders.handed_out()?;
        for path in self.half_made()? {
            self.folders.discard(&path)?;
        }
        Ok(())
    }

    /// Layers that nobody knows of, and differences that nobody looks at any more.
    fn half_made(&self) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        let begun: HashSet<String> = self.folders.delegations();
        found.extend(self.entries("bases").filter(|(id, _)| !begun.contains(id)));
        found.extend(self.entries("kept").filter(|(name, _)| name.ends_with(".new")));
        found.extend(self.entries("").filter(|(name, _)| name.starts_with("diff-")));
        for (delegation, folder) in self.entries("results").filter(|(_, path)| path.is_dir()) {
            names::checked("delegation", &delegation)?;
            let made = self.tip(&delegation)?.made;
            let layers = self.entries(&format!("results/{delegation}"));
            let is_late = |name: &str| name.parse::<u64>().is_ok_and(|number| number > made);
            found.extend(layers.filter(|(name, _)| is_late(name)));
            found.extend((!begun.contains(&delegation)).then_some((delegation, folder)));
        }
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }

    /// What is in a folder of the state folder, by name.
    fn entries(&self, name: &str) -> impl Iterator<Item = (String, PathBuf)> + use<> {
        let entries = fs::read_dir(self.folders.state.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
    }
}
