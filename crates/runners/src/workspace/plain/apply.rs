//! Bringing a result into the user's own folder.
//!
//! Every file that would change must still be what it was when the work began.
//! New contents are all written beside their places before the first is moved in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::folders::Brought;
use super::super::walk::below;
use super::super::{Applied, Error};
use super::layer::{Layer, file_in, passes_link, remove, same};
use super::merge::texts;
use super::{Plain, copy};

/// A file, what it is to be, and what it must still be.
type Step = (Vec<u8>, Option<PathBuf>, Option<PathBuf>);

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
        let applied = self.bring_to_folder(&self.steps(delegation, &after)?)?;
        let (tip, before) = (after.clone(), String::new());
        let brought = Brought { tip, before, after, files_only: true, taken_back: false };
        self.folders.write_brought(delegation, &brought)?;
        Ok(applied)
    }

    /// Takes back what applying the delegation's result changed.
    pub(super) fn take_from_folder(&self, delegation: &str) -> Result<Applied, Error> {
        let brought = self.folders.brought(delegation)?.filter(|brought| !brought.taken_back);
        let Some(brought) = brought else {
            return Err(Error::Refused {
                reason: format!("nothing of {delegation} was applied here"),
                files: Vec::new(),
                hint: "there is nothing to take back".into(),
            });
        };
        let steps = self.steps(delegation, &brought.after)?;
        let back: Vec<Step> = steps.into_iter().map(|(path, new, old)| (path, old, new)).collect();
        let applied = self.bring_to_folder(&back)?;
        self.folders.write_brought(delegation, &Brought { taken_back: true, ..brought })?;
        Ok(applied)
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

    /// Brings the user's files from one state to another, all of them or none.
    fn bring_to_folder(&self, steps: &[Step]) -> Result<Applied, Error> {
        let leaving: BTreeSet<Vec<u8>> =
            steps.iter().filter(|(_, new, _)| new.is_none()).map(|step| step.0.clone()).collect();
        let (mut touched, mut changed) = (Vec::new(), Vec::new());
        for (path, new, old) in steps {
            let now = file_in(&self.project, path);
            if same(now.as_deref(), new.as_deref())? {
                continue;
            }
            let blocked = new.is_some() && self.blocked(path, &leaving);
            if blocked || !same(now.as_deref(), old.as_deref())? {
                changed.push(path.clone());
            }
            touched.push((path.clone(), new.clone()));
        }
        if !changed.is_empty() {
            return Err(Error::Refused {
                reason: "files have changed since the work began".into(),
                files: texts(changed.iter()),
                hint: "nothing was changed; move yours away or bring them over by hand".into(),
            });
        }
        write(&self.project, &touched)?;
        let mut files = texts(touched.iter().map(|(path, _)| path));
        files.sort();
        Ok(Applied { files, commit: None })
    }

    /// Whether something of the user's that stays is in the way of a file.
    fn blocked(&self, path: &[u8], leaving: &BTreeSet<Vec<u8>>) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let replaced =
            slashes.filter_map(|(at, _)| path.get(..at)).any(|way| leaving.contains(way));
        let mut start = path.to_vec();
        start.push(b'/');
        let emptied = leaving.iter().any(|gone| gone.starts_with(&start));
        let folder = below(&self.project, path).is_dir();
        (!replaced && passes_link(&self.project, path)) || (folder && !emptied)
    }
}

fn write(project: &Path, touched: &[(Vec<u8>, Option<PathBuf>)]) -> Result<(), Error> {
    let scratch = project.join(format!(".legation-apply-{}", std::process::id()));
    for (path, from) in touched {
        if let Some(from) = from {
            copy::put(from, &below(&scratch, path))?;
        }
    }
    for (path, from) in touched {
        if from.is_none() {
            remove(project, path).map_err(Error::files("removing", &below(project, path)))?;
        }
    }
    for (path, from) in touched {
        if from.is_none() {
            continue;
        }
        let target = below(project, path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(Error::files("making", folder))?;
        }
        fs::rename(below(&scratch, path), &target).map_err(Error::files("writing", &target))?;
    }
    super::gone(&scratch).map_err(Error::files("removing", &scratch))
}
