//! What set-up commands make in a workspace, kept for the next one.
//!
//! What they read is not known, so all files of the base and all that were copied beside them
//! count: only a workspace with the same files, and the same commands, gets what they made
//! before. What names the workspace that it was made in, its ports or its path, is of no use
//! in another one, and such a set-up is not kept.

mod told_apart;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::SystemTime;

use legation_core::digest;
use serde::{Deserialize, Serialize};

use super::super::custody::{weight, written};
use super::super::folders::Made;
use super::super::index::{Entry, Listing};
use super::super::walk::{Locked, below, walk};
use super::super::{Error, Place, Spare, plain, record, turn};
use super::pins::PROGRAM;
use super::{Repository, own};

/// The file that tells what one has made, and by its time when that was last of use.
const LIST: &str = "list.json";
/// Set-ups that are kept.
const MAX_KEPT: usize = 4;
/// Files that a set-up may make and still be kept.
const MAX_FILES: usize = 50_000;
/// The digits of a set-up's name.
const NAME_DIGITS: usize = 24;
/// What is in the repository of a workspace that was just made.
const EXPECTED: [&str; 8] =
    ["HEAD", "config", "index", "info", "objects", "packed-refs", "refs", "shallow"];
/// How set-ups are written down; one that was written otherwise is not found.
const FORM: &str = "2";

/// What a set-up has made.
#[derive(Debug, Serialize, Deserialize)]
struct Kit {
    files: Vec<Vec<u8>>,
    /// Those with nothing in them.
    folders: Vec<Vec<u8>>,
}

impl Repository {
    fn setups(&self) -> PathBuf {
        self.folders.state.join("setups")
    }

    fn setup(&self, place: &Place, commands: &[String]) -> Result<PathBuf, Error> {
        let (tree, view) = (self.tree_of(&place.base)?, self.user.view());
        let included = self.included_content(place)?;
        let mut inputs = vec![FORM, tree.as_str(), view.as_str(), included.as_str()];
        inputs.extend(commands.iter().map(String::as_str));
        Ok(self.setups().join(digest::hex(&inputs, NAME_DIGITS)))
    }

    /// Puts what the commands made before into a workspace, if it is known.
    pub(super) fn recall_setup(&self, place: &Place, commands: &[String]) -> Result<bool, Error> {
        let folder = self.setup(place, commands)?;
        // As long as this is held, none of them goes.
        let _together = turn::together(&self.folders.state)?;
        let list = folder.join(LIST);
        let Some(kit) = record::read::<Kit>(&list)? else {
            return Ok(false);
        };
        // Only the order of these matters, and losing it costs a set-up at worst.
        drop(File::open(&list).and_then(|file| file.set_modified(SystemTime::now())));
        for path in &kit.folders {
            let to = below(&place.root, path);
            fs::create_dir_all(&to).map_err(Error::files("making", &to))?;
        }
        let mut made = Vec::new();
        for path in kit.files {
            let to = below(&place.root, &path);
            plain::put(&below(&folder.join("files"), &path), &to)?;
            let found = fs::symlink_metadata(&to).map_err(Error::files("reading", &to))?;
            made.push((path, Entry::of(&found)));
        }
        self.note_included(place, made)?;
        self.date_top(&self.folders.known(place)?)?;
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
        self.date_top(&known)?;
        let is_whole = changes.too_long.is_empty() && !changes.incomplete;
        let only_new = is_whole && changes.modified.is_empty() && changes.removed.is_empty();
        let folder = self.setup(place, commands)?;
        if !only_new || changes.added.len() > MAX_FILES || folder.exists() {
            // Whatever changed files of the base has to be done in each workspace.
            return Ok(());
        }
        let folders = self.empty_folders(&known, &changes.added)?;
        let is_nothing = changes.added.is_empty() && folders.is_empty();
        // What made nothing was for something that files do not show, and what is in the
        // workspace's repository is not copied.
        if is_nothing || !self.is_untouched(place) || told_apart::is_its_own(place, &changes.added)
        {
            return Ok(());
        }
        let fresh = self.setups().join(format!("{}.new", record::fresh()));
        for path in &changes.added {
            plain::put(&below(&place.root, path), &below(&fresh.join("files"), path))?;
        }
        record::write(&fresh.join(LIST), &Kit { files: changes.added, folders })?;
        if fs::rename(&fresh, &folder).is_err() {
            // Somebody was faster.
            self.folders.discard(&fresh)?;
        }
        self.drop_old_setups()
    }

    /// Whether the repository of a workspace is as it was made, settings, rules, hooks and names.
    /// Git itself writes an index and objects now and then.
    fn is_untouched(&self, place: &Place) -> bool {
        let folder = place.root.join(".git");
        let mut entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let are_known = entries.all(|entry| {
            let name = entry.file_name();
            EXPECTED.iter().any(|expected| name == *expected)
        });
        let has_names = fs::read_dir(folder.join("refs")).is_ok_and(|mut all| all.next().is_some());
        let head = fs::read_to_string(folder.join("HEAD")).unwrap_or_default();
        let branch = head.trim_end().strip_prefix("ref: refs/heads/").unwrap_or_default();
        let given = own::packed((branch, &place.base), &self.lent_names());
        let has_given = fs::read(folder.join("packed-refs")).is_ok_and(|it| it == given.as_bytes());
        let config = fs::read_to_string(folder.join("config")).unwrap_or_default();
        let is_ours = own::configurations(&self.user, PROGRAM).contains(&config);
        let local = self.user.local();
        let has_rules =
            local.iter().all(|(name, bytes)| fs::read(folder.join(name)).ok() == *bytes);
        are_known && !has_names && has_given && is_ours && has_rules
    }

    /// Folders of a workspace that hold neither files of the base nor any of these.
    fn empty_folders(&self, made: &Made, added: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error> {
        let root = &made.place.root;
        let shared: Vec<PathBuf> = made.shared.iter().map(|name| root.join(name)).collect();
        let walked = walk(root, &shared, Locked::Leave).map_err(Error::files("reading", root))?;
        let index = self.folders.own(&made.place.attempt).join("index");
        let base = Listing::read(&index, self.user.hash_bytes)?;
        let added: BTreeSet<&[u8]> = added.iter().map(Vec::as_slice).collect();
        let is_empty = |folder: &Vec<u8>| {
            let inside = [folder, b"/".as_slice()].concat();
            let next = added.range(inside.as_slice()..).next();
            let has_added = next.is_some_and(|path| path.starts_with(&inside));
            let is_link = base.find(folder, 0..base.len()).is_some();
            !has_added && !is_link && base.beginning(&inside, 0..base.len()).is_empty()
        };
        Ok(walked.without_long_paths().folders.into_iter().filter(is_empty).collect())
    }

    /// Those that are kept, the last used ones first.
    fn kept_setups(&self) -> Vec<(SystemTime, PathBuf)> {
        let entries = fs::read_dir(self.setups()).into_iter().flatten().flatten();
        let whole = entries.map(|entry| entry.path()).filter(|path| path.extension().is_none());
        let mut all: Vec<_> = whole.map(|path| (written(&path.join(LIST)), path)).collect();
        all.sort_by(|one, other| other.cmp(one));
        all
    }

    fn drop_old_setups(&self) -> Result<(), Error> {
        // While somebody is at one of them, the next who makes one can see to it.
        let Some(_alone) = turn::alone_now(&self.folders.state)? else { return Ok(()) };
        for (_, path) in self.kept_setups().into_iter().skip(MAX_KEPT) {
            self.folders.discard(&path)?;
        }
        Ok(())
    }

    /// What set-ups have made, as something that could go.
    pub(super) fn spare_setups(&self) -> impl Iterator<Item = Spare> {
        let kept = self.kept_setups().into_iter();
        kept.map(|(since, path)| Spare { bytes: weight(&path), since, path })
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
