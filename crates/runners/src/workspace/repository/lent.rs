//! What workspaces may read of the user's objects: a store of ours, in which is all that the
//! user's own commits need, and nothing that attempts have left.
//!
//! It begins as the user's own packs under a second name, as long as nothing of ours can be
//! among them, and grows by what the user's names bring before somebody begins. Whoever
//! starts from a commit of ours gets what that needs into a repository of its own.

mod names;
mod packing;
mod store;

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use legation_core::digest;
use serde::{Deserialize, Serialize};

use super::super::custody::weight;
use super::super::{Error, Place, record};
use super::super::{folders, home};
use super::{Repository, own};
use names::Named;
use packing::{Packed, Wanted};

/// Commits that are remembered, and no more of those that cannot be had.
const MAX_TIPS: usize = 2048;
/// How what is not yet a store ends.
const NEW: &str = "lent";
/// What the store may take on the disk in any case, and how many times what the user's own
/// objects take. What it has as well as the user counts half.
const ALWAYS_FINE_BYTES: u64 = 256 * 1024 * 1024;
const MOST_TIMES: u64 = 2;
/// The digits that tell one beginning of the user's history, or one repository, from another.
const DIGITS: usize = 16;

/// What is known of the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stock {
    /// Commits of which it has everything that there is, the last ones first.
    tips: Vec<String>,
    /// Those of which it has the files alone.
    #[serde(default)]
    files_only: Vec<String>,
    /// Those that nobody can follow to their beginning.
    #[serde(default)]
    damaged: Vec<String>,
    /// Where the user's history begins, if not at its beginning.
    shallow: String,
}

impl Stock {
    fn add(&mut self, packed: Packed) {
        let Packed { whole, files_only, damaged } = packed;
        let all = [&mut self.tips, &mut self.files_only, &mut self.damaged];
        for (all, more) in all.into_iter().zip([whole, files_only, damaged]) {
            all.splice(..0, more);
            all.truncate(MAX_TIPS);
        }
    }

    /// Commits that it has the files of.
    fn there(&self) -> Vec<String> {
        [&*self.tips, &*self.files_only].concat()
    }
}

impl Repository {
    /// The store, as a folder of objects.
    pub(super) fn lent(&self) -> PathBuf {
        self.folders.state.join("lent")
    }

    /// Lends what the user has checked out and what the user's names hold, with all that they
    /// need.
    pub(super) fn lend(&self, head: Option<&str>) -> Result<(), Error> {
        let _alone = self.lending.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = self.lent();
        let named = self.users_names()?;
        let mut stock = self.stock();
        let there = stock.there();
        let known: HashSet<&str> = there.iter().chain(&stock.damaged).map(String::as_str).collect();
        let wanted: BTreeSet<&str> =
            named.values().map(String::as_str).filter(|id| !known.contains(id)).collect();
        let head = head.filter(|head| !there.iter().any(|tip| tip == head));
        let wanted = Wanted::new(head, wanted);
        if !lent.is_dir() {
            return self.found(&wanted, &named, stock);
        }
        self.link_promised(&lent)?;
        if !wanted.all.is_empty() {
            // Where the user's history begins may have changed since it was last written.
            own::write(&self.hub, &self.user)?;
            stock.add(self.pack(&lent, &wanted, &stock.tips)?);
            // Many packs are slow to look through, and no more than that.
            drop(self.join_packs(&lent));
            record::write(&lent.join("stock.json"), &stock)?;
        }
        Self::write_names(&lent, (&named, &stock.there()))
    }

    /// Commits of the user's that workspaces have anyway.
    pub(super) fn lent_commits(&self) -> Vec<String> {
        self.stock().there()
    }

    /// Gives a workspace what a commit needs and the store does not have, into the child's
    /// own repository.
    pub(super) fn give(&self, place: &Place, commit: &str) -> Result<(), Error> {
        let lent = self.lent();
        if !lent.is_dir() {
            // Somebody has deleted it.
            self.lend(self.user_head()?.as_deref())?;
        }
        let stock = self.stock();
        if stock.there().iter().any(|tip| tip == commit) {
            return Ok(());
        }
        let mut known = stock.tips;
        if place.base != commit {
            known.push(place.base.clone());
        }
        // It may build on what was fetched since.
        self.link_promised(&lent)?;
        let own = self.folders.own(&place.attempt);
        let fresh = own.join(format!("{}.given", record::fresh()));
        store::make(&fresh)?;
        let handed = self
            .pack(&fresh, &Wanted::new(Some(commit), []), &known)
            .and_then(|_| store::hand_over(&fresh.join("pack"), &place.root.join(".git")));
        folders::gone(&fresh).map_err(Error::files("removing", &fresh))?;
        handed
    }

    /// Has the user's repository have what work builds on, should the user's own git have thrown
    /// it away meanwhile. Answers with what nobody has any more.
    pub(super) fn hold(&self, base: &str, onto: &[String]) -> Result<Vec<String>, Error> {
        let head = self.user_head()?;
        let all = onto.iter().map(String::as_str).chain([base]);
        let all: BTreeSet<&str> = all.filter(|id| head.as_deref() != Some(id)).collect();
        let all: Vec<String> = all.into_iter().map(str::to_owned).collect();
        let objects = self.user.objects.as_path();
        let there = self.those_in(&[objects], &all)?;
        let gone: Vec<&str> =
            all.iter().filter(|id| !there.contains(*id)).map(String::as_str).collect();
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let named: Vec<String> = self.users_names()?.into_values().chain(head).collect();
        let fresh = self.folders.state.join(format!("{}.{NEW}", record::fresh()));
        store::make(&fresh)?;
        let wanted = Wanted::new(None, gone);
        let packed = self.pack(&fresh, &wanted, &named).and_then(|packed| {
            let indexes = store::files(&fresh.join("pack"), "idx").into_iter();
            let mut linked = indexes.map(|index| store::link_or_copy(&index, objects));
            linked.try_for_each(|linked| linked.map_err(Error::files("writing", objects)))?;
            Ok(packed.whole)
        });
        folders::gone(&fresh).map_err(Error::files("removing", &fresh))?;
        let whole = packed?;
        Ok(wanted.all.into_iter().filter(|id| !whole.contains(id)).collect())
    }

    /// Clears what a crash left of the store, and the store itself once it has grown out of
    /// proportion. What was damaged may be whole again.
    pub(super) fn clear_lent(&self) -> Result<(), Error> {
        for entry in fs::read_dir(&self.folders.state).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == NEW) {
                self.folders.discard(&entry.path())?;
            }
        }
        let lent = self.lent();
        let bytes = weight(&lent);
        let is_large =
            bytes > ALWAYS_FINE_BYTES && bytes.div_euclid(MOST_TIMES) > weight(&self.user.objects);
        if is_large && self.folders.list()?.is_empty() {
            return self.folders.discard(&lent);
        }
        let stock = self.stock();
        if !stock.damaged.is_empty() || !stock.files_only.is_empty() {
            let stock = Stock { tips: stock.tips, shallow: stock.shallow, ..Stock::default() };
            record::write(&lent.join("stock.json"), &stock)?;
        }
        store::clear(&lent)
    }

    /// What is known of the store, as far as it still holds. What cannot be read is found out
    /// again.
    fn stock(&self) -> Stock {
        let stock: Option<Stock> =
            record::read(&self.lent().join("stock.json")).unwrap_or_default();
        let begins = fs::read_to_string(self.user.common_dir.join("shallow")).unwrap_or_default();
        let shallow = digest::hex(&[&*begins], DIGITS);
        let now = stock.filter(|stock| stock.shallow == shallow);
        now.unwrap_or(Stock { shallow, ..Stock::default() })
    }

    /// Makes the store: beside its place first, so that it is there whole or not at all.
    fn found(&self, wanted: &Wanted, named: &Named, mut stock: Stock) -> Result<(), Error> {
        own::write(&self.hub, &self.user)?;
        let lent = self.lent();
        let fresh = self.folders.state.join(format!("{}.{NEW}", record::fresh()));
        store::make(&fresh)?;
        let made = self.take_all(&fresh, wanted).and_then(|packed| {
            stock.add(packed);
            record::write(&fresh.join("stock.json"), &stock)?;
            Self::write_names(&fresh, (named, &stock.there()))?;
            let common = self.common();
            fs::create_dir_all(&common).map_err(Error::files("making", &common))?;
            let used = self.used();
            File::create(&used).map_err(Error::files("writing", &used))?;
            fs::rename(&fresh, &lent).map_err(Error::files("writing", &lent))
        });
        match made {
            Ok(()) => Ok(()),
            // Somebody else was faster, or it has failed: in neither case it is of use.
            Err(error) => {
                folders::gone(&fresh).map_err(Error::files("removing", &fresh))?;
                if lent.is_dir() { Ok(()) } else { Err(error) }
            }
        }
    }

    /// Fills a store that has nothing yet.
    fn take_all(&self, fresh: &Path, wanted: &Wanted) -> Result<Packed, Error> {
        // Somebody may have begun to work here meanwhile.
        if self.has_nothing_of_ours()? && self.link_all(fresh)? && self.has_nothing_of_ours()? {
            let there = self.those_in(&[fresh], &wanted.all)?;
            if wanted.head.as_ref().is_none_or(|head| there.contains(head)) {
                return Ok(Packed { whole: there.into_iter().collect(), ..Packed::default() });
            }
        }
        folders::gone(fresh).map_err(Error::files("removing", fresh))?;
        store::make(fresh)?;
        self.link_promised(fresh)?;
        self.pack(fresh, wanted, &[])
    }

    /// Whether nothing that attempts have left can be among the user's objects.
    fn has_nothing_of_ours(&self) -> Result<bool, Error> {
        // What the user borrows is somebody else's to look after, and may go.
        if self.user.objects.join(own::ALTERNATES).exists() || self.used().exists() {
            return Ok(false);
        }
        self.has_no_names_of_ours()
    }

    /// The file that says that attempts have worked in this repository, for whatever project of
    /// the user's and however long ago: names may be gone while objects are still there.
    fn used(&self) -> PathBuf {
        self.common().join("used")
    }

    /// What the projects of a user have in common that are in this repository.
    pub(super) fn common(&self) -> PathBuf {
        let repository = digest::hex(&[&*self.user.common_dir.to_string_lossy()], DIGITS);
        home::shared(&self.folders.state).join("repositories").join(repository)
    }
}
