//! New files that the project ignores: they are no work, save those that the child has put
//! under git's care all the same.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use super::super::changes::Changes;
use super::super::git::complaint;
use super::super::index::Listing;
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
        let mut bytes = Vec::new();
        let file = wary::open(&folder.join("index")).ok();
        let read = file.and_then(|file| file.take(MAX_INDEX_BYTES).read_to_end(&mut bytes).ok());
        if let Some(listing) = read.and_then(|_| Listing::of(bytes, self.user.hash_bytes)) {
            ignored.retain(|path| listing.find(path, 0..listing.len()).is_none());
        }
    }
}
