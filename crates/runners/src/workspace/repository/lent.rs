//! What workspaces may read of the user's objects: a store of ours, in which is all that the
//! user's own commits need, and nothing that attempts have left.
//!
//! It begins as the user's own packs under a second name, as long as nothing of ours can be
//! among them, and grows by what the user's branches bring before somebody begins. Whoever
//! starts from a commit of ours gets what that needs into a repository of its own.

mod names;

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use legation_core::digest;
use serde::{Deserialize, Serialize};

use super::super::folders::gone;
use super::super::git::{Call, Trust};
use super::super::{Error, Place, record};
use super::bring::replace;
use super::works::{KEPT, RESULTS};
use super::{Repository, own};
use names::Named;

/// Commits that are remembered as whole; one that is not is only looked at again.
const MAX_TIPS: usize = 2048;
/// Packs that the store may have before the small ones are made one.
const MAX_PACKS: usize = 50;
/// The largest packs, which stay as they are then.
const LARGE: usize = 10;
/// How often something is packed again that may have failed for what the user's git did
/// meanwhile.
const TRIES: usize = 2;
/// How what is not yet a store ends.
const NEW: &str = "lent";
/// The digits that tell one beginning of the user's history from another.
const SHALLOW_DIGITS: usize = 16;
/// Names of ours in the user's repository, and in those that were cloned from it.
const OURS: [&str; 3] = [KEPT, RESULTS, "refs/remotes/*/legation/"];
/// A pack of what was fetched from a remote that has the rest.
const PROMISED: &str = "promisor";

/// What is known of the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stock {
    /// Commits of which it has everything, the last ones first.
    tips: Vec<String>,
    /// Where the user's history begins, if not at its beginning.
    shallow: String,
}

impl Stock {
    fn add(&mut self, tips: Vec<String>) {
        self.tips.splice(..0, tips);
        self.tips.truncate(MAX_TIPS);
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
        let mut stock = self.stock();
        let named = self.users_names()?;
        let is_there = lent.is_dir();
        let known: HashSet<&str> = stock.tips.iter().map(String::as_str).collect();
        let wanted: BTreeSet<&str> = named
            .values()
            .map(String::as_str)
            .chain(head)
            .filter(|id| !known.contains(id))
            .collect();
        let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
        if is_there && wanted.is_empty() {
            return Self::write_names(&lent, (&named, &stock.tips));
        }
        // Where the user's history begins may have changed since it was last written.
        own::write(&self.hub, &self.user)?;
        if !is_there {
            return self.found((head, &wanted), &named, stock);
        }
        let packed =
            self.link_promised(&lent).and_then(|()| self.pack(&lent, (head, &wanted), &stock.tips));
        if packed.is_err() {
            clear_drafts(&lent);
        }
        stock.add(packed?);
        // Many packs are slow to look through, and no more than that.
        drop(self.join_packs(&lent));
        record::write(&lent.join("stock.json"), &stock)?;
        Self::write_names(&lent, (&named, &stock.tips))
    }

    /// Commits of the user's that workspaces have anyway.
    pub(super) fn lent_commits(&self) -> HashSet<String> {
        self.stock().tips.into_iter().collect()
    }

    /// Gives a workspace what a commit needs and the store does not have, into the child's
    /// own repository.
    pub(super) fn give(&self, place: &Place, commit: &str) -> Result<(), Error> {
        if !self.lent().is_dir() {
            // Begun before there was a store.
            self.lend(self.user_head()?.as_deref())?;
        }
        let mut known = self.stock().tips;
        if known.iter().any(|tip| tip == commit) {
            return Ok(());
        }
        if place.base != commit {
            known.push(place.base.clone());
        }
        let own = self.folders.own(&place.attempt);
        let fresh = own.join(format!("{}.given", record::fresh()));
        make_store(&fresh)?;
        let handed = self
            .pack(&fresh, (Some(commit), &[commit.to_owned()]), &known)
            .and_then(|_| hand_over(&fresh.join("pack"), &place.root.join(".git")));
        gone(&fresh).map_err(Error::files("removing", &fresh))?;
        handed
    }

    /// Clears what a crash left of the store.
    pub(super) fn clear_lent(&self) -> Result<(), Error> {
        for entry in fs::read_dir(&self.folders.state).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == NEW) {
                self.folders.discard(&entry.path())?;
            }
        }
        let lent = self.lent();
        clear_drafts(&lent);
        for draft in files(&lent, record::DRAFT) {
            gone(&draft).map_err(Error::files("removing", &draft))?;
        }
        // Of a pack and its index one alone is nothing; somebody was killed in between.
        for (ending, other) in [("pack", "idx"), ("idx", "pack")] {
            for path in files(&lent.join("pack"), ending) {
                if !path.with_extension(other).exists() {
                    gone(&path).map_err(Error::files("removing", &path))?;
                }
            }
        }
        Ok(())
    }

    /// What is known of the store, as far as it still holds. What cannot be read is found out
    /// again.
    fn stock(&self) -> Stock {
        let stock: Option<Stock> =
            record::read(&self.lent().join("stock.json")).unwrap_or_default();
        let begins = fs::read_to_string(self.user.common_dir.join("shallow")).unwrap_or_default();
        let shallow = digest::hex(&[&*begins], SHALLOW_DIGITS);
        let now = stock.filter(|stock| stock.shallow == shallow);
        now.unwrap_or(Stock { tips: Vec::new(), shallow })
    }

    /// Makes the store: beside its place first, so that it is there whole or not at all.
    fn found(&self, wanted: Wanted<'_>, named: &Named, mut stock: Stock) -> Result<(), Error> {
        let lent = self.lent();
        let fresh = self.folders.state.join(format!("{}.{NEW}", record::fresh()));
        make_store(&fresh)?;
        let made = self.take_all(&fresh, wanted).and_then(|tips| {
            stock.add(tips);
            record::write(&fresh.join("stock.json"), &stock)?;
            Self::write_names(&fresh, (named, &stock.tips))?;
            fs::rename(&fresh, &lent).map_err(Error::files("writing", &lent))
        });
        match made {
            Ok(()) => Ok(()),
            // Somebody else was faster, or it has failed: in neither case it is of use.
            Err(error) => {
                gone(&fresh).map_err(Error::files("removing", &fresh))?;
                if lent.is_dir() { Ok(()) } else { Err(error) }
            }
        }
    }

    /// Fills a store that has nothing yet; the commits of which it has everything then.
    fn take_all(&self, fresh: &Path, (head, wanted): Wanted<'_>) -> Result<Vec<String>, Error> {
        let packs = self.user.objects.join("pack");
        let before = files(&packs, "idx");
        if self.has_nothing_of_ours()? && self.link_packs(fresh) {
            // The rest is in no pack.
            let call = self.packer(fresh, &self.user.common_dir).args(["--all", "--unpacked"]);
            let rest = call.input(lines("", wanted).into_bytes()).run();
            // Unless the user's git has put it into one meanwhile.
            if rest.is_ok() && files(&packs, "idx") == before {
                return Ok(wanted.to_vec());
            }
        }
        self.link_promised(fresh)?;
        self.pack(fresh, (head, wanted), &[])
    }

    /// Whether nothing that attempts have left can be among the user's packs.
    fn has_nothing_of_ours(&self) -> Result<bool, Error> {
        // What the user borrows is somebody else's to look after, and may go.
        if self.user.objects.join(own::ALTERNATES).exists() {
            return Ok(false);
        }
        Ok(self.on_names("for-each-ref").arg("--count=1").args(OURS).run()?.is_empty())
    }

    /// Takes packs of what was fetched from a remote that has the rest: nothing of ours is ever
    /// among them, and git asks for no more than they have.
    fn link_promised(&self, into: &Path) -> Result<(), Error> {
        for path in files(&self.user.objects.join("pack"), PROMISED) {
            for ending in ["pack", "idx", PROMISED] {
                let path = path.with_extension(ending);
                let to = into.join("pack").join(name_of(&path));
                if !to.exists() && fs::hard_link(&path, &to).is_err() {
                    fs::copy(&path, &to).map_err(Error::files("copying", &path))?;
                }
            }
        }
        Ok(())
    }

    /// Takes the user's packs by a second name, which takes no room; `false` where they cannot
    /// have one.
    fn link_packs(&self, into: &Path) -> bool {
        let indexes = files(&self.user.objects.join("pack"), "idx").into_iter();
        // Of what nothing holds any more git remembers since when.
        let mut held = indexes.filter(|index| !index.with_extension("mtimes").exists());
        held.all(|index| {
            let parts = ["pack", "idx", PROMISED].map(|ending| index.with_extension(ending));
            let mut there = parts.into_iter().filter(|path| path.exists());
            there.all(|path| fs::hard_link(&path, into.join("pack").join(name_of(&path))).is_ok())
        })
    }

    /// Packs what commits need beyond what others do; those that were there.
    fn pack(
        &self,
        into: &Path,
        (head, wanted): Wanted<'_>,
        but: &[String],
    ) -> Result<Vec<String>, Error> {
        let (mut wanted, mut but) = (wanted.to_vec(), but.to_vec());
        let mut tries = 0;
        loop {
            let call = self.packer(into, &self.hub).arg("--revs");
            // What is missing was missing before.
            let call = if tries < TRIES { call } else { call.arg("--missing=allow-any") };
            let input = lines("", &wanted) + &lines("^", &but);
            let message = match call.input(input.into_bytes()).run() {
                Ok(_) => return Ok(wanted),
                Err(Error::Git { message, .. }) if !message.contains("No space left") => message,
                Err(error) => return Err(error),
            };
            // A commit that is not there, and that nobody begins from, is none of our business.
            let is_lost = |commit: &String| message.contains(commit.as_str());
            if let Some(at) = but.iter().position(is_lost) {
                but.swap_remove(at);
            } else if let Some(at) =
                wanted.iter().position(|one| is_lost(one) && head != Some(one.as_str()))
            {
                wanted.swap_remove(at);
            } else if tries < TRIES {
                tries = tries.saturating_add(1);
            } else {
                return Err(Error::Git { command: "pack-objects".into(), message });
            }
        }
    }

    /// Makes one pack of the small ones where there are many: git looks through all of them.
    fn join_packs(&self, lent: &Path) -> Result<(), Error> {
        let mut packs = files(&lent.join("pack"), "idx");
        packs.retain(|index| !index.with_extension(PROMISED).exists());
        if packs.len() <= MAX_PACKS {
            return Ok(());
        }
        packs.sort_by_cached_key(|index| {
            fs::metadata(index.with_extension("pack")).map_or(0, |found| found.len())
        });
        let (small, large) = packs.split_at(packs.len().saturating_sub(LARGE));
        let named = |packs: &[PathBuf]| -> Vec<String> {
            packs.iter().map(|path| name_of(&path.with_extension("pack"))).collect()
        };
        let input = lines("", &named(small)) + &lines("^", &named(large));
        let call = self.packer(lent, &self.hub).arg("--stdin-packs").input(input.into_bytes());
        let made = String::from_utf8_lossy(&call.run()?).trim().to_owned();
        for index in small.iter().filter(|path| !made.is_empty() && !name_of(path).contains(&made))
        {
            for ending in ["idx", "rev", "pack"] {
                let path = index.with_extension(ending);
                gone(&path).map_err(Error::files("removing", &path))?;
            }
        }
        Ok(())
    }

    /// A git that writes a pack, of what there is and what it is told.
    fn packer(&self, into: &Path, git_dir: &Path) -> Call<'_> {
        let call = self.git.call("pack-objects", Trust::Repository).env("GIT_DIR", git_dir);
        let call = call.env("GIT_OBJECT_DIRECTORY", into).within(git_dir);
        let lent = self.lent();
        let lenders = [self.user.objects.as_path(), &lent];
        let there = lenders.into_iter().filter(|folder| *folder != into && folder.is_dir());
        let call = call.borrowing(there).args(["-q", "--non-empty", "--delta-base-offset"]);
        // It is read more often than it is sent: what packing saves is not worth the time.
        let call = call.args(["--window=0", "--compression=1"]).unhurried();
        let call = match files(&self.user.objects.join("pack"), PROMISED).is_empty() {
            true => call,
            false => call
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", "remote.legation.promisor")
                .env("GIT_CONFIG_VALUE_0", "true")
                .arg("--exclude-promisor-objects"),
        };
        call.arg(into.join("pack/pack"))
    }
}

/// What is wanted, and which of it somebody begins from.
type Wanted<'a> = (Option<&'a str>, &'a [String]);

fn make_store(folder: &Path) -> Result<(), Error> {
    let packs = folder.join("pack");
    fs::create_dir_all(&packs).map_err(Error::files("making", &packs))
}

/// Puts packs into a child's repository. Git looks for the index of a pack, and then for the
/// pack.
fn hand_over(packs: &Path, folder: &Path) -> Result<(), Error> {
    for ending in ["pack", "idx"] {
        for path in files(packs, ending) {
            let to = format!("objects/pack/{}", name_of(&path));
            let handed = File::open(&path).and_then(|file| replace(folder, &to, &mut &file, None));
            handed.map_err(Error::files("writing", &folder.join(&to)))?;
        }
    }
    Ok(())
}

/// Deletes what git has begun to write into a store and not finished.
fn clear_drafts(store: &Path) {
    for entry in fs::read_dir(store.join("pack")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("tmp_") {
            // Should it stay, it is in nobody's way.
            drop(gone(&entry.path()));
        }
    }
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

fn lines(before: &str, all: &[String]) -> String {
    all.iter().map(|one| format!("{before}{one}\n")).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
