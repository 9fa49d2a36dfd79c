//! New files that the project ignores: they are no work, save those that the child has put
//! under git's care all the same.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::changes::Changes;
use super::super::git::complaint;
use super::super::index::Listing;
use super::super::walk::below;
use super::super::{Error, Place};
use super::history::{History, own_repository};
use super::{Ground, Repository};
use crate::wary;

/// The largest index of a child that is read.
const MAX_INDEX_BYTES: u64 = 256 * 1024 * 1024;

impl Repository {
    /// Leaves out those of a workspace.
    pub(super) fn drop_ignored(
        &self,
        place: &Place,
        history: Option<&History>,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        let mut ignored = self.ignored(&self.ground(place), changes)?;
        if ignored.is_empty() {
            return Ok(());
        }
        if let Some(folder) = own_repository(place) {
            self.heed(&folder, &mut ignored);
        }
        if let Some(history) = history.filter(|history| !history.commits.is_empty()) {
            let call = self.on_objects("diff-tree").args(["-r", "-z", "--name-only"]);
            let said = call.args([&place.base, &history.head]).run()?;
            for path in said.split(|byte| *byte == 0) {
                ignored.remove(path);
            }
        }
        changes.added.retain(|path| !ignored.contains(path));
        Ok(())
    }

    /// Leaves out those of a submodule.
    pub(super) fn drop_ignored_in(
        &self,
        ground: &Ground,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        let mut ignored = self.ignored(ground, changes)?;
        if !ignored.is_empty() {
            self.heed(&ground.root.join(".git"), &mut ignored);
        }
        changes.added.retain(|path| !ignored.contains(path));
        Ok(())
    }

    /// Looks at the files of a checkout, and once more without the folders that the project
    /// ignores where not all could be looked at: what is no work is no reason to keep none.
    pub(super) fn looked_at(
        &self,
        ground: &Ground,
        look: impl Fn(&[PathBuf]) -> Result<Option<Changes>, Error>,
    ) -> Result<Option<Changes>, Error> {
        match look(&[])? {
            Some(changes) if changes.incomplete => look(&self.ignored_folders(ground)?),
            other => Ok(other),
        }
    }

    /// Folders that the project ignores, save those with files under the child's git's care.
    fn ignored_folders(&self, ground: &Ground) -> Result<Vec<PathBuf>, Error> {
        let call = self.on_ground("ls-files", ground).args(["-z", "--others", "--ignored"]);
        let said = call.args(["--exclude-standard", "--directory"]).unhurried().run()?;
        let theirs = self.listed_by_child(&ground.root.join(".git"));
        let has_theirs = |folder: &[u8]| {
            let listed = |listing: &Listing| listing.beginning(folder, 0..listing.len());
            theirs.as_ref().is_some_and(|listing| !listed(listing).is_empty())
        };
        let folders = said.split(|byte| *byte == 0).filter(|path| path.ends_with(b"/"));
        let folders = folders.filter(|folder| !has_theirs(folder));
        let named = folders.filter_map(|folder| folder.strip_suffix(b"/"));
        Ok(named.map(|folder| below(&ground.root, folder)).collect())
    }

    /// The new files that the project ignores.
    fn ignored(&self, ground: &Ground, changes: &Changes) -> Result<HashSet<Vec<u8>>, Error> {
        if changes.added.is_empty() {
            return Ok(HashSet::new());
        }
        // A name may begin like a pattern; behind a folder it is only a name.
        let named = changes.added.iter().flat_map(|path| [b"./", path.as_slice(), b"\0"].concat());
        let call = self.on_ground("check-ignore", ground).args(["-z", "--stdin"]);
        let said = call.input(named.collect()).ask()?;
        if said.code > 1 {
            return Err(complaint("check-ignore", &said));
        }
        let ignored = said.out.split(|byte| *byte == 0);
        Ok(ignored.filter_map(|path| Some(path.strip_prefix(b"./")?.to_vec())).collect())
    }

    /// Takes out what the child's own index lists. Nothing else of it is believed.
    fn heed(&self, folder: &Path, ignored: &mut HashSet<Vec<u8>>) {
        if let Some(listing) = self.listed_by_child(folder) {
            ignored.retain(|path| listing.find(path, 0..listing.len()).is_none());
        }
    }

    /// The index in a child's repository, if it can be understood.
    fn listed_by_child(&self, folder: &Path) -> Option<Listing> {
        let mut bytes = Vec::new();
        let file = wary::open(&folder.join("index")).ok()?;
        file.take(MAX_INDEX_BYTES).read_to_end(&mut bytes).ok()?;
        Listing::of(bytes, self.user.hash_bytes)
    }
}
