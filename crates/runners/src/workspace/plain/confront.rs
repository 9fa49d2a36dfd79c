//! Two sides that do not fit together, as the start of somebody's work, outside any
//! repository.

use std::fs;
use std::path::Path;

use super::super::folders::Sides;
use super::super::markers::left;
use super::super::walk::below;
use super::super::{Error, Kept, Place};
use super::layer::{Layer, Stack, remove};
use super::merge::{clashes, step, texts};
use super::{Plain, copy};

impl Plain {
    /// Puts work into a folder that has the result: merged where it fits, between markers
    /// where it does not.
    pub(super) fn confronted(&self, root: &Path, ours: &str, work: &str) -> Result<Sides, Error> {
        let layer = Layer::open(&self.folders.state, work)?;
        let (current, old) = (self.stack(ours)?, self.stack(&layer.built_on(ours))?);
        let step = step(&old, |path| current.file(path), &layer)?;
        let in_conflict = clashes(&step, &current);
        let theirs = Stack { layers: vec![layer] };
        let mut joined = Vec::new();
        for path in &step.deleted {
            remove(root, path).map_err(Error::files("removing", &below(root, path)))?;
            joined.push(path.clone());
        }
        for (path, from) in &step.put {
            // A file cannot be where a folder is; whoever resolves it decides.
            if !in_conflict.contains(path) {
                copy::put(from, &below(root, path))?;
                joined.push(path.clone());
            }
        }
        for path in &step.conflicts {
            let at = below(root, path);
            let sides = [current.file(path), old.file(path), theirs.file(path)];
            match (self.marked(sides.each_ref().map(Option::as_deref)), sides) {
                (Some(marked), _) => {
                    fs::write(&at, marked).map_err(Error::files("writing", &at))?;
                }
                // One side has deleted it: what the other made of it is there.
                (None, [None, _, Some(theirs)]) => copy::put(&theirs, &at)?,
                (None, [_, _, _]) => continue,
            }
            joined.push(path.clone());
        }
        let files = texts(in_conflict.iter());
        Ok(Sides { ours: ours.to_owned(), theirs: work.to_owned(), files, joined })
    }

    /// The files in conflict that still have markers.
    pub(super) fn still_marked(&self, place: &Place, kept: &Kept) -> Result<Vec<String>, Error> {
        let Some(sides) = self.folders.known(place)?.sides else { return Ok(Vec::new()) };
        let resolved = Stack { layers: vec![Layer::open(&self.folders.state, &kept.commit)?] };
        let ours = self.stack(&sides.ours)?;
        let theirs = Stack { layers: vec![Layer::open(&self.folders.state, &sides.theirs)?] };
        let mut marked = Vec::new();
        for file in sides.files {
            // What is as the result has it, or gone, was decided about.
            let Some(path) = resolved.file(file.as_bytes()) else { continue };
            if path.is_symlink() {
                continue;
            }
            let read = |path: &Path| fs::read(path).map_err(Error::files("reading", path));
            let side = |side: &Stack| match side.file(file.as_bytes()) {
                Some(path) if !path.is_symlink() => read(&path),
                Some(_) | None => Ok(Vec::new()),
            };
            if left(&read(&path)?, || Ok([side(&ours)?, side(&theirs)?]))? {
                marked.push(file);
            }
        }
        Ok(marked)
    }
}
