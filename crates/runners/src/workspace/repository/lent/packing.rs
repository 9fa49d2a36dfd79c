//! Filling a store: by second names of the user's packs, and by packs of our own.
//!
//! A repository may be damaged, or lack what nobody has missed so far. That hinders only those
//! who need it.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::super::Error;
use super::super::super::git::{Call, Trust};
use super::super::Repository;
use super::store::{self, PROMISED, files, name_of};

/// Packs that the store may have before the small ones are made one.
const MAX_PACKS: usize = 50;
/// The largest packs, which stay as they are then.
const LARGE: usize = 10;
/// How often something is done again that may have failed for what the user's git did
/// meanwhile.
const TRIES: usize = 2;
/// Packs that are tried in one go to find out which commits are damaged.
const MAX_TRIALS: usize = 24;
/// Damaged objects in files of their own that are left out one by one.
const MAX_DAMAGED: usize = 16;
/// How long that may take.
const MOST_TRYING: Duration = Duration::from_secs(60);
/// What git says where the machine has no more of something: nothing is damaged then.
const SHORT: [&str; 9] = [
    "No space left",
    "Out of diskspace",
    "Disk quota exceeded",
    "Read-only file system",
    "Cannot allocate memory",
    "ut of memory",
    "Resource temporarily unavailable",
    "Too many open files",
    KILLED,
];
/// What is said of one that was killed.
const KILLED: &str = "exit code -1";

/// Commits that are wanted with all that they need.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The one that somebody begins from.
    pub(super) head: Option<String>,
    /// All of them, that one first.
    pub(super) all: Vec<String>,
}

impl Wanted {
    pub(super) fn new<'a>(
        head: Option<&'a str>,
        others: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let others = others.into_iter().filter(|id| head != Some(id));
        let all = head.into_iter().chain(others).map(str::to_owned).collect();
        Self { head: head.map(str::to_owned), all }
    }
}

/// What has come of that.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// Those that are in the store, with all that there was.
    pub(super) whole: Vec<String>,
    /// Those of which only the files are, since their history is not to be had.
    pub(super) files_only: Vec<String>,
    /// Those that are not, since something of them is missing.
    pub(super) damaged: Vec<String>,
}

/// What to do about objects that are missing.
#[derive(Clone, Copy, Debug)]
enum Missing {
    Refused,
    LeftOut,
}

impl Repository {
    /// Takes all objects of the user: packs by a second name, the others in a pack. `false`
    /// where that cannot be done.
    pub(super) fn link_all(&self, into: &Path) -> Result<bool, Error> {
        let packs = self.user.objects.join("pack");
        for _ in 0..=TRIES {
            let indexes = files(&packs, "idx");
            for index in &indexes {
                match store::link(index, into) {
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(_) => return Ok(false),
                    Ok(()) => {}
                }
            }
            if !self.pack_loose(into)? {
                return Ok(false);
            }
            // Unless the user's git has put some of them into a pack meanwhile.
            if files(&packs, "idx") == indexes {
                return store::clear(into).map(|()| true);
            }
        }
        Ok(false)
    }

    /// Packs the user's objects that lie in files of their own; `false` if too many of them
    /// cannot be read.
    fn pack_loose(&self, into: &Path) -> Result<bool, Error> {
        let Some(mut loose) = store::loose(&self.user.objects) else { return Ok(false) };
        for _ in 0..=MAX_DAMAGED {
            let input = lines("", &loose).into_bytes();
            let Err(error) = self.packer(into, &self.hub).input(input).run() else {
                return Ok(true);
            };
            let message = damage(error)?;
            let before = loose.len();
            loose.retain(|id| !message.contains(id.as_str()));
            store::clear_drafts(into);
            if loose.len() == before {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Takes packs of what was fetched from a remote that has the rest: nothing of ours is ever
    /// among them, and git asks for no more than they have.
    pub(super) fn link_promised(&self, into: &Path) -> Result<(), Error> {
        let packs = self.user.objects.join("pack");
        let promised = files(&packs, PROMISED);
        let mut is_all = true;
        for path in &promised {
            match store::link_or_copy(path, into) {
                // The user's git has just put it together with others.
                Err(error) if error.kind() == ErrorKind::NotFound => is_all = false,
                other => other.map_err(Error::files("copying", path))?,
            }
        }
        if is_all && !promised.is_empty() {
            let has = |path: &Path| packs.join(name_of(path)).exists();
            for old in files(&into.join("pack"), PROMISED).iter().filter(|path| !has(path)) {
                store::drop_pack(old)?;
            }
        }
        Ok(())
    }

    /// Packs what commits need beyond what others do, as far as that is there.
    pub(super) fn pack(
        &self,
        into: &Path,
        wanted: &Wanted,
        but: &[String],
    ) -> Result<Packed, Error> {
        for _ in 0..TRIES {
            match self.pack_these(into, (&wanted.all, but), Missing::Refused) {
                Ok(()) => return Ok(Packed { whole: wanted.all.clone(), ..Packed::default() }),
                Err(error) => drop(self.after(into, error)?),
            }
        }
        let lent = self.lent();
        let stores: &[&Path] = &[&self.user.objects, &lent];
        let there = self.those_in(stores, &[&*wanted.all, but].concat())?;
        let but: Vec<String> = but.iter().filter(|id| there.contains(*id)).cloned().collect();
        let all = wanted.all.iter().filter(|id| there.contains(*id)).cloned();
        let (head, others): (Vec<_>, Vec<_>) = all.partition(|id| wanted.head.as_ref() == Some(id));
        let mut packed = Packed::default();
        let mut groups = vec![others, head];
        groups.retain(|group| !group.is_empty());
        let since = Instant::now();
        // Those that are left then are tried when somebody begins again.
        for _ in (0..MAX_TRIALS).take_while(|_| since.elapsed() < MOST_TRYING) {
            let Some(mut group) = groups.pop() else { break };
            let known = [&*but, &*packed.whole].concat();
            let Err(error) = self.pack_these(into, (&group, &known), Missing::LeftOut) else {
                packed.whole.append(&mut group);
                continue;
            };
            let message = self.after(into, error)?;
            if wanted.head.as_ref() == group.first() {
                // Nobody can tell what was before it; its files are what somebody needs.
                self.pack_files(into, &group, &message)?;
                packed.files_only.append(&mut group);
            } else if group.len() > 1 {
                groups.push(group.split_off(group.len() / 2));
                groups.push(group);
            } else {
                packed.damaged.append(&mut group);
            }
        }
        match &wanted.head {
            Some(head) if !there.contains(head) => {
                Err(Error::Unknown { what: "commit", id: head.clone() })
            }
            Some(_) | None => Ok(packed),
        }
    }

    /// Packs commits with their files, and nothing that was before.
    fn pack_files(&self, into: &Path, commits: &[String], why: &str) -> Result<(), Error> {
        let call = self.on_objects("rev-list").args(["--objects", "--no-object-names"]);
        let call = call.args(["--no-walk", "--missing=allow-any", "--stdin"]);
        let list = call.input(lines("", commits).into_bytes()).run()?;
        let packed = self.packer(into, &self.hub).input(list).run();
        packed
            .map(drop)
            .map_err(|_| Error::Git { command: "pack-objects".into(), message: why.to_owned() })
    }

    fn pack_these(
        &self,
        into: &Path,
        (wanted, but): (&[String], &[String]),
        missing: Missing,
    ) -> Result<(), Error> {
        let call = self.packer(into, &self.hub).arg("--revs");
        let call = match missing {
            Missing::Refused => call,
            Missing::LeftOut => call.arg("--missing=allow-any"),
        };
        let promised = files(&self.user.objects.join("pack"), PROMISED);
        let call = match promised.is_empty() {
            true => call,
            false => call
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", "remote.legation.promisor")
                .env("GIT_CONFIG_VALUE_0", "true")
                .arg("--exclude-promisor-objects"),
        };
        // What the store has already need not be in it again.
        let kept = files(&into.join("pack"), "pack").into_iter();
        let call = call.args(kept.map(|pack| format!("--keep-pack={}", name_of(&pack))));
        let input = lines("", wanted) + &lines("^", but);
        call.input(input.into_bytes()).run().map(drop)
    }

    /// Makes one pack of the small ones where there are many: git looks through all of them.
    pub(super) fn join_packs(&self, lent: &Path) -> Result<(), Error> {
        let mut packs = files(&lent.join("pack"), "idx");
        // What is the user's as well stays one with that, and promises stay what they are.
        let is_shared = |pack: &Path| fs::metadata(pack).is_ok_and(|found| found.nlink() > 1);
        packs.retain(|index| {
            !index.with_extension(PROMISED).exists() && !is_shared(&index.with_extension("pack"))
        });
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
        let made = match call.run() {
            Ok(made) => String::from_utf8_lossy(&made).trim().to_owned(),
            Err(error) => return self.after(lent, error).map(drop),
        };
        for index in small.iter().filter(|path| !made.is_empty() && !name_of(path).contains(&made))
        {
            store::drop_pack(index)?;
        }
        Ok(())
    }

    /// Of these, the ones that are in one of some stores.
    pub(super) fn those_in(
        &self,
        stores: &[&Path],
        ids: &[String],
    ) -> Result<BTreeSet<String>, Error> {
        let Some((first, others)) = stores.split_first().filter(|_| !ids.is_empty()) else {
            return Ok(BTreeSet::new());
        };
        let call = self.on_objects("cat-file").env("GIT_OBJECT_DIRECTORY", first);
        let others = others.iter().copied().filter(|folder| folder.is_dir());
        let call = call.borrowing(others).arg("--batch-check=%(objectname)");
        let said = call.input(lines("", ids).into_bytes()).run()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
        // Of one that is missing there is a second word.
        Ok(said.lines().filter(|line| wanted.contains(line)).map(str::to_owned).collect())
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
        call.arg(into.join("pack/pack"))
    }

    /// What git said of objects that it could not pack; an error where it was something else.
    fn after(&self, into: &Path, error: Error) -> Result<String, Error> {
        store::clear_drafts(into);
        damage(error)
    }
}

/// What git said of objects that are damaged or missing; an error where that is not why.
fn damage(error: Error) -> Result<String, Error> {
    let is_short = |message: &str| SHORT.iter().any(|short| message.contains(short));
    if let Error::Git { message, .. } = &error
        && !is_short(message)
    {
        return Ok(message.clone());
    }
    Err(error)
}

fn lines(before: &str, all: &[String]) -> String {
    all.iter().map(|one| format!("{before}{one}\n")).collect()
}
