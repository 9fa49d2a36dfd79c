//! What set-up commands make in a workspace, kept for the next one.
//!
//! What they read is not known, so all files of the base and all that were copied beside them
//! count: only a workspace with the same files, and the same commands, gets what they made
//! before.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use legation_core::digest;

use super::super::index::Entry;
use super::super::walk::below;
use super::super::{Error, Place, plain, record};
use super::Repository;

/// Set-ups that are kept.
const MAX_KEPT: usize = 4;
/// Files that a set-up may make and still be kept.
const MAX_FILES: usize = 50_000;
/// The digits of a set-up's name.
const NAME_DIGITS: usize = 24;

impl Repository {
    fn setups(&self) -> PathBuf {
        self.folders.state.join("setups")
    }

    fn setup(&self, place: &Place, commands: &[String]) -> Result<PathBuf, Error> {
        let (tree, view) = (self.tree_of(&place.base)?, self.user.view());
        let included = self.included_content(place)?;
        let mut inputs = vec![tree.as_str(), view.as_str(), included.as_str()];
        inputs.extend(commands.iter().map(String::as_str));
        Ok(self.setups().join(digest::hex(&inputs, NAME_DIGITS)))
    }

    /// Puts what the commands made before into a workspace, if it is known.
    pub(super) fn recall_setup(&self, place: &Place, commands: &[String]) -> Result<bool, Error> {
        let folder = self.setup(place, commands)?;
        let Some(files) = record::read::<Vec<Vec<u8>>>(&folder.join("list.json"))? else {
            return Ok(false);
        };
        let mut made = Vec::new();
        for path in files {
            let to = below(&place.root, &path);
            plain::put(&below(&folder.join("files"), &path), &to)?;
            let found = fs::symlink_metadata(&to).map_err(Error::files("reading", &to))?;
            made.push((path, Entry::of(&found)));
        }
        self.note_included(place, made)?;
        Ok(true)
    }

    /// Notes what the commands made, and keeps a copy of it.
    pub(super) fn remember_setup(&self, place: &Place, commands: &[String]) -> Result<(), Error> {
        let known = self.folders.known(place)?;
        let changes = self.changes(&known)?.unwrap_or_default();
        let mut made = Vec::new();
        for path in &changes.added {
            let at = below(&place.root, path);
            let found = fs::symlink_metadata(&at).map_err(Error::files("reading", &at))?;
            made.push((path.clone(), Entry::of(&found)));
        }
        self.note_included(place, made)?;
        let only_new = changes.modified.is_empty() && changes.removed.is_empty();
        let folder = self.setup(place, commands)?;
        if !only_new || changes.added.len() > MAX_FILES || folder.exists() {
            // Whatever changed files of the base has to be done in each workspace.
            return Ok(());
        }
        let fresh = self.setups().join(format!("{}.new", record::fresh()));
        for path in &changes.added {
            plain::put(&below(&place.root, path), &below(&fresh.join("files"), path))?;
        }
        record::write(&fresh.join("list.json"), &changes.added)?;
        if fs::rename(&fresh, &folder).is_err() {
            // Somebody was faster.
            self.folders.discard(&fresh)?;
        }
        self.drop_old_setups()
    }

    fn drop_old_setups(&self) -> Result<(), Error> {
        let entries = fs::read_dir(self.setups()).into_iter().flatten().flatten();
        let whole = entries.map(|entry| entry.path()).filter(|path| path.extension().is_none());
        let made = |path: &PathBuf| fs::metadata(path).and_then(|found| found.modified());
        let mut all: Vec<(SystemTime, PathBuf)> =
            whole.map(|path| (made(&path).unwrap_or(SystemTime::UNIX_EPOCH), path)).collect();
        all.sort();
        for (_, path) in all.iter().rev().skip(MAX_KEPT) {
            self.folders.discard(path)?;
        }
        Ok(())
    }

    /// Clears what a crash left of set-ups that were being copied.
    pub(super) fn clear_setups(&self) -> Result<(), Error> {
        for entry in fs::read_dir(self.setups()).into_iter().flatten().flatten() {
            if entry.path().extension().is_some() {
                self.folders.discard(&entry.path())?;
            }
        }
        Ok(())
    }
}
