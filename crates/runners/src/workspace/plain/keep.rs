//! What an attempt did to its copy, and keeping it as a layer.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::changes::{Changes, compare, settle};
use super::super::folders::{Made, Moment, gone};
use super::super::index::{Entry, Index};
use super::super::walk::{Locked, below, walk};
use super::super::{Error, Kept, MAX_FILES_SEEN, Place, Seen, record};
use super::layer::{Contents, file_in, layer_folder, same};
use super::{Plain, copy};

/// Notes what every file of a fresh workspace is like.
pub(super) fn remember(root: &Path, own: &Path) -> Result<Moment, Error> {
    let walked = walk(root, &[], Locked::Leave).map_err(Error::files("reading", root))?;
    let files: Vec<(Vec<u8>, Entry)> =
        walked.files.into_iter().map(|found| (found.path, Entry::of(&found.metadata))).collect();
    let manifest = own.join("manifest.json");
    record::write(&manifest, &files)?;
    let index = Index { entries: files.into_iter().collect() };
    settle(&manifest, &own.join("clock"), index.times().newest)
}

impl Plain {
    /// What the attempt did.
    pub(super) fn see(&self, place: &Place) -> Result<Seen, Error> {
        let made = self.folders.known(place)?;
        let Some(changes) = self.changes(&made)? else { return Ok(Seen::default()) };
        let lists = [&changes.added, &changes.modified, &changes.removed, &changes.hidden];
        let all = lists.into_iter().flatten().chain(&changes.too_long);
        let mut files: Vec<String> =
            all.map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        files.sort();
        let more_files = changes.incomplete || files.len() > MAX_FILES_SEEN;
        files.truncate(MAX_FILES_SEEN);
        let files_changed = files;
        let not_shared = made.not_shared;
        Ok(Seen { exists: true, files_changed, not_shared, more_files, ..Seen::default() })
    }

    /// How a workspace differs from its base; what was only touched is left out.
    fn changes(&self, made: &Made) -> Result<Option<Changes>, Error> {
        let path = self.folders.own(&made.place.attempt).join("manifest.json");
        let root = &made.place.root;
        let look = |skip: &[PathBuf]| {
            let files: Option<Vec<(Vec<u8>, Entry)>> = record::read(&path)?;
            let index = Index { entries: files.unwrap_or_default().into_iter().collect() };
            compare(root, index, (made.settled, skip))
        };
        let mut looked = look(&[])?;
        if let Some(changes) = &looked {
            changes.unplug(root);
        }
        if looked.as_ref().is_some_and(|changes| changes.incomplete) {
            // What is no work is no reason to keep none.
            looked = look(&self.ignored_folders(root))?;
        }
        let Some(mut changes) = looked else { return Ok(None) };
        changes.unlock(root);
        let stack = self.stack(&made.place.base)?;
        for (path, _) in std::mem::take(&mut changes.unsure) {
            if !same(stack.file(&path).as_deref(), Some(&below(root, &path)))? {
                changes.modified.push(path);
            }
        }
        self.without_ignored(root, &mut changes);
        Ok(Some(changes))
    }

    /// Keeps the work as a layer outside the workspace.
    pub(super) fn take_custody(&self, place: &Place) -> Result<Option<Kept>, Error> {
        let made = self.folders.known(place)?;
        let place = &made.place;
        let changes = self.changes(&made)?.filter(|changes| !changes.is_empty());
        let Some(changes) = changes else {
            self.folders.write_custody(&place.attempt, None)?;
            return Ok(None);
        };
        if changes.incomplete {
            let message = "a part of it could not be read, so it cannot be kept whole".into();
            return Err(Error::Record { path: place.root.clone(), message });
        }
        let commit = format!("kept:{}", place.attempt);
        let folder = layer_folder(&self.folders.state, &commit)?;
        let mut contents = Contents {
            changed: changes.added.into_iter().chain(changes.modified).collect(),
            deleted: changes.removed.into_iter().chain(changes.hidden).collect(),
            base: place.base.clone(),
            ..Contents::default()
        };
        for path in made.sides.iter().flat_map(|sides| &sides.joined) {
            // What was put there for the attempt goes back with its work.
            if contents.changed.contains(path) || contents.deleted.contains(path) {
                continue;
            }
            match file_in(&place.root, path) {
                Some(_) => contents.changed.insert(path.clone()),
                None => contents.deleted.insert(path.clone()),
            };
        }
        let fresh = folder.with_extension("new");
        gone(&fresh).map_err(Error::files("removing", &fresh))?;
        for path in &contents.changed {
            copy::put(&below(&place.root, path), &below(&fresh.join("files"), path))?;
        }
        record::write(&fresh.join("layer.json"), &contents)?;
        // A crash between these two leaves the workspace, and the next call keeps it again.
        gone(&folder).map_err(Error::files("removing", &folder))?;
        fs::rename(&fresh, &folder).map_err(Error::files("writing", &folder))?;
        let reference = format!("kept/{}", place.attempt);
        let kept = Kept { reference, commit, base: place.base.clone() };
        self.folders.write_custody(&place.attempt, Some(&kept))?;
        Ok(Some(kept))
    }
}
