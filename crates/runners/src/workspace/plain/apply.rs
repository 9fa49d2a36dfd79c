//! Bringing a result into the user's own folder.
//!
//! Every file that would change must still be what it was when the work began, and nothing
//! of the user's may be in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::folders::{APPLYING, Brought};
use super::super::hunks::{APPLIED, TAKEN_BACK};
use super::super::obstacles::obstacles;
use super::super::walk::below;
use super::super::{Applied, Error};
use super::Plain;
use super::exchange::{CHANGED, MOVE_YOURS, Site, Step, exchange, recover};
use super::hunks::Met;
use super::layer::{Layer, file_in, same};
use super::merge::texts;

impl Plain {
    /// Whether every file of the result stands in the user's folder as it should.
    pub(super) fn folder_has(&self, delegation: &str) -> Result<bool, Error> {
        let number = self.tip(delegation)?.number;
        if number == 0 {
            return Ok(false);
        }
        let layer = Layer::open(&self.folders.state, &format!("result:{delegation}:{number}"))?;
        let contents = layer.contents.clone().unwrap_or_default();
        for path in contents.changed.iter().chain(&contents.deleted) {
            let new = contents.changed.contains(path).then(|| below(&layer.files, path));
            if !same(file_in(&self.project, path).as_deref(), new.as_deref())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Applies the delegation's result.
    pub(super) fn apply_to_folder(&self, delegation: &str) -> Result<Applied, Error> {
        self.folders.begun(delegation)?;
        let number = self.tip(delegation)?.number;
        if number == 0 {
            return Err(Error::Refused {
                reason: format!("{delegation} has no result yet"),
                files: Vec::new(),
                hint: "wait until one of its subtasks was merged".into(),
            });
        }
        let after = format!("result:{delegation}:{number}");
        self.recover(true)?;
        let steps = self.steps(delegation, &after)?;
        let (tip, before) = (after.clone(), String::new());
        let (files_only, taken_back, earlier) = (true, false, Vec::new());
        let brought = Brought { tip, before, after, files_only, taken_back, earlier };
        self.bring_to_folder(&steps, (delegation, &brought))
    }

    /// Takes back what applying the delegation's result changed.
    pub(super) fn take_from_folder(&self, delegation: &str) -> Result<Applied, Error> {
        self.recover(true)?;
        let brought = self.folders.brought(delegation)?.filter(|brought| !brought.taken_back);
        let Some(brought) = brought else {
            return Err(Error::Refused {
                reason: format!("nothing of {delegation} was applied here"),
                files: Vec::new(),
                hint: "there is nothing to take back".into(),
            });
        };
        let steps = self.steps(delegation, &brought.after);
        if let Err(Error::Unknown { .. }) = steps {
            return Err(Error::Refused {
                reason: format!("what was applied of {delegation} was cleared away since"),
                files: Vec::new(),
                hint: "change your files by hand".into(),
            });
        }
        let steps = steps?;
        let back: Vec<Step> = steps.into_iter().map(|(path, new, old)| (path, old, new)).collect();
        self.bring_to_folder(&back, (delegation, &Brought { taken_back: true, ..brought }))
    }

    /// What lies between a delegation's base and a result of it.
    fn steps(&self, delegation: &str, result: &str) -> Result<Vec<Step>, Error> {
        let begun = self.folders.begun(delegation)?;
        let layer = Layer::open(&self.folders.state, result)?;
        let contents = layer.contents.clone().unwrap_or_default();
        let old = self.stack(&begun.base)?;
        let step = |path: &Vec<u8>| {
            let new = contents.changed.contains(path).then(|| below(&layer.files, path));
            (path.clone(), new, old.file(path))
        };
        Ok(contents.changed.iter().chain(&contents.deleted).map(step).collect())
    }

    /// Takes back what an apply that was killed left half done, and notes what one has done
    /// that could not say so any more.
    pub(super) fn recover(&self, listens: bool) -> Result<(), Error> {
        recover((self.site(&self.records()), listens), |outcome| {
            let (delegation, brought): (String, Brought) =
                serde_json::from_slice(outcome).map_err(|error| self.unreadable(&error))?;
            self.folders.write_brought(&delegation, &brought)
        })
    }

    /// Where applying is put on record.
    fn records(&self) -> PathBuf {
        self.folders.state.join(APPLYING)
    }

    fn site<'a>(&'a self, records: &'a Path) -> Site<'a> {
        Site { top: &self.project, records }
    }

    fn unreadable(&self, error: &serde_json::Error) -> Error {
        Error::Record { path: self.project.clone(), message: error.to_string() }
    }

    /// What stands against what where the user's files are not as they were.
    fn unfit(&self, blocked: &BTreeSet<Vec<u8>>, steps: &[Step], is_back: bool) -> Error {
        let steps: BTreeMap<&[u8], &Step> =
            steps.iter().map(|step| (step.0.as_slice(), step)).collect();
        let met = |path: &[u8]| {
            let (new, old) = match steps.get(path) {
                Some((_, new, old)) => (new.clone(), old.clone()),
                None => (None, None),
            };
            Met { sides: [file_in(&self.project, path), old, new], is_folder: false }
        };
        let hunks = self.hunks(blocked, met, if is_back { TAKEN_BACK } else { APPLIED });
        let (reason, hint) = (CHANGED.to_owned(), MOVE_YOURS.to_owned());
        Error::Unfit { reason, files: texts(blocked.iter()), hunks, hint }
    }

    /// Brings the user's files from one state to another, all of them or none, and notes that
    /// it was done.
    fn bring_to_folder(
        &self,
        steps: &[Step],
        (delegation, brought): (&str, &Brought),
    ) -> Result<Applied, Error> {
        let old = steps.iter().filter(|(_, _, old)| old.is_some());
        let leaving: BTreeSet<Vec<u8>> = old.map(|(path, _, _)| path.clone()).collect();
        let (mut touched, mut blocked) = (Vec::new(), BTreeSet::new());
        for (path, new, old) in steps {
            let now = file_in(&self.project, path);
            if same(now.as_deref(), new.as_deref())? {
                continue;
            }
            let in_the_way = match new {
                Some(_) => obstacles(&self.project, path, &leaving),
                None => Vec::new(),
            };
            if in_the_way.is_empty() && !same(now.as_deref(), old.as_deref())? {
                blocked.insert(path.clone());
            }
            blocked.extend(in_the_way);
            touched.push((path.clone(), new.clone(), old.clone()));
        }
        if !blocked.is_empty() {
            return Err(self.unfit(&blocked, steps, brought.taken_back));
        }
        let outcome = serde_json::to_vec(&(delegation, brought));
        let outcome = outcome.map_err(|error| self.unreadable(&error))?;
        let mut exchange = exchange(self.site(&self.records()), &touched, (&leaving, &outcome))?;
        // Where it cannot be noted, the next one finds on record that it was done.
        if self.folders.write_brought(delegation, brought).is_ok() {
            exchange.settle();
        }
        let mut files = texts(touched.iter().map(|(path, ..)| path));
        files.sort();
        Ok(Applied { files, commit: None })
    }
}
