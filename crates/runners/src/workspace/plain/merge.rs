//! Results of plain folders: merged file by file, shown, taken back.
//!
//! A file that only one side changed is that side's; one that both changed alike is
//! either's; everything else is a conflict.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde::{Deserialize, Serialize};

use super::super::folders::{Begun, gone};
use super::super::git::Trust;
use super::super::hunks::MERGED;
use super::super::obstacles::obstacles;
use super::super::walk::below;
use super::super::{Candidate, Error, Kept, Merge, Outlook, Place, record};
use super::hunks::Met;
use super::layer::{Contents, Layer, Stack, file_in, layer_folder, remove, same};
use super::{Plain, copy};
use crate::depths::path_of;
use crate::wary;

/// Where a delegation's result stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tip {
    /// The number of its newest layer; at zero it is the base.
    pub(super) number: u64,
    /// Layers that were ever made.
    pub(super) made: u64,
    pub(super) merged: BTreeSet<String>,
    /// The newest layer that whoever delegated has in its own workspace.
    #[serde(default)]
    pub(super) brought: u64,
}

/// What changes on the way from one state to another.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// Files, and where their new content is.
    pub(super) put: Vec<(Vec<u8>, PathBuf)>,
    pub(super) deleted: Vec<Vec<u8>>,
    pub(super) conflicts: BTreeSet<Vec<u8>>,
}

impl Plain {
    pub(super) fn tip(&self, delegation: &str) -> Result<Tip, Error> {
        Ok(record::read(&self.tip_path(delegation))?.unwrap_or_default())
    }

    /// The name of what a delegation's result is now.
    pub(super) fn result_of(&self, begun: &Begun) -> Result<String, Error> {
        let tip = self.tip(&begun.delegation)?;
        Ok(result(&begun.base, &begun.delegation, tip.number))
    }

    pub(super) fn tip_path(&self, delegation: &str) -> PathBuf {
        self.folders.state.join("results").join(format!("{delegation}.json"))
    }

    /// A base with the work that a subtask depends on, and what that was built on.
    pub(super) fn joined(&self, base: &str, with: &[String]) -> Result<String, Error> {
        let mut joined = base.to_owned();
        for work in with {
            let built_on = Layer::open(&self.folders.state, work)?.built_on(base);
            for name in built_on.split('+').chain([work.as_str()]) {
                if !joined.split('+').any(|known| known == name) {
                    joined = self.join(&joined, name, base)?;
                }
            }
        }
        Ok(joined)
    }

    /// One more layer on top, if it fits.
    fn join(&self, joined: &str, name: &str, base: &str) -> Result<String, Error> {
        let layer = Layer::open(&self.folders.state, name)?;
        let current = self.stack(joined)?;
        let step = step(&self.stack(&layer.built_on(base))?, |path| current.file(path), &layer)?;
        let files = clashes(&step, &current);
        if files.is_empty() {
            Ok(format!("{joined}+{name}"))
        } else {
            Err(Error::Conflict { files: texts(files.iter()) })
        }
    }

    /// Merges kept work into the delegation's result.
    pub(super) fn merge_into_result(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error> {
        let _queue = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        match self.outlook(delegation, kept)? {
            Outlook::Fits(candidate) => {
                self.move_on(delegation, kept, &candidate)?;
                Ok(Merge::Clean { commit: candidate.commit })
            }
            Outlook::Conflict { files, hunks } => Ok(Merge::Conflict { files, hunks }),
            // Without git nobody has a result checked out.
            Outlook::Nothing | Outlook::Held { .. } => Ok(Merge::Nothing),
        }
    }

    /// How a merge into the delegation's result would go.
    pub(super) fn outlook_for(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error> {
        let _queue = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        self.outlook(delegation, kept)
    }

    /// Moves the delegation's result, unless somebody else did meanwhile.
    pub(super) fn advance_result(
        &self,
        delegation: &str,
        kept: &Kept,
        to: &Candidate,
    ) -> Result<bool, Error> {
        let _queue = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        self.move_on(delegation, kept, to)
    }

    fn outlook(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error> {
        let begun = self.folders.begun(delegation)?;
        let tip = self.tip(delegation)?;
        if tip.merged.contains(&kept.commit) {
            return Ok(Outlook::Nothing);
        }
        let state = &self.folders.state;
        let here = self.result_of(&begun)?;
        let current = self.stack(&here)?;
        let layer = Layer::open(state, &kept.commit)?;
        let old = self.stack(&kept.base)?;
        let step = step(&old, |path| current.file(path), &layer)?;
        let files = clashes(&step, &current);
        if !files.is_empty() {
            let theirs = Stack { layers: vec![layer] };
            let met = |path: &[u8]| Met::of(path, [&current, &old, &theirs]);
            let hunks = self.hunks(&files, met, MERGED);
            return Ok(Outlook::Conflict { files: texts(files.iter()), hunks });
        }
        // Until the tip says so, this layer is nobody's, and is made anew.
        let commit = format!("result:{delegation}:{}", tip.made.saturating_add(1));
        let folder = layer_folder(state, &commit)?;
        gone(&folder).map_err(Error::files("removing", &folder))?;
        let below_it = current.layers.get(1).cloned();
        write_layer(&folder, below_it.as_ref(), (&step, &kept.commit))?;
        let from = (tip.number > 0).then(|| tip.number.to_string());
        Ok(Outlook::Fits(Candidate { commit, from, is_forward: here == kept.base }))
    }

    fn move_on(&self, delegation: &str, kept: &Kept, to: &Candidate) -> Result<bool, Error> {
        let mut tip = self.tip(delegation)?;
        let number = tip.made.saturating_add(1);
        let from = (tip.number > 0).then(|| tip.number.to_string());
        let is_next = from == to.from && to.commit == format!("result:{delegation}:{number}");
        // The layer may have been made anew for other work since.
        let made_for = |layer: Layer| layer.contents.is_some_and(|made| made.work == kept.commit);
        if !is_next || !Layer::open(&self.folders.state, &to.commit).is_ok_and(made_for) {
            return Ok(false);
        }
        tip.merged.insert(kept.commit.clone());
        (tip.number, tip.made) = (number, number);
        record::write(&self.tip_path(delegation), &tip)?;
        Ok(true)
    }

    /// Merges a nested delegation's result into its parent's workspace.
    pub(super) fn bring_into(&self, into: &Place, delegation: &str) -> Result<Merge, Error> {
        let begun = self.folders.begun(delegation)?;
        let root = self.folders.known(into)?.place.root;
        let tip = self.tip(delegation)?;
        if tip.number == 0 {
            return Ok(Merge::Nothing);
        }
        let commit = format!("result:{delegation}:{}", tip.number);
        let layer = Layer::open(&self.folders.state, &commit)?;
        let old = self.stack(&begun.base)?;
        let mut step = step(&old, |path| file_in(&root, path), &layer)?;
        let paths = step.put.iter().map(|(path, _)| path);
        let replaced = paths.clone().filter(|path| file_in(&root, path).is_some());
        let leaving: BTreeSet<Vec<u8>> = replaced.chain(&step.deleted).cloned().collect();
        let blocked = paths.filter(|path| !obstacles(&root, path, &leaving).is_empty());
        let blocked: Vec<Vec<u8>> = blocked.cloned().collect();
        step.conflicts.extend(blocked);
        if !step.conflicts.is_empty() {
            let theirs = Stack { layers: vec![layer] };
            let here = Stack { layers: vec![Layer { files: root, contents: None }] };
            let met = |path: &[u8]| Met::of(path, [&here, &old, &theirs]);
            let hunks = self.hunks(&step.conflicts, met, MERGED);
            return Ok(Merge::Conflict { files: texts(step.conflicts.iter()), hunks });
        }
        let is_there = step.put.is_empty() && step.deleted.is_empty();
        for path in &step.deleted {
            remove(&root, path).map_err(Error::files("removing", &below(&root, path)))?;
        }
        // Each file is written beside first, where no child sees it: whoever is killed over it
        // leaves a file as it was or as it is to be, and the next one does the rest.
        let fresh = self.folders.layer(&into.attempt).join(record::fresh());
        for (path, from) in &step.put {
            let to = below(Path::new(""), path);
            copy::put(from, &fresh)?;
            let failed = || Error::files("writing", &root.join(&to));
            // Whoever is at work there may lay a link in the way.
            let above = wary::way_below(&root, &to).map_err(failed())?;
            let at = path_of(&above).join(to.file_name().unwrap_or_default());
            copy::make_way(&at).map_err(failed())?;
            std::fs::rename(&fresh, &at).map_err(failed())?;
        }
        self.note_brought(delegation, tip.number)?;
        Ok(if is_there { Merge::Nothing } else { Merge::Clean { commit } })
    }

    fn note_brought(&self, delegation: &str, number: u64) -> Result<(), Error> {
        let _queue = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let tip = Tip { brought: number, ..self.tip(delegation)? };
        record::write(&self.tip_path(delegation), &tip)
    }

    /// Takes the result back to the base; its layers stay.
    pub(super) fn roll_back(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.folders.begun(delegation)?;
        let _queue = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let tip = self.tip(delegation)?;
        if tip.number == 0 {
            return Ok(None);
        }
        let back = Tip { made: tip.made, ..Tip::default() };
        record::write(&self.tip_path(delegation), &back)?;
        Ok(Some(format!("result:{delegation}:{}", tip.number)))
    }

    /// The difference that a delegation, or one kept work of it, makes.
    pub(super) fn difference(
        &self,
        delegation: &str,
        kept: Option<&Kept>,
    ) -> Result<String, Error> {
        let begun = self.folders.begun(delegation)?;
        let tip = self.tip(delegation)?;
        let (base, name) = match kept {
            Some(kept) => (kept.base.clone(), kept.commit.clone()),
            None if tip.number == 0 => return Ok(String::new()),
            None => (begun.base, format!("result:{delegation}:{}", tip.number)),
        };
        let layer = Layer::open(&self.folders.state, &name)?;
        let contents = layer.contents.clone().unwrap_or_default();
        let scratch = self.folders.state.join(format!("diff-{}", std::process::id()));
        let _queue = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        gone(&scratch).map_err(Error::files("removing", &scratch))?;
        let old = self.stack(&base)?;
        for path in contents.changed.iter().chain(&contents.deleted) {
            if let Some(file) = old.file(path) {
                copy::put(&file, &below(&scratch.join("a"), path))?;
            }
        }
        for path in &contents.changed {
            copy::put(&below(&layer.files, path), &below(&scratch.join("b"), path))?;
        }
        let shown = self.show(&scratch, &contents);
        gone(&scratch).map_err(Error::files("removing", &scratch))?;
        shown
    }

    /// A difference as git writes it; a list where there is no git.
    fn show(&self, scratch: &Path, contents: &Contents) -> Result<String, Error> {
        for side in ["a", "b"] {
            let side = scratch.join(side);
            std::fs::create_dir_all(&side).map_err(Error::files("making", &side))?;
        }
        let call = self.git.call("diff", Trust::Repository).within(scratch);
        let call = call.env("GIT_CEILING_DIRECTORIES", &self.folders.state);
        let call = call.args(["--no-index", "--no-prefix", "--no-color", "--no-ext-diff"]);
        match call.args(["--no-textconv", "--", "a", "b"]).ask() {
            Ok(said) if said.code <= 1 => Ok(two_sided(&String::from_utf8_lossy(&said.out))),
            Ok(_) | Err(Error::Files { .. }) => {
                let changed = texts(contents.changed.iter())
                    .into_iter()
                    .map(|path| format!("changed {path}\n"));
                let deleted = texts(contents.deleted.iter())
                    .into_iter()
                    .map(|path| format!("deleted {path}\n"));
                Ok(changed.chain(deleted).collect())
            }
            Err(error) => Err(error),
        }
    }
}

/// The difference with both sides in every heading. Of a file that is only on one side,
/// git names the folder of that side twice; what is taken for a patch has `a/` and `b/`.
fn two_sided(diff: &str) -> String {
    let mut text = String::with_capacity(diff.len());
    for line in diff.split_inclusive('\n') {
        // No line of a file begins so: those have a sign in front.
        let names = line.strip_prefix("diff --git ");
        match names.and_then(|names| twice(names.trim_end_matches('\n'))) {
            Some(name) => {
                let side = |side: &str| match name.strip_prefix('"') {
                    Some(rest) => format!("\"{side}{}", rest.get(1..).unwrap_or_default()),
                    None => format!("{side}{}", name.get(1..).unwrap_or_default()),
                };
                text.push_str(&format!("diff --git {} {}\n", side("a"), side("b")));
            }
            None => text.push_str(line),
        }
    }
    text
}

/// The name that stands there twice.
fn twice(names: &str) -> Option<&str> {
    let (one, other) = names.split_at_checked(names.len() / 2)?;
    (other.strip_prefix(' ') == Some(one)).then_some(one)
}

/// What it takes to bring a layer's change, made on `old`, to what is there now.
pub(super) fn step(
    old: &Stack,
    current: impl Fn(&[u8]) -> Option<PathBuf>,
    layer: &Layer,
) -> Result<Step, Error> {
    let contents = layer.contents.clone().unwrap_or_default();
    let mut step = Step::default();
    for path in contents.changed.iter().chain(&contents.deleted) {
        let new = contents.changed.contains(path).then(|| below(&layer.files, path));
        let now = current(path);
        if same(now.as_deref(), new.as_deref())? {
            continue;
        }
        if !same(now.as_deref(), old.file(path).as_deref())? {
            step.conflicts.insert(path.clone());
            continue;
        }
        match new {
            Some(from) => step.put.push((path.clone(), from)),
            None => step.deleted.push(path.clone()),
        }
    }
    Ok(step)
}

/// The conflicts of a step, also those of a file with a folder of the same name.
pub(super) fn clashes(step: &Step, current: &Stack) -> BTreeSet<Vec<u8>> {
    let mut conflicts = step.conflicts.clone();
    let leaving: BTreeSet<&[u8]> = step.deleted.iter().map(Vec::as_slice).collect();
    for (path, _) in &step.put {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.filter_map(|(at, _)| path.get(..at));
        let under_file = above.any(|way| current.file(way).is_some() && !leaving.contains(way));
        if under_file || current.has_below(path, &leaving) {
            conflicts.insert(path.clone());
        }
    }
    conflicts
}

/// Writes a new result layer: the old one, and a step on top of it.
fn write_layer(
    folder: &Path,
    below_it: Option<&Layer>,
    (step, work): (&Step, &str),
) -> Result<(), Error> {
    let mut contents = Contents::default();
    let files = folder.join("files");
    if let Some(layer) = below_it {
        contents = layer.contents.clone().unwrap_or_default();
        for path in &contents.changed {
            copy::put(&below(&layer.files, path), &below(&files, path))?;
        }
    }
    for path in &step.deleted {
        remove(&files, path).map_err(Error::files("removing", &below(&files, path)))?;
        contents.changed.remove(path);
        contents.deleted.insert(path.clone());
    }
    for (path, from) in &step.put {
        copy::put(from, &below(&files, path))?;
        contents.deleted.remove(path);
        contents.changed.insert(path.clone());
    }
    work.clone_into(&mut contents.work);
    record::write(&folder.join("layer.json"), &contents)
}

/// The name of a delegation's result: its base, and its newest layer over it.
fn result(base: &str, delegation: &str, number: u64) -> String {
    if number == 0 { base.to_owned() } else { format!("{base}+result:{delegation}:{number}") }
}

pub(super) fn texts<'a>(paths: impl Iterator<Item = &'a Vec<u8>>) -> Vec<String> {
    paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}
