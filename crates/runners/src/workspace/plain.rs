//! Workspaces of a folder that no repository covers: copies.
//!
//! A delegation's base is one copy of the folder; every workspace is a copy of that.
//! Work is kept as a layer (the files that changed, the names of those that went),
//! and a result is a layer too. Nothing is compared by hash: what a file was can
//! always be read from the layers below. Only `apply` writes in the user's folder.

mod adopt;
mod apply;
mod confront;
mod copy;
mod exchange;
mod hunks;
mod ignored;
mod keep;
mod layer;
mod merge;
mod works;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::choice::Choice;
use super::folders::{Begun, Folders, Laid, Made, PLACE, gone};
use super::git::Git;
use super::home::Homes;
use super::mechanism::Mechanism;
use super::repository::to_share;
use super::{
    Applied, Candidate, Error, From, How, Kept, KeptWork, Merge, Names, New, Note, Options, Origin,
    Outlook, Place, Seen, Spare, Start, names, ports, record,
};
pub(super) use copy::put;
use ignored::Ignored;
use layer::{Stack, layer_folder};
pub(super) use layer::{file_in, passes_link, remove};

/// A project in a plain folder.
#[derive(Debug)]
pub(super) struct Plain {
    git: Git,
    project: PathBuf,
    folders: Folders,
    copy_limit_bytes: u64,
    choice: Choice,
    /// Folders that workspaces were to share.
    share: Vec<String>,
    /// Held while the result of a delegation moves, so that merges queue up.
    results: Mutex<()>,
}

impl Plain {
    pub(super) fn open(
        project: &Path,
        state: &Path,
        (options, choice): (&Options, Choice),
    ) -> Result<Self, Error> {
        let project = fs::canonicalize(project).map_err(Error::files("opening", project))?;
        let copy_limit_bytes = options.copy_limit_bytes;
        let folders = Folders::open(state, options.dir.as_deref())?;
        let (git, share, results) = (Git::default(), options.share.clone(), Mutex::default());
        Ok(Self { git, project, folders, copy_limit_bytes, choice, share, results })
    }

    /// The layers that a base's name stands for.
    fn stack(&self, base: &str) -> Result<Stack, Error> {
        Stack::open(&self.folders.state, base)
    }

    /// Copies what a delegation starts from.
    fn copy_base(&self, start: &Start) -> Result<String, Error> {
        let delegation = &start.delegation;
        let (from, theirs) = match &start.from {
            From::User => (self.project.clone(), false),
            From::Attempt(attempt) => {
                let made = self.folders.made(attempt)?;
                let missing = || Error::Unknown { what: "workspace", id: attempt.clone() };
                (made.ok_or_else(missing)?.place.root, true)
            }
            From::Commit(commit) => {
                return Err(Error::Unknown { what: "commit", id: commit.clone() });
            }
        };
        let base = format!("base:{delegation}");
        let folder = layer_folder(&self.folders.state, &base)?;
        gone(&folder).map_err(Error::files("removing", &folder))?;
        // What a parent has was handed to it, or is its own.
        let ignored = if theirs { Ignored::default() } else { self.ignored()? };
        let files = folder.join("files");
        self.copy(&from, &files, &ignored, theirs)?;
        if !theirs {
            self.include(&files)?;
        }
        Ok(base)
    }

    fn make(&self, new: &New, against: Option<&str>) -> Result<Place, Error> {
        let attempt = names::checked("attempt", &new.attempt)?;
        names::checked("tree", &new.tree)?;
        let begun = self.folders.begun(&new.delegation)?;
        if let Some(made) = self.folders.made(attempt)? {
            return Ok(made.place);
        }
        self.folders.remove(attempt)?;
        let own = self.folders.own(attempt);
        fs::create_dir_all(&own).map_err(Error::files("making", &own))?;
        let base = match against {
            Some(_) => self.result_of(&begun)?,
            None => self.joined(&begun.base, &new.with)?,
        };
        let root = self.folders.workspace(attempt);
        self.stack(&base)?.pour(&root)?;
        let sides = against.map(|work| self.confronted(&root, &base, work)).transpose()?;
        let settled = keep::remember(&root, &own)?;
        // Copies share nothing, and what the project ignores is in none.
        let not_shared = to_share(&self.share, &self.project, &root).cloned().collect();
        let place = Place {
            tree: new.tree.clone(),
            delegation: new.delegation.clone(),
            subtask: new.subtask.clone(),
            attempt: attempt.to_owned(),
            cwd: root.clone(),
            env: ports::env(&self.folders.state, attempt)?,
            root,
            base,
        };
        let made = Made {
            place,
            settled,
            laid: Laid::default(),
            shared: Vec::new(),
            not_shared,
            sides,
            submodules: Vec::new(),
        };
        record::write(&own.join(PLACE), &made)?;
        Ok(made.place)
    }
}

/// What of a folder is never copied: whatever is ours.
pub(super) fn skipped(homes: &Homes, from: &Path) -> Vec<PathBuf> {
    let mut skip = homes.hidden();
    skip.push(from.join(".legation"));
    skip
}

impl Mechanism for Plain {
    fn is_git(&self) -> bool {
        false
    }

    fn origin(&self) -> Origin {
        Origin { top: self.project.clone(), repository: Vec::new(), lent: Vec::new() }
    }

    fn mechanism(&self) -> Choice {
        self.choice.clone()
    }

    fn adopt(&self) -> Result<(), Error> {
        self.take_up()
    }

    fn folders(&self) -> &Folders {
        &self.folders
    }

    fn git_processes(&self) -> u64 {
        self.git.started()
    }

    fn begin(&self, start: &Start) -> Result<String, Error> {
        names::checked("tree", &start.tree)?;
        let path = self.folders.begun_path(names::checked("delegation", &start.delegation)?);
        if let Some(begun) = record::read::<Begun>(&path)? {
            return Ok(begun.base);
        }
        let base = self.copy_base(start)?;
        let (tree, delegation) = (start.tree.clone(), start.delegation.clone());
        record::write(&path, &Begun { tree, delegation, base: base.clone(), dirty: false })?;
        Ok(base)
    }

    fn create(&self, new: &New) -> Result<Place, Error> {
        self.make(new, None)
    }

    fn confront(&self, new: &New, work: &str) -> Result<Place, Error> {
        self.make(new, Some(work))
    }

    fn unresolved(&self, place: &Place, kept: &Kept) -> Result<Vec<String>, Error> {
        self.still_marked(place, kept)
    }

    fn stand(&self, _: &Place) -> Result<(), Error> {
        Ok(())
    }

    fn look(&self, place: &Place) -> Result<Seen, Error> {
        self.see(place)
    }

    fn keep(&self, place: &Place, _note: &Note) -> Result<Option<Kept>, Error> {
        self.take_custody(place)
    }

    fn kept_commit(&self, _tree: &str, attempt: &str) -> Result<Option<String>, Error> {
        let commit = format!("kept:{}", names::checked("attempt", attempt)?);
        let folder = layer_folder(&self.folders.state, &commit)?;
        Ok(folder.is_dir().then_some(commit))
    }

    fn recall(&self, _place: &Place, _commands: &[String]) -> Result<bool, Error> {
        Ok(false)
    }

    fn remember(&self, place: &Place, _commands: &[String]) -> Result<(), Error> {
        // What the commands made is no work of the attempt that comes after them.
        let mut made = self.folders.known(place)?;
        let own = self.folders.own(&place.attempt);
        made.settled = keep::remember(&made.place.root, &own)?;
        record::write(&own.join(PLACE), &made)
    }

    fn remove(&self, place: &Place) -> Result<(), Error> {
        self.folders.remove(&place.attempt)
    }

    fn merge(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error> {
        self.merge_into_result(delegation, kept)
    }

    fn foresee(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error> {
        self.outlook_for(delegation, kept)
    }

    fn advance(&self, delegation: &str, kept: &Kept, to: &Candidate) -> Result<bool, Error> {
        self.advance_result(delegation, kept, to)
    }

    fn is_untried(&self, _kept: &Kept, merged: &Candidate) -> Result<bool, Error> {
        Ok(!merged.is_forward)
    }

    fn forgo(&self, attempt: &str) -> Result<(), Error> {
        self.folders.write_custody(names::checked("attempt", attempt)?, None)
    }

    fn bring(&self, into: &Place, delegation: &str) -> Result<Merge, Error> {
        self.bring_into(into, delegation)
    }

    fn rollback(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.roll_back(delegation)
    }

    fn diff(&self, delegation: &str, kept: Option<&Kept>) -> Result<String, Error> {
        self.difference(delegation, kept)
    }

    fn result_commit(&self, _delegation: &str) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn is_applied(&self, delegation: &str) -> Result<bool, Error> {
        self.folder_has(delegation)
    }

    fn apply(&self, delegation: &str, _how: How) -> Result<Applied, Error> {
        self.apply_to_folder(delegation)
    }

    fn works(&self) -> Result<Vec<KeptWork>, Error> {
        self.kept_works()
    }

    fn work_files(&self, work: &KeptWork) -> Result<Vec<String>, Error> {
        self.files_of_work(work)
    }

    fn restore_work(&self, work: &KeptWork, to: &Path) -> Result<(), Error> {
        self.write_out(work, to)
    }

    fn forget_work(&self, work: &KeptWork) -> Result<(), Error> {
        self.let_go(work)
    }

    fn spares(&self) -> Result<Vec<Spare>, Error> {
        Ok(Vec::new())
    }

    fn drop_spare(&self, _spare: &Spare) -> Result<(), Error> {
        Ok(())
    }

    fn names(&self) -> Result<Vec<Names>, Error> {
        self.held_layers()
    }

    fn drop_names(&self, names: &Names) -> Result<(), Error> {
        self.let_layers_go(names)
    }

    fn revert(&self, delegation: &str) -> Result<Applied, Error> {
        self.take_from_folder(delegation)
    }
}
