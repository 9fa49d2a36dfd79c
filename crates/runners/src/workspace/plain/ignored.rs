//! What git ignores, where copies are made of a folder that is in a repository.
//!
//! The user's secrets are mostly there. It is no part of a copy, unless the user's list
//! names it, and no part of work either.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::super::changes::Changes;
use super::super::git::{Call, Trust};
use super::super::repository::covers;
use super::super::walk::below;
use super::super::{Error, INCLUDE_LIST, MAX_INCLUDED};
use super::{Plain, copy};

/// What of a folder is ignored.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// Folders with nothing else in them.
    pub(super) folders: Vec<PathBuf>,
    /// The rest, relative to the top.
    pub(super) files: HashSet<Vec<u8>>,
}

impl Plain {
    /// What git ignores of the user's folder; nothing outside of a repository.
    pub(super) fn ignored(&self) -> Result<Ignored, Error> {
        let mut ignored = Ignored::default();
        if !self.may_be_in_repository() || !covers(&self.git, &self.project)? {
            return Ok(ignored);
        }
        let call = self.on_project("ls-files").args(["-z", "--others", "--ignored"]);
        let listed = call.args(["--exclude-standard", "--directory"]).run()?;
        for path in names(&listed) {
            match path.strip_suffix(b"/") {
                Some(folder) => ignored.folders.push(below(&self.project, folder)),
                None => drop(ignored.files.insert(path.to_vec())),
            }
        }
        Ok(ignored)
    }

    /// Copies the ignored files that the user wants in every workspace.
    pub(super) fn include(&self, to: &Path) -> Result<(), Error> {
        let is_listed = self.project.join(INCLUDE_LIST).is_file();
        if !is_listed || !self.may_be_in_repository() || !covers(&self.git, &self.project)? {
            return Ok(());
        }
        let call = self.on_project("ls-files").args(["-z", "--others", "--ignored"]);
        let listed = call.arg(format!("--exclude-from={INCLUDE_LIST}")).run()?;
        let ours = |path: &&[u8]| {
            let mut parts = path.split(|byte| *byte == b'/');
            !parts.any(|part| part == b".legation" || part == b".git")
        };
        for path in names(&listed).filter(ours).take(MAX_INCLUDED) {
            copy::put(&below(&self.project, path), &below(to, path))?;
        }
        Ok(())
    }

    /// Leaves out what git ignores, by the rules that a workspace has now.
    pub(super) fn without_ignored(&self, root: &Path, changes: &mut Changes) {
        let lists = [&changes.added, &changes.modified, &changes.removed];
        let long = changes.too_long.iter();
        // A name may begin like a pattern; behind a folder it is only a name.
        let named = lists.into_iter().flatten().chain(long);
        let input: Vec<u8> =
            named.flat_map(|path| [b"./", path.as_slice(), b"\0"].concat()).collect();
        if input.is_empty() || !self.may_be_in_repository() {
            return;
        }
        // The rules above the folder are only where the user has them.
        let call = self.on_copy("check-ignore", root);
        let call = call.unwrap_or_else(|| self.on_project("check-ignore"));
        let said = call.args(["-z", "--stdin"]).input(input).ask();
        // More than is needed may be kept; what is not kept is lost.
        let Some(said) = said.ok().filter(|said| said.code <= 1) else { return };
        let ignored: HashSet<&[u8]> =
            names(&said.out).filter_map(|path| path.strip_prefix(b"./")).collect();
        for list in [&mut changes.added, &mut changes.modified, &mut changes.removed] {
            list.retain(|path| !ignored.contains(path.as_slice()));
        }
        changes.too_long.retain(|path| !ignored.contains(path.as_slice()));
    }

    /// Folders of a workspace that git ignores, as far as it can tell.
    pub(super) fn ignored_folders(&self, root: &Path) -> Vec<PathBuf> {
        let Some(call) = self.on_copy("ls-files", root) else { return Vec::new() };
        let call = call.args(["-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
        let said = call.unhurried().run().unwrap_or_default();
        let folders = names(&said).filter_map(|path| path.strip_suffix(b"/"));
        folders.map(|folder| below(root, folder)).collect()
    }

    /// A command on a workspace with the user's rules, where they can be had for it.
    fn on_copy(&self, name: &str, root: &Path) -> Option<Call<'_>> {
        let repository = Some(self.project.join(".git")).filter(|folder| folder.exists())?;
        let call = self.git.call(name, Trust::User).within(root);
        Some(call.env("GIT_DIR", &repository).env("GIT_WORK_TREE", root))
    }

    /// Whether it is worth asking git.
    fn may_be_in_repository(&self) -> bool {
        self.project.ancestors().any(|folder| folder.join(".git").exists())
    }

    fn on_project(&self, name: &str) -> Call<'_> {
        self.git.call(name, Trust::User).within(&self.project)
    }
}

/// Names as git lists them.
fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())
}
