//! The tree of an index: only the folders in which something changed are written, and one
//! git process writes them all.

use std::collections::HashMap;
use std::path::Path;

use super::super::Error;
use super::super::index::{Listing, Part};
use super::Repository;

impl Repository {
    /// Writes what an index of ours lists as a tree.
    pub(super) fn write_tree(&self, index: &Path) -> Result<String, Error> {
        let listing = Listing::read(index, self.user.hash_bytes)?;
        self.write_folder((&listing, &listing.trees()), b"")
    }

    /// Writes a folder, and before it every folder in it that is not known yet.
    fn write_folder(
        &self,
        (listing, known): (&Listing, &HashMap<Vec<u8>, String>),
        folder: &[u8],
    ) -> Result<String, Error> {
        if let Some(tree) = known.get(folder) {
            return Ok(tree.clone());
        }
        let mut text = Vec::new();
        for part in listing.parts(folder) {
            let (mode, object, name) = match part {
                Part::File { mode, object, name } => (mode, object, name),
                Part::Folder { path, name } => {
                    (TREE, self.write_folder((listing, known), path)?, name)
                }
            };
            let kind = match mode {
                TREE => "tree",
                LINK_TO_REPOSITORY => "commit",
                _ => "blob",
            };
            text.extend_from_slice(format!("{mode:06o} {kind} {object}\t").as_bytes());
            text.extend_from_slice(name);
            text.push(0);
        }
        text.push(0);
        // A process that was ended from outside is no reason to fail: the same list is the
        // same tree, however often it is written.
        self.make_tree(&text).or_else(|_| self.make_tree(&text))
    }

    fn make_tree(&self, text: &[u8]) -> Result<String, Error> {
        let start = || {
            // All that is listed is known to be there, or was when it was listed.
            self.on_objects("mktree").args(["-z", "--missing", "--batch"]).start()
        };
        let said = self.forester.with(("mktree", start), |session| session.ask(text, b"\n"))?;
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }
}

/// How git numbers folders.
const TREE: u32 = 0o040_000;
/// How it numbers places of other repositories.
const LINK_TO_REPOSITORY: u32 = 0o160_000;
