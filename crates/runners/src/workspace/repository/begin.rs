//! What a delegation starts from: one commit, fixed once.

use std::fs;

use super::super::folders::Begun;
use super::super::refs::{Head, Names};
use super::super::{Error, From, Note, Start, names, record, refs};
use super::Repository;
use super::apply::refused;
use super::history::MAX_COMMITS;

impl Repository {
    /// Fixes the base of a delegation.
    pub(super) fn begin_at(&self, start: &Start) -> Result<String, Error> {
        names::checked("tree", &start.tree)?;
        let path = self.folders.begun_path(names::checked("delegation", &start.delegation)?);
        if let Some(begun) = record::read::<Begun>(&path)? {
            return Ok(begun.base);
        }
        self.check_room(&start.delegation)?;
        let (base, fresh) = match &start.from {
            From::User => self.user_base(start)?,
            From::Attempt(attempt) => self.attempt_base(start, attempt)?,
            From::Commit(commit) if refs::is_id(commit) => (commit.clone(), false),
            From::Commit(commit) => {
                return Err(Error::Unknown { what: "commit", id: commit.clone() });
            }
        };
        if fresh {
            // Nothing else holds this commit yet, and git throws away what nothing holds.
            self.move_names(&format!(
                "update {} {base}\n",
                base_name(&start.tree, &start.delegation)
            ))?;
        }
        let (tree, delegation) = (start.tree.clone(), start.delegation.clone());
        let dirty = start.from == From::User && start.include_dirty && self.user.top.is_some();
        record::write(&path, &Begun { tree, delegation, base: base.clone(), dirty })?;
        Ok(base)
    }

    /// Refuses to begin where no result could ever get its name: git has no branch below
    /// another.
    fn check_room(&self, delegation: &str) -> Result<(), Error> {
        for branch in ["legation", &format!("legation/{delegation}")] {
            if self.resolve(&format!("refs/heads/{branch}"))?.is_some() {
                let reason = format!(
                    "your branch `{branch}` is in the way: results are branches below that name"
                );
                let hint = format!("rename it with `git branch -m {branch} NAME`, then try again");
                return Err(refused(&reason, Vec::new(), &hint));
            }
        }
        Ok(())
    }

    /// The user's commit, and whether it was made just now.
    fn user_base(&self, start: &Start) -> Result<(String, bool), Error> {
        let head = self.user_head()?;
        // Before anything of ours is among the user's objects.
        self.lend(head.as_deref())?;
        match (&self.user.top, start.include_dirty) {
            (Some(top), true) => {
                let index = self.folders.state.join(format!("{}.index", start.delegation));
                let commit = self.snapshot(top, head.as_deref(), &index)?;
                fs::remove_file(&index).map_err(Error::files("removing", &index))?;
                Ok((commit, true))
            }
            (Some(_) | None, _) => match head {
                Some(head) => Ok((head, false)),
                None => Ok((self.beginning()?, true)),
            },
        }
    }

    /// What the user has checked out; nothing in a repository without a commit.
    pub(super) fn user_head(&self) -> Result<Option<String>, Error> {
        let names = Names::of_user(&self.user.git_dir, &self.user.common_dir);
        let head = if self.user.names_in_files { names.head() } else { Head::Unclear };
        match head {
            Head::At { commit, .. } => Ok(Some(commit)),
            // To take a repository for empty that is not would be the wrong base.
            Head::Unborn { .. } | Head::Unclear => self.slow_head(),
        }
    }

    fn slow_head(&self) -> Result<Option<String>, Error> {
        let trust = super::Trust::Repository;
        let call = self.git.call("rev-parse", trust).env("GIT_DIR", &self.user.git_dir);
        let said = call.args(["--verify", "--quiet", "HEAD"]).ask()?;
        let id = String::from_utf8_lossy(&said.out).trim().to_owned();
        Ok((said.code == 0 && refs::is_id(&id)).then_some(id))
    }

    /// A commit without files, so that an empty repository has a base like any other.
    pub(super) fn beginning(&self) -> Result<String, Error> {
        let tree = self.on_objects("hash-object").args(["-t", "tree", "-w", "/dev/null"]).line()?;
        self.commit(&tree, &[], "The beginning: no files yet\n")
    }

    /// The commit of the attempt that delegates, and whether only we hold it.
    fn attempt_base(&self, start: &Start, attempt: &str) -> Result<(String, bool), Error> {
        let made = self.folders.made(attempt)?;
        let made =
            made.ok_or_else(|| Error::Unknown { what: "workspace", id: attempt.to_owned() })?;
        let _wary = self.beware_of(&made.place);
        if start.include_dirty {
            let title = "Uncommitted work of the attempt that delegates".to_owned();
            let note = Note { title, ..Note::default() };
            let staged = self.stage(&made, &note)?;
            let fresh = staged.commit != made.place.base;
            return Ok((staged.commit, fresh));
        }
        // Any other commit would be one that its author did not mean.
        let Some(history) = self.taken_over(&made.place)? else {
            let reason = format!(
                "what {attempt} has committed cannot be read: its repository is damaged, or it \
                 has made more than {MAX_COMMITS} commits"
            );
            let hint = "delegate with --include-dirty, which starts from its files as they are";
            return Err(refused(&reason, Vec::new(), hint));
        };
        let fresh = history.head != made.place.base;
        Ok((history.head, fresh))
    }
}

/// The name under which a delegation's base is held.
pub(super) fn base_name(tree: &str, delegation: &str) -> String {
    format!("refs/legation/{tree}/base/{delegation}")
}
