//! What workspaces may read of the user's objects: a store of ours, in which is all that the
//! commits need that somebody has begun from, and nothing that attempts have left.
//!
//! It begins as the user's own packs under a second name, as long as nothing of ours can be
//! among them, and grows by what the next commit brings that somebody begins from. Whoever
//! starts from a commit of ours gets what that needs into a repository of its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use legation_core::digest;
use serde::{Deserialize, Serialize};

use super::super::folders::gone;
use super::super::git::Trust;
use super::super::{Error, Place, record};
use super::bring::replace;
use super::works::{KEPT, RESULTS};
use super::{MAX_ROUNDS, Repository, own};

/// Commits that are remembered as whole; one that is not is only looked at again.
const MAX_TIPS: usize = 32;
/// Packs that the store may have before the small ones are made one.
const MAX_PACKS: usize = 50;
/// The largest packs, which stay as they are then.
const LARGE: usize = 10;
/// How what is not yet a store ends.
const NEW: &str = ".lent";
/// The digits that tell one beginning of the user's history from another.
const SHALLOW_DIGITS: usize = 16;

/// What is known of the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stock {
    /// Commits of which it has everything, the last one first.
    tips: Vec<String>,
    /// Where the user's history begins, if not at its beginning.
    shallow: String,
}

impl Repository {
    /// The store, as a folder of objects.
    pub(super) fn lent(&self) -> PathBuf {
        self.folders.state.join("lent")
    }

    /// Lends a commit of the user's, with all that it needs.
    pub(super) fn lend(&self, commit: Option<&str>) -> Result<(), Error> {
        let _alone = self.lending.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = self.lent();
        let mut stock = self.stock()?;
        let is_there = lent.is_dir();
        let Some(commit) = commit else {
            return if is_there { Ok(()) } else { self.found(None, &stock) };
        };
        if stock.tips.iter().any(|tip| tip == commit) {
            return Ok(());
        }
        // Where the user's history begins may have changed since it was last written.
        own::write(&self.hub, &self.user)?;
        if is_there {
            self.pack(&lent, commit, &stock.tips)?;
            self.join_packs(&lent)?;
        }
        stock.tips.insert(0, commit.to_owned());
        stock.tips.truncate(MAX_TIPS);
        if is_there {
            return record::write(&lent.join("stock.json"), &stock);
        }
        self.found(Some(commit), &stock)
    }

    /// Gives a workspace what a commit needs and the store does not have, into the child's
    /// own repository.
    pub(super) fn give(&self, place: &Place, commit: &str) -> Result<(), Error> {
        if !self.lent().is_dir() {
            // Begun before there was a store.
            self.lend(self.user_head()?.as_deref())?;
        }
        let mut known = self.stock()?.tips;
        if known.iter().any(|tip| tip == commit) {
            return Ok(());
        }
        if place.base != commit {
            known.push(place.base.clone());
        }
        let fresh = self.folders.own(&place.attempt).join("given");
        gone(&fresh).map_err(Error::files("removing", &fresh))?;
        make_store(&fresh)?;
        self.pack(&fresh, commit, &known)?;
        // Git looks for the index of a pack, and then for the pack.
        for ending in ["pack", "idx"] {
            for path in files(&fresh.join("pack"), ending) {
                let to = format!("objects/pack/{}", name_of(&path));
                let handed = File::open(&path)
                    .and_then(|file| replace(&place.root.join(".git"), &to, &mut &file, None));
                handed.map_err(Error::files("writing", &place.root.join(".git").join(&to)))?;
            }
        }
        gone(&fresh).map_err(Error::files("removing", &fresh))
    }

    /// Clears what a crash left of the store.
    pub(super) fn clear_lent(&self) -> Result<(), Error> {
        for entry in fs::read_dir(&self.folders.state).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(NEW) {
                self.folders.discard(&entry.path())?;
            }
        }
        for entry in fs::read_dir(self.lent().join("pack")).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("tmp_") {
                gone(&entry.path()).map_err(Error::files("removing", &entry.path()))?;
            }
        }
        Ok(())
    }

    /// What is known of the store, as far as it still holds.
    fn stock(&self) -> Result<Stock, Error> {
        let stock: Option<Stock> = record::read(&self.lent().join("stock.json"))?;
        let begins = fs::read_to_string(self.user.common_dir.join("shallow")).unwrap_or_default();
        let shallow = digest::hex(&[&*begins], SHALLOW_DIGITS);
        let now = stock.filter(|stock| stock.shallow == shallow);
        Ok(now.unwrap_or(Stock { tips: Vec::new(), shallow }))
    }

    /// Makes the store: beside its place first, so that it is there whole or not at all.
    fn found(&self, commit: Option<&str>, stock: &Stock) -> Result<(), Error> {
        let fresh = self.folders.state.join(format!("{}{NEW}", record::fresh()));
        make_store(&fresh)?;
        let is_all = self.has_nothing_of_ours()? && self.take_all(&fresh)?;
        if let Some(commit) = commit.filter(|_| !is_all) {
            self.pack(&fresh, commit, &[])?;
        }
        record::write(&fresh.join("stock.json"), stock)?;
        let lent = self.lent();
        fs::rename(&fresh, &lent).map_err(Error::files("writing", &lent))
    }

    /// Whether no attempt has left anything among the user's objects yet.
    fn has_nothing_of_ours(&self) -> Result<bool, Error> {
        // What the user borrows is somebody else's to look after, and may go.
        if self.user.objects.join(own::ALTERNATES).exists() {
            return Ok(false);
        }
        let call = self.on_names("for-each-ref").args(["--count=1", KEPT, RESULTS]);
        Ok(call.run()?.is_empty())
    }

    /// Takes all of the user's objects: packs by another name, which takes no room, and the
    /// others in a pack of their own. `false` if that cannot be done.
    fn take_all(&self, into: &Path) -> Result<bool, Error> {
        let packs = self.user.objects.join("pack");
        for _ in 0..MAX_ROUNDS {
            let found = files(&packs, "idx");
            let whole: io::Result<()> = found.iter().try_for_each(|index| {
                for path in [index.with_extension("pack"), index.clone()] {
                    let to = into.join("pack").join(name_of(&path));
                    // Another file system has no names of this one.
                    if !to.exists() && fs::hard_link(&path, &to).is_err() {
                        fs::copy(&path, &to)?;
                    }
                }
                Ok(())
            });
            match whole {
                Ok(()) => {}
                // The user's git has made others of them meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::files("copying", &packs)(error)),
            }
            let loose = loose(&self.user.objects);
            if !loose.is_empty() && !self.pack_these(into, loose)? {
                return Ok(false);
            }
            if files(&packs, "idx") == found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Packs these objects of the user's; `false` if one of them is damaged.
    fn pack_these(&self, into: &Path, ids: String) -> Result<bool, Error> {
        match self.packer(into).input(ids.into_bytes()).run() {
            Ok(_) => Ok(true),
            Err(Error::Git { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Packs what a commit needs beyond what others do.
    fn pack(&self, into: &Path, commit: &str, but: &[String]) -> Result<(), Error> {
        let others: String = but.iter().map(|tip| format!("^{tip}\n")).collect();
        let wanted = format!("{commit}\n{others}").into_bytes();
        let call = self.packer(into).args(["--revs", "--missing=allow-any"]);
        match call.input(wanted).run() {
            // One of the others is not there any more: then all of it is packed.
            Err(Error::Git { .. }) if !but.is_empty() => self.pack(into, commit, &[]),
            other => other.map(drop),
        }
    }

    /// Makes one pack of the small ones where there are many: git looks through all of them.
    fn join_packs(&self, lent: &Path) -> Result<(), Error> {
        let mut packs = files(&lent.join("pack"), "pack");
        if packs.len() <= MAX_PACKS {
            return Ok(());
        }
        let bytes = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
        packs.sort_by_cached_key(bytes);
        packs.truncate(packs.len().saturating_sub(LARGE));
        let input: String = packs.iter().map(|path| format!("{}\n", name_of(path))).collect();
        let call = self.packer(lent).arg("--stdin-packs").input(input.into_bytes());
        let made = String::from_utf8_lossy(&call.run()?).trim().to_owned();
        for pack in packs.iter().filter(|pack| !name_of(pack).contains(&made)) {
            for path in [pack.with_extension("idx"), pack.with_extension("rev"), pack.clone()] {
                gone(&path).map_err(Error::files("removing", &path))?;
            }
        }
        Ok(())
    }

    /// A git that writes a pack, of what there is and what it is told.
    fn packer(&self, into: &Path) -> super::Call<'_> {
        let call = self.git.call("pack-objects", Trust::Repository).env("GIT_DIR", &self.hub);
        let call = call.env("GIT_OBJECT_DIRECTORY", into).within(&self.hub);
        let lent = self.lent();
        let lenders = [self.user.objects.as_path(), &lent];
        let there = lenders.into_iter().filter(|folder| *folder != into && folder.is_dir());
        let call = call.borrowing(there).args(["-q", "--non-empty", "--delta-base-offset"]);
        // It is read more often than it is sent: what packing saves is not worth the time.
        let call = call.args(["--window=0", "--compression=1"]).unhurried();
        call.arg(into.join("pack/pack"))
    }
}

fn make_store(folder: &Path) -> Result<(), Error> {
    let packs = folder.join("pack");
    fs::create_dir_all(&packs).map_err(Error::files("making", &packs))
}

/// Files that end so, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    found.sort();
    found
}

/// The objects that have a file each, one a line.
fn loose(objects: &Path) -> String {
    let mut ids = String::new();
    for number in 0..=u8::MAX {
        let begin = format!("{number:02x}");
        for entry in fs::read_dir(objects.join(&begin)).into_iter().flatten().flatten() {
            let id = format!("{begin}{}", entry.file_name().to_string_lossy());
            if super::super::refs::is_id(&id) {
                ids.push_str(&id);
                ids.push('\n');
            }
        }
    }
    ids
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
