//! Checkouts that are used again: cleaned, and brought to the next base.
//!
//! A workspace that goes leaves its files here. They are cleaned in the background,
//! and looked at once more before anybody gets them, so that what a process
//! did which should long have ended is not handed on either.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use legation_core::digest;

use super::super::changes::settle;
use super::super::custody::{weight, written};
use super::super::folders::{Laid, Made, Moment};
use super::super::git::{Call, Trust};
use super::super::index::Index;
use super::super::scrub::scrub;
use super::super::{Error, Spare, record};
use super::Repository;
use super::lay::Site;

/// Checkouts that are kept for later.
const MAX_POOLED: usize = 8;
/// The digits that tell apart checkouts under different settings.
const VIEW_DIGITS: usize = 8;

/// A checkout that waits for its next use.
#[derive(Debug, Serialize, Deserialize)]
struct Pooled {
    commit: String,
    view: String,
    settled: Moment,
}

impl Repository {
    fn pool(&self) -> PathBuf {
        self.folders.state.join("pool")
    }

    fn view(&self) -> String {
        digest::hex(&[&self.user.view()], VIEW_DIGITS)
    }

    /// Folders of the pool that are whole.
    fn pooled(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.pool()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_none()).collect()
    }

    /// Checkouts of the pool, as something that could go.
    pub(super) fn pooled_spares(&self) -> Vec<Spare> {
        let spare = |path: PathBuf| {
            let since = written(&path.join("pooled.json"));
            Spare { bytes: weight(&path), since, path }
        };
        self.pooled().into_iter().map(spare).collect()
    }

    /// Puts the files of a workspace into the pool, if they came from there or may go there.
    pub(super) fn put_into_pool(&self, made: &Made) -> Result<(), Error> {
        let root = &made.place.root;
        let is_folder = fs::symlink_metadata(root).is_ok_and(|found| found.is_dir());
        let is_near = self.folders.homes.is_near(&self.folders.state);
        if made.laid != Laid::Pool || !is_folder || !is_near || self.pooled().len() >= MAX_POOLED {
            return Ok(());
        }
        let name = record::fresh();
        let fresh = self.pool().join(format!("{name}.new"));
        fs::create_dir_all(&fresh).map_err(Error::files("making", &fresh))?;
        let index = fresh.join("index");
        let own = self.folders.own(&made.place.attempt).join("index");
        fs::hard_link(&own, &index).map_err(Error::files("writing", &index))?;
        let files = fresh.join("files");
        fs::rename(root, &files).map_err(Error::files("moving", root))?;
        let (commit, settled) = (made.place.base.clone(), made.settled);
        record::write(&fresh.join("pooled.json"), &Pooled { commit, view: self.view(), settled })?;
        let folder = self.pool().join(name);
        fs::rename(&fresh, &folder).map_err(Error::files("moving", &fresh))?;
        let hash_bytes = self.user.hash_bytes;
        self.folders.later(move || {
            // Whoever takes it cleans it again; here it only saves them time.
            if let Ok(index) = Index::read(&folder.join("index"), hash_bytes) {
                drop(scrub(&folder.join("files"), &index, settled));
            }
        });
        Ok(())
    }

    /// Fills a workspace from the pool; `None` if there is nothing in it that can be used.
    pub(super) fn take_from_pool(&self, site: &Site<'_>) -> Result<Option<Moment>, Error> {
        if !self.folders.homes.is_near(&self.folders.state) {
            // They could only be copied there, which is no faster than writing them.
            return Ok(None);
        }
        let claimed = self.folders.own(&site.place.attempt).join("claimed");
        let mut found: Vec<(bool, PathBuf)> = Vec::new();
        for folder in self.pooled() {
            if let Ok(Some(pooled)) = record::read::<Pooled>(&folder.join("pooled.json"))
                && pooled.view == self.view()
            {
                found.push((pooled.commit != site.place.base, folder));
            }
        }
        // Those that need no other files come first.
        found.sort();
        for (_, folder) in found {
            // Somebody else may have been faster.
            if fs::rename(&folder, &claimed).is_err() {
                continue;
            }
            match self.ready(&claimed, site) {
                Ok(()) => return self.move_in(&claimed, site).map(Some),
                // It is of no use to anybody, but a checkout always is.
                Err(_) => self.folders.discard(&claimed)?,
            }
        }
        Ok(None)
    }

    /// Brings a checkout to the base that is wanted, and nothing else in it.
    fn ready(&self, folder: &Path, site: &Site<'_>) -> Result<(), Error> {
        let (files, index) = (folder.join("files"), folder.join("index"));
        let record = folder.join("pooled.json");
        let unknown = || Error::Unknown { what: "checkout", id: "pooled".into() };
        let pooled: Pooled = record::read(&record)?.ok_or_else(unknown)?;
        let mut listed = Index::read(&index, self.user.hash_bytes)?;
        let mut settled = pooled.settled;
        let mut missing =
            scrub(&files, &listed, settled).map_err(Error::files("cleaning", &files))?;
        if !missing.is_empty() {
            let input = missing.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
            let call = self.on_pooled("checkout-index", folder).args(["-f", "-u", "-z", "--stdin"]);
            call.input(input).run()?;
            listed = Index::read(&index, self.user.hash_bytes)?;
            settled = settle(&index, &folder.join("clock"), listed.newest())?;
            missing = scrub(&files, &listed, settled).map_err(Error::files("cleaning", &files))?;
        }
        if !missing.is_empty() {
            return Err(unknown());
        }
        if pooled.commit != site.place.base {
            let call = self.on_pooled("read-tree", folder);
            call.args(["-m", "-u", &pooled.commit, &site.place.base]).run()?;
        }
        Ok(())
    }

    fn move_in(&self, folder: &Path, site: &Site<'_>) -> Result<Moment, Error> {
        let root = &site.place.root;
        if let Some(above) = root.parent() {
            fs::create_dir_all(above).map_err(Error::files("making", above))?;
        }
        fs::rename(folder.join("files"), root).map_err(Error::files("moving", root))?;
        let index = self.folders.own(&site.place.attempt).join("index");
        fs::rename(folder.join("index"), &index).map_err(Error::files("moving", &index))?;
        self.equip(site)?;
        self.share_index(site.place)
    }

    /// Clears what a crash left of checkouts on their way into the pool.
    pub(super) fn clear_pool(&self) -> Result<(), Error> {
        for entry in fs::read_dir(self.pool()).into_iter().flatten().flatten() {
            if entry.path().extension().is_some() {
                self.folders.discard(&entry.path())?;
            }
        }
        Ok(())
    }

    /// A command on a pooled checkout.
    fn on_pooled(&self, name: &str, folder: &Path) -> Call<'_> {
        let files = folder.join("files");
        let call = self.git.call(name, Trust::Repository).env("GIT_DIR", &self.hub);
        let call = call.env("GIT_OBJECT_DIRECTORY", &self.user.objects);
        let call = call.env("GIT_INDEX_FILE", folder.join("index"));
        call.env("GIT_WORK_TREE", &files).within(&files)
    }
}
