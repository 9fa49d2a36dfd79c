//! Checkouts that are used again: cleaned, and brought to the next base.
//!
//! A workspace that goes leaves its files here. They are cleaned in the background, so
//! that taking one is mostly a matter of moving it. One that this process has not cleaned
//! itself is cleaned by whoever takes it. Nobody is told of the folder, and no
//! attempt may read it.

mod clean;
mod shelf;

use std::fs;
use std::path::{Path, PathBuf};

use legation_core::digest;

use super::super::custody::{weight, written};
use super::super::folders::{Laid, Made, Moment};
use super::super::{Error, Spare, record, turn};
use super::Repository;
use super::lay::Site;
pub(super) use clean::Cleaner;
use clean::Pooled;
pub(super) use shelf::Shelf;
use shelf::{BUSY, Stage, Waiting};

/// Checkouts that are kept for later.
const MAX_POOLED: usize = 8;
/// The digits that tell apart checkouts under different settings.
const VIEW_DIGITS: usize = 8;
/// How a checkout is called that is on its way into the pool.
const NEW: &str = "new";

impl Repository {
    fn pool(&self) -> PathBuf {
        self.folders.state.join("pool")
    }

    fn view(&self) -> String {
        digest::hex(&[&self.user.view()], VIEW_DIGITS)
    }

    /// Folders of the pool, by what they are called.
    fn pooled(&self, is_meant: impl Fn(Option<&str>) -> bool) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.pool()).into_iter().flatten().flatten();
        let ending = |path: &PathBuf| {
            is_meant(path.extension().map(|ending| ending.to_string_lossy()).as_deref())
        };
        entries.map(|entry| entry.path()).filter(ending).collect()
    }

    /// Checkouts of the pool, as something that could go.
    pub(super) fn pooled_spares(&self) -> Vec<Spare> {
        let spare = |path: PathBuf| {
            let since = written(&path.join("pooled.json"));
            Spare { bytes: weight(&path), since, path: path.with_extension("") }
        };
        self.pooled(|ending| ending != Some(NEW)).into_iter().map(spare).collect()
    }

    /// Drops a checkout of the pool, even while it is being cleaned; `false` if it is none.
    /// Whoever has taken it has given it another name.
    pub(super) fn drop_pooled(&self, path: &Path) -> Result<bool, Error> {
        if path.parent() != Some(&self.pool()) {
            return Ok(false);
        }
        self.folders.discard(path)?;
        self.folders.discard(&path.with_extension(BUSY))?;
        Ok(true)
    }

    /// Puts the files of a workspace into the pool, if they came from there or may go there.
    pub(super) fn put_into_pool(&self, made: &Made) -> Result<(), Error> {
        let root = &made.place.root;
        let is_folder = fs::symlink_metadata(root).is_ok_and(|found| found.is_dir());
        let is_near = self.folders.homes.is_near(&self.folders.state);
        if made.laid != Laid::Pool || !is_folder || !is_near {
            return Ok(());
        }
        if self.pooled(|ending| ending != Some(NEW)).len() >= MAX_POOLED {
            return Ok(());
        }
        let _turn = turn::together(&self.folders.state)?;
        let folder = self.pool().join(record::fresh());
        let fresh = folder.with_extension(NEW);
        fs::create_dir_all(&fresh).map_err(Error::files("making", &fresh))?;
        let index = fresh.join("index");
        let own = self.folders.own(&made.place.attempt).join("index");
        fs::hard_link(&own, &index).map_err(Error::files("writing", &index))?;
        let files = fresh.join("files");
        fs::rename(root, &files).map_err(Error::files("moving", root))?;
        let (commit, settled) = (made.place.base.clone(), made.settled);
        Pooled { commit, view: self.view(), settled }.write(&fresh)?;
        fs::rename(&fresh, &folder).map_err(Error::files("moving", &fresh))?;
        self.shelf.put(&folder, (&self.cleaner, &self.folders.state));
        Ok(())
    }

    /// Fills a workspace from the pool; `None` if there is nothing in it that can be used.
    pub(super) fn take_from_pool(&self, site: &Site<'_>) -> Result<Option<Moment>, Error> {
        if !self.folders.homes.is_near(&self.folders.state) {
            // They could only be copied there, which is no faster than writing them.
            return Ok(None);
        }
        for folder in self.pooled(|ending| ending.is_none()) {
            // What an earlier process left is looked at when the first one is wanted.
            self.shelf.put(&folder, (&self.cleaner, &self.folders.state));
        }
        let (base, view) = (&site.place.base, self.view());
        let claimed = self.folders.own(&site.place.attempt).join("claimed");
        while let Some(waiting) = self.shelf.pick(base, &view) {
            let stage = waiting.taken();
            // Another process may have been faster.
            if stage == Stage::Gone || fs::rename(&waiting.folder, &claimed).is_err() {
                continue;
            }
            match self.ready(&claimed, (&waiting, stage), base) {
                Ok(settled) => {
                    self.move_in(&claimed, site)?;
                    return Ok(Some(settled));
                }
                // It is of no use to anybody, but a checkout always is.
                Err(_) => self.folders.discard(&claimed)?,
            }
        }
        Ok(None)
    }

    /// Brings a checkout to the base that is wanted, and nothing else in it; since when
    /// nothing in it has changed.
    fn ready(
        &self,
        folder: &Path,
        (waiting, stage): (&Waiting, Stage),
        base: &str,
    ) -> Result<Moment, Error> {
        let settled = match stage {
            Stage::Clean(settled) => settled,
            Stage::Used | Stage::Gone => self.cleaner.clean(folder)?,
        };
        if waiting.commit == base { Ok(settled) } else { self.cleaner.bring(folder, base) }
    }

    fn move_in(&self, folder: &Path, site: &Site<'_>) -> Result<(), Error> {
        let root = &site.place.root;
        if let Some(above) = root.parent() {
            fs::create_dir_all(above).map_err(Error::files("making", above))?;
        }
        let ours = self.folders.own(&site.place.attempt).join("index");
        let moved = |from: &str, to: &Path| {
            fs::rename(folder.join(from), to).map_err(Error::files("moving", to))
        };
        moved("files", root)?;
        moved("index", &ours)?;
        self.equip(site)?;
        moved("theirs", &root.join(".git/index"))
    }

    /// Clears what a crash left of checkouts on their way into the pool. Those that were
    /// being cleaned wait again, to be cleaned from the beginning.
    pub(super) fn clear_pool(&self) -> Result<(), Error> {
        for folder in self.pooled(|ending| ending.is_some()) {
            let was_busy = folder.extension().is_some_and(|ending| ending == BUSY);
            if !was_busy || fs::rename(&folder, folder.with_extension("")).is_err() {
                self.folders.discard(&folder)?;
            }
        }
        Ok(())
    }
}
