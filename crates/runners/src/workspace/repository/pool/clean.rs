//! Making a used checkout as good as new, wherever it lies: only what is not as git wrote
//! it is written again.
//!
//! It can be broken off anywhere and begun anew: what was not finished is not as the
//! index says, and goes like anything else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::super::changes::settle;
use super::super::super::folders::{Moment, gone};
use super::super::super::git::{Call, Git, Trust};
use super::super::super::index::{self, Listing};
use super::super::super::scrub::{are_there, scrub};
use super::super::super::{Error, record};

/// What is on record about a checkout that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pooled {
    pub(super) commit: String,
    pub(super) view: String,
    pub(super) settled: Moment,
}

impl Pooled {
    /// The record of a checkout; none if there is none that can be read.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        record::read(&folder.join("pooled.json")).ok().flatten()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        record::write(&folder.join("pooled.json"), self)
    }
}

/// All that cleaning takes, for whoever does it.
#[derive(Clone, Debug)]
pub(in super::super) struct Cleaner {
    pub(in super::super) git: Arc<Git>,
    pub(in super::super) hub: PathBuf,
    pub(in super::super) objects: PathBuf,
    pub(in super::super) hash_bytes: usize,
}

impl Cleaner {
    /// Makes a checkout clean; since when nothing in it has changed.
    pub(super) fn clean(&self, folder: &Path) -> Result<Moment, Error> {
        let (files, index) = (folder.join("files"), folder.join("index"));
        let unknown = || Error::Unknown { what: "checkout", id: "pooled".into() };
        let mut pooled = Pooled::of(folder).ok_or_else(unknown)?;
        // Left by a git that was killed; nobody else is here.
        let lock = folder.join("index.lock");
        gone(&lock).map_err(Error::files("removing", &lock))?;
        let mut listed = Listing::read(&index, self.hash_bytes)?;
        let missing = scrub(&files, &listed, pooled.settled);
        let missing = missing.map_err(Error::files("cleaning", &files))?;
        if !missing.is_empty() {
            let input = missing.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
            let call = self.on_pooled("checkout-index", folder).unhurried();
            call.args(["-f", "-u", "-z", "--stdin"]).input(input).run()?;
            listed = Listing::read(&index, self.hash_bytes)?;
            pooled.settled = settle(&index, &folder.join("clock"), listed.times().newest)?;
            if !are_there(&files, &missing, (&listed, pooled.settled)) {
                return Err(unknown());
            }
        }
        self.lay_out(folder, (&mut pooled, listed.times()))
    }

    /// Brings a clean checkout to another commit.
    pub(super) fn bring(&self, folder: &Path, commit: &str) -> Result<Moment, Error> {
        let unknown = || Error::Unknown { what: "checkout", id: "pooled".into() };
        let mut pooled = Pooled::of(folder).ok_or_else(unknown)?;
        let call = self.on_pooled("read-tree", folder).unhurried();
        call.args(["-m", "-u", &pooled.commit, commit]).run()?;
        let index = folder.join("index");
        let times = index::times(&index, self.hash_bytes)?;
        pooled.settled = settle(&index, &folder.join("clock"), times.newest)?;
        commit.clone_into(&mut pooled.commit);
        self.lay_out(folder, (&mut pooled, times))
    }

    /// Gets the rest ready, so that whoever takes the checkout only has to move it.
    fn lay_out(
        &self,
        folder: &Path,
        (pooled, times): (&mut Pooled, index::Times),
    ) -> Result<Moment, Error> {
        let index = folder.join("index");
        index::ripen(&index, times.second)?;
        // The next child gets one of its own: what it does to it is nothing to us.
        index::copy(&index, &folder.join("theirs"))?;
        pooled.write(folder)?;
        Ok(pooled.settled)
    }

    /// A command on a pooled checkout.
    fn on_pooled(&self, name: &str, folder: &Path) -> Call<'_> {
        let files = folder.join("files");
        let call = self.git.call(name, Trust::Repository).env("GIT_DIR", &self.hub);
        let call = call.env("GIT_OBJECT_DIRECTORY", &self.objects);
        let call = call.env("GIT_INDEX_FILE", folder.join("index"));
        call.env("GIT_WORK_TREE", &files).within(&files)
    }
}
