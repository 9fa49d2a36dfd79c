//! The user's files as they are, committed or not: as a base, and to apply to.
//!
//! Work that began on uncommitted files comes back as uncommitted changes over the
//! same files. The user's index and branch stay where they are.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::folders::{Begun, Brought};
use super::super::hunks::APPLIED;
use super::super::{Applied, Error, index};
use super::Repository;
use super::apply::{check, conflicts, names};
use super::trial::Trial;
use super::underway::Errand;
use super::works::applied_name;

impl Repository {
    /// A commit of the user's files as they are, made without touching the user's index.
    ///
    /// Afterwards `copy` is an index of exactly these files.
    pub(super) fn snapshot(
        &self,
        top: &Path,
        head: Option<&str>,
        copy: &Path,
    ) -> Result<String, Error> {
        // A copy knows which files are unchanged; without one git reads them all.
        let copied = index::copy(&self.user.git_dir.join("index"), copy);
        let call = |name| self.on_checkout(name, top).env("GIT_INDEX_FILE", copy);
        if copied.is_err()
            && let Some(head) = head
        {
            call("read-tree").arg(head).run()?;
        }
        // A nested repository without a commit cannot be added; the rest is, also what lies
        // where a sparse checkout has nothing. What is ours is no work of the user's.
        let wanted =
            ["-A", "--sparse", "--ignore-errors", "--", ".", ":(exclude,glob)**/.legation/**"];
        let added = call("add").args(wanted).ask()?;
        if added.code > 1 {
            return Err(super::super::git::complaint("add", &added));
        }
        let tree = call("write-tree").line()?;
        let parents: Vec<&str> = head.into_iter().collect();
        self.commit(&tree, &parents, "Uncommitted work of the user\n")
    }

    /// Applies a result that began on uncommitted files.
    pub(super) fn apply_over_dirty(
        &self,
        top: &Path,
        begun: &Begun,
        tip: &str,
    ) -> Result<Applied, Error> {
        let earlier = self.brought(&begun.delegation)?;
        let from = match earlier.filter(|brought| !brought.taken_back) {
            // What was applied before is where the rest starts.
            Some(brought) => brought.tip,
            None => begun.base.clone(),
        };
        let theirs = self.graft(tip, &from)?;
        let then = |before, after| {
            let (tip, files_only, taken_back) = (tip.to_owned(), true, false);
            Brought { tip, before, after, files_only, taken_back, earlier: Vec::new() }
        };
        let errand = Errand { begun, then: &then };
        let files = self.step(top, (&from, &theirs), errand)?.unwrap_or_default();
        Ok(Applied { files, commit: self.user_head()? })
    }

    /// Changes the user's files by what lies between two commits, the second a child of
    /// the first. Answers with the files.
    pub(super) fn step(
        &self,
        top: &Path,
        between: (&str, &str),
        errand: Errand<'_>,
    ) -> Result<Option<Vec<String>>, Error> {
        let head = self.user_head()?;
        let index = scratch_index(&self.folders.state);
        let before = self.snapshot(top, head.as_deref(), &index)?;
        let changed = self.change((top, &index), (&before, between), errand);
        // It may not have come to that; and nobody else knows of this file.
        drop(fs::remove_file(&index));
        match changed {
            // What git complains about was put back, and is about files of before.
            Err(Error::Git { .. }) if self.user_head()? != head => Err(Error::Moved),
            changed => changed,
        }
    }

    fn change(
        &self,
        (top, index): (&Path, &Path),
        (before, (from, to)): (&str, (&str, &str)),
        errand: Errand<'_>,
    ) -> Result<Option<Vec<String>>, Error> {
        let ours = self.graft(before, from)?;
        let tree = match self.trial(&ours, to)? {
            Trial::Fits { tree } => tree,
            Trial::Conflict(conflict) => {
                let hunks = self.hunks(&conflict, [&ours, to], APPLIED);
                return Err(conflicts(errand.begun, (conflict.files, hunks)));
            }
        };
        let files = self.touched(Some(before), &tree)?;
        if files.is_empty() {
            return Ok(None);
        }
        check(top, &files, &[])?;
        let after = self.commit(&tree, &[before], "What was brought to the user\n")?;
        // It holds what was there before, too.
        let name = applied_name(&errand.begun.tree, &errand.begun.delegation);
        self.move_names(&format!("update {name} {after}\n"))?;
        let go = || {
            let call = self.on_checkout("read-tree", top).unhurried().undisturbed();
            let call = call.env("GIT_INDEX_FILE", index);
            // Nothing is committed for the user, so only files can hold what lies outside of a
            // sparse checkout.
            let call = call.args(["-m", "-u", "--no-sparse-checkout", before, &after]);
            let Err(why) = call.run() else { return Ok(()) };
            self.put_back(&self.checkout(top, true), (before, &after), &why.to_string())?;
            Err(why)
        };
        self.on_record((before, &after), errand, (true, go))?;
        Ok(Some(names(files)))
    }
}

/// The name of an index that nobody else uses.
pub(super) fn scratch_index(folder: &Path) -> PathBuf {
    folder.join(format!("apply-{}.index", super::super::record::fresh()))
}
