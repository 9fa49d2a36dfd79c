//! Checkouts that nobody works in: what overlays are laid over.
//!
//! One for every base that workspaces were made from lately. The first is written
//! file by file; the next ones only hold what differs from the one they lie over.
//! Once made, a pin is never written to, and it stays as long as something lies
//! over it.

mod date_back;
mod told;

pub(super) use told::PROGRAM;

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use legation_core::digest;

use super::super::changes::settle;
use super::super::custody::weight;
use super::super::folders::{Laid, Moment};
use super::super::git::{Call, Trust};
use super::super::index;
use super::super::overlay::{Overlay, take_away};
use super::super::turn::{self, Turn};
use super::super::{Error, Spare, record};
use super::{MAX_ROUNDS, Repository, own};
use crate::procfs::boot;

/// Pins that are kept although nothing lies over them.
const MAX_IDLE: usize = 4;
/// Pins that may lie over one another; the kernel looks through all of them.
const MAX_DEPTH: usize = 4;
/// Pins that are looked at for the one that differs least.
const MAX_COMPARED: usize = 3;
/// The record of one.
const PIN: &str = "pin.json";
/// The digits that tell apart checkouts of one commit under different settings.
const VIEW_DIGITS: usize = 8;

/// A checkout that overlays lie over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pin {
    /// Its folder.
    name: String,
    pub(super) commit: String,
    /// The folders of the pins that it lies over, the topmost first.
    over: Vec<String>,
    /// Files that changed after this moment were changed by somebody else.
    pub(super) settled: Moment,
}

impl Repository {
    pub(super) fn pins(&self) -> PathBuf {
        self.folders.state.join("pins")
    }

    /// The pin of a commit, made if need be. It stays while the turn is held.
    pub(super) fn pinned(&self, commit: &str) -> Result<(Pin, Turn), Error> {
        let state = &self.folders.state;
        let name = format!("{commit}-{}", self.pin_view());
        for _ in 0..MAX_ROUNDS {
            let turn = turn::together(state)?;
            if let Some(pin) = self.pin(&name)? {
                // Only the order of these matters, and losing it costs a checkout at worst.
                drop(File::create(self.pins().join(&name).join("used")));
                return Ok((pin, turn));
            }
            drop(turn);
            let _alone = turn::alone(state)?;
            if self.pin(&name)?.is_none() {
                self.make_pin(commit, &name)?;
                self.drop_idle(&name)?;
            }
        }
        Err(Error::Unknown { what: "pinned checkout", id: name })
    }

    /// What checkouts of one commit have in common, as digits. Of one that was made before the
    /// machine was started anew, nobody knows whether all of it was on the disk by then.
    fn pin_view(&self) -> String {
        let common = own::common(&self.user, &self.lent());
        digest::hex(&[&*self.user.view(), &*common, PROGRAM, &*boot()], VIEW_DIGITS)
    }

    fn pin(&self, name: &str) -> Result<Option<Pin>, Error> {
        record::read(&self.pins().join(name).join(PIN))
    }

    /// What an overlay over a pin lies over, the topmost first.
    pub(super) fn below(pin: &Pin) -> Vec<String> {
        let all = std::iter::once(&pin.name).chain(&pin.over);
        all.map(|name| format!("{name}/files")).collect()
    }

    /// The index of the pin that an overlay lies over, if it is not one of this commit.
    pub(super) fn index_below(&self, lower: &[String], commit: &str) -> Option<PathBuf> {
        let (name, _) = lower.first()?.split_once('/')?;
        let is_same = name.split_once('-').is_some_and(|(pinned, _)| pinned == commit);
        (!is_same).then(|| self.pins().join(name).join("index"))
    }

    /// The index of a pin.
    pub(super) fn pinned_index(&self, pin: &Pin) -> PathBuf {
        self.pins().join(&pin.name).join("index")
    }

    /// Makes a pin: beside its place first, so that it is there whole or not at all.
    fn make_pin(&self, commit: &str, name: &str) -> Result<(), Error> {
        let fresh = self.pins().join(format!("{}.new", record::fresh()));
        let files = fresh.join("files");
        fs::create_dir_all(&files).map_err(Error::files("making", &files))?;
        let nearest = self.nearest(commit, name)?;
        let over = match &nearest {
            Some(pin) => {
                self.differ(&fresh, pin, commit)?;
                [std::slice::from_ref(&pin.name), &pin.over].concat()
            }
            None => {
                let call = self.on_pin("read-tree", &fresh, &files).unhurried();
                call.args(["--reset", "-u", commit]).run()?;
                Vec::new()
            }
        };
        self.date_back(&fresh, &files)?;
        own::write_common(&files.join(".git"), &self.user, &self.lent())?;
        self.have_told(&fresh, &files)?;
        let index = fresh.join("index");
        let times = index::times(&index, self.user.hash_bytes)?;
        let pin = Pin {
            name: name.to_owned(),
            commit: commit.to_owned(),
            over,
            settled: settle(&index, &fresh.join("clock"), times.newest)?,
        };
        let shown = files.join(".git/index");
        fs::hard_link(&index, &shown).map_err(Error::files("writing", &shown))?;
        record::write(&fresh.join(PIN), &pin)?;
        let place = self.pins().join(name);
        fs::rename(&fresh, &place).map_err(Error::files("writing", &place))
    }

    /// Writes only what differs from another pin.
    fn differ(&self, fresh: &Path, pin: &Pin, commit: &str) -> Result<(), Error> {
        let target = fresh.join("target");
        fs::create_dir_all(&target).map_err(Error::files("making", &target))?;
        let names = std::iter::once(&pin.name).chain(&pin.over);
        let lower: Vec<PathBuf> = names.map(|name| self.pins().join(name).join("files")).collect();
        let layer = fresh.join("layer");
        let overlay = Overlay { lower: &lower, layer: &layer, target: &target };
        overlay.lay().map_err(Error::files("mounting", &target))?;
        index::copy(&self.pinned_index(pin), &fresh.join("index"))?;
        let call = self.on_pin("read-tree", fresh, &target).unhurried();
        let done = call.args(["-m", "-u", &pin.commit, commit]).run();
        take_away(&target).map_err(Error::files("unmounting", &target))?;
        done?;
        let files = fresh.join("files");
        fs::rename(layer.join("upper"), &files).map_err(Error::files("writing", &files))
    }

    /// The pin that differs least from a commit, if building on it is worth it.
    fn nearest(&self, commit: &str, name: &str) -> Result<Option<Pin>, Error> {
        let view = seen_as(name);
        let mut best = None;
        let same = |pin: &Pin| seen_as(&pin.name) == view;
        let pins = self.all_pins()?.into_iter().map(|(_, pin)| pin).filter(same);
        for pin in pins.filter(|pin| pin.over.len() < MAX_DEPTH).take(MAX_COMPARED) {
            let call = self.on_objects("diff-tree").args(["-r", "-z", "--name-only"]);
            let said = call.args([&pin.commit, commit]).ask()?;
            if said.code != 0 {
                continue;
            }
            let differ = said.out.iter().filter(|byte| **byte == 0).count();
            let all = index::count(&self.pinned_index(&pin)).unwrap_or_default();
            let is_near = differ.saturating_mul(2) < all;
            if is_near && best.as_ref().is_none_or(|(least, _)| differ < *least) {
                best = Some((differ, pin));
            }
        }
        Ok(best.map(|(_, pin)| pin))
    }

    /// All pins, those used last first.
    fn all_pins(&self) -> Result<Vec<(SystemTime, Pin)>, Error> {
        let mut pins = Vec::new();
        for entry in fs::read_dir(self.pins()).into_iter().flatten().flatten() {
            let record = entry.path().join(PIN);
            // Of one whose record cannot be read, the next start throws away what it may.
            if let Ok(Some(pin)) = record::read::<Pin>(&record) {
                let time = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
                let used = time(&entry.path().join("used")).or_else(|_| time(&record));
                pins.push((used.unwrap_or(SystemTime::UNIX_EPOCH), pin));
            }
        }
        pins.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.name.cmp(&one.1.name)));
        Ok(pins)
    }

    /// Pins that nothing lies over, not even another pin, as something that could go.
    pub(super) fn idle_pins(&self) -> Result<Vec<Spare>, Error> {
        let pins = self.all_pins()?;
        let below: HashSet<&String> = pins.iter().flat_map(|(_, pin)| &pin.over).collect();
        let idle = self.unneeded(HashSet::new(), 0)?.into_iter();
        Ok(idle
            .filter(|(_, pin)| !below.contains(&pin.name))
            .map(|(since, pin)| {
                let path = self.pins().join(&pin.name);
                Spare { bytes: weight(&path), since, path }
            })
            .collect())
    }

    /// Drops pins that nothing lies over, except for a few and the one that is named.
    fn drop_idle(&self, keep: &str) -> Result<(), Error> {
        for (_, pin) in self.unneeded(HashSet::from([keep.to_owned()]), MAX_IDLE)? {
            self.folders.discard(&self.pins().join(&pin.name))?;
        }
        Ok(())
    }

    /// Pins that neither a workspace nor a pin that is needed lies over, the last used
    /// ones set aside.
    fn unneeded(
        &self,
        mut needed: HashSet<String>,
        set_aside: usize,
    ) -> Result<Vec<(SystemTime, Pin)>, Error> {
        let Some(in_use) = self.in_use()? else { return Ok(Vec::new()) };
        needed.extend(in_use);
        let pins = self.all_pins()?;
        needed.extend(pins.iter().take(set_aside).map(|(_, pin)| pin.name.clone()));
        let held: Vec<String> = pins
            .iter()
            .filter(|(_, pin)| needed.contains(&pin.name))
            .flat_map(|(_, pin)| pin.over.clone())
            .collect();
        needed.extend(held);
        Ok(pins.into_iter().filter(|(_, pin)| !needed.contains(&pin.name)).collect())
    }

    /// The pins that workspaces lie over, by their names; `None` where a record cannot be read, and
    /// a workspace may lie over any of them.
    fn in_use(&self) -> Result<Option<HashSet<String>>, Error> {
        let mut in_use = HashSet::new();
        for attempt in self.folders.list()? {
            let Ok(made) = self.folders.made(&attempt) else { return Ok(None) };
            if let Some(Laid::Overlay { lower }) = made.map(|made| made.laid) {
                let names = lower.iter().filter_map(|path| path.split_once('/'));
                in_use.extend(names.map(|(name, _)| name.to_owned()));
            }
        }
        Ok(Some(in_use))
    }

    /// Clears what a crash left of pins in the making, and those that nothing lies over and
    /// nothing will.
    pub(super) fn clear_pins(&self) -> Result<(), Error> {
        for entry in fs::read_dir(self.pins()).into_iter().flatten().flatten() {
            let folder = entry.path();
            if folder.extension().is_some_and(|ending| ending == "new") {
                let target = folder.join("target");
                take_away(&target).map_err(Error::files("unmounting", &target))?;
                self.folders.discard(&folder)?;
            }
        }
        let Some(in_use) = self.in_use()? else { return Ok(()) };
        for entry in fs::read_dir(self.pins()).into_iter().flatten().flatten() {
            let is_lost = record::read::<Pin>(&entry.path().join(PIN)).is_err();
            if is_lost && !in_use.contains(&*entry.file_name().to_string_lossy()) {
                self.folders.discard(&entry.path())?;
            }
        }
        let view = self.pin_view();
        let mut unneeded = self.unneeded(HashSet::new(), 0)?;
        unneeded.retain(|(_, pin)| seen_as(&pin.name) != Some(&view));
        for (_, pin) in unneeded {
            self.folders.discard(&self.pins().join(&pin.name))?;
        }
        Ok(())
    }

    /// A command on a pin's files.
    fn on_pin(&self, name: &str, folder: &Path, files: &Path) -> Call<'_> {
        self.for_pin(self.git.call(name, Trust::Repository), folder, files)
    }

    fn for_pin<'a>(&self, call: Call<'a>, folder: &Path, files: &Path) -> Call<'a> {
        let call = call.env("GIT_DIR", &self.hub);
        let call = call.env("GIT_OBJECT_DIRECTORY", &self.user.objects);
        let call = call.env("GIT_INDEX_FILE", folder.join("index"));
        call.env("GIT_WORK_TREE", files).within(files)
    }
}

/// The part of a pin's name that says how its files look.
fn seen_as(name: &str) -> Option<&str> {
    name.split_once('-').map(|(_, view)| view)
}
