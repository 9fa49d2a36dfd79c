//! The user's files as they are, committed or not: as a base, and to apply to.
//!
//! Work that began on uncommitted files comes back as uncommitted changes over the
//! same files. The user's index and branch stay where they are.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::folders::{Begun, Brought};
use super::super::{Applied, Error, index};
use super::Repository;
use super::apply::{check, conflicts, names};
use super::merge::Trial;
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
        let delegation = &begun.delegation;
        let earlier = self.brought(delegation)?;
        let from = match earlier.as_ref().filter(|brought| !brought.taken_back) {
            // What was applied before is where the rest starts.
            Some(brought) => brought.tip.clone(),
            None => begun.base.clone(),
        };
        let theirs = self.graft(tip, &from)?;
        let brought = |(before, after): (&str, &str), pending| {
            let (before, after) = (before.to_owned(), after.to_owned());
            let (tip, files_only, taken_back) = (tip.to_owned(), true, false);
            let earlier = earlier.clone().filter(|_| pending).map(Box::new);
            Brought { tip, before, after, files_only, taken_back, pending, earlier }
        };
        let name = applied_name(&begun.tree, delegation);
        // Before it is so, since whoever is killed in between can say nothing any more.
        let step = self.step(top, (&from, &theirs), |before, after| {
            self.move_names(&format!("update {name} {after}\n"))?;
            self.folders.write_brought(delegation, &brought((before, after), true))
        });
        let Ok(Some((before, after, files))) = step else {
            self.folders.put_back_brought(delegation, earlier.as_ref())?;
            return step.and_then(|_| Ok(Applied { files: Vec::new(), commit: self.user_head()? }));
        };
        self.folders.write_brought(delegation, &brought((&before, &after), false))?;
        Ok(Applied { files, commit: self.user_head()? })
    }

    /// What is on record of a delegation that was applied. Of one whose process was killed over
    /// it the files tell: git may still be at it, so that as long as it is not done, it is asked
    /// again.
    pub(super) fn brought(&self, delegation: &str) -> Result<Option<Brought>, Error> {
        let brought = self.folders.brought(delegation)?;
        let (Some(known), Some(top)) = (brought.as_ref().filter(|one| one.pending), &self.user.top)
        else {
            return Ok(brought);
        };
        let head = self.user_head()?;
        let index = self.scratch_index();
        let now = self.snapshot(top, head.as_deref(), &index);
        drop(fs::remove_file(&index));
        let now = now?;
        let unlike = |commit: &str| -> Result<HashSet<String>, Error> {
            Ok(names(self.touched(Some(&now), commit)?).into_iter().collect())
        };
        let (unlike_before, unlike_after) = (unlike(&known.before)?, unlike(&known.after)?);
        let meant = names(self.touched(Some(&known.before), &known.after)?);
        // What is neither of both was changed by somebody since.
        let is_done = meant.iter().all(|file| unlike_before.contains(file))
            && meant.iter().any(|file| !unlike_after.contains(file));
        if !is_done {
            return Ok(known.earlier.as_deref().cloned());
        }
        let settled = Brought { pending: false, earlier: None, ..known.clone() };
        self.folders.write_brought(delegation, &settled)?;
        Ok(Some(settled))
    }

    /// The name of an index that nobody else uses.
    pub(super) fn scratch_index(&self) -> PathBuf {
        self.folders.state.join(format!("apply-{}.index", super::super::record::fresh()))
    }

    /// Changes the user's files by what lies between two commits, the second a child of
    /// the first. Answers with commits of what was there and what is, and the files; `note` is
    /// told these two before anything is changed.
    pub(super) fn step(
        &self,
        top: &Path,
        between: (&str, &str),
        note: impl Fn(&str, &str) -> Result<(), Error>,
    ) -> Result<Option<(String, String, Vec<String>)>, Error> {
        let head = self.user_head()?;
        let index = self.scratch_index();
        let before = self.snapshot(top, head.as_deref(), &index)?;
        let changed = self.change((top, &index), (&before, between), note);
        // It may not have come to that; and nobody else knows of this file.
        drop(fs::remove_file(&index));
        changed
    }

    fn change(
        &self,
        (top, index): (&Path, &Path),
        (before, (from, to)): (&str, (&str, &str)),
        note: impl Fn(&str, &str) -> Result<(), Error>,
    ) -> Result<Option<(String, String, Vec<String>)>, Error> {
        let ours = self.graft(before, from)?;
        let tree = match self.trial(&ours, to)? {
            Trial::Fits { tree } => tree,
            Trial::Conflict { files, tree: _ } => return Err(conflicts(files)),
        };
        let files = self.touched(Some(before), &tree)?;
        if files.is_empty() {
            return Ok(None);
        }
        check(top, &files, &[])?;
        let after = self.commit(&tree, &[before], "What was brought to the user\n")?;
        note(before, &after)?;
        let passage = self.setting_out(top, before, &after)?;
        let call = self.on_checkout("read-tree", top).unhurried().undisturbed();
        let call = call.env("GIT_INDEX_FILE", index);
        // Nothing is committed for the user, so only files can hold what lies outside of a
        // sparse checkout.
        let done = call.args(["-m", "-u", "--no-sparse-checkout", before, &after]).run();
        done.map_err(|why| self.put_back(top, &passage, why))?;
        Ok(Some((before.to_owned(), after, names(files))))
    }
}
