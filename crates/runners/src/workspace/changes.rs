//! How a workspace's files differ from what they were when it was made.
//!
//! Found by walking the files and comparing each with what is remembered of it.
//! Nothing is opened: a file that was touched and has its old size is left open to
//! whoever knows its old content.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::Error;
use super::folders::Moment;
use super::index::{Index, Verdict};
use super::walk::{Locked, MAX_PATH_BYTES, below, walk};
use crate::depths::path_of;
use crate::wary;

/// How often the clock of the file system is asked whether it has moved on.
const MAX_TICKS: usize = 20;

/// Files that git reads in every folder, to know what the user wants of the others.
const RULES: [&[u8]; 2] = [b".gitignore", b".gitattributes"];

/// How the files differ from the base.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) added: Vec<Vec<u8>>,
    pub(super) modified: Vec<Vec<u8>>,
    pub(super) removed: Vec<Vec<u8>>,
    /// Removed, and what is now in their way is a file, a link or something git does not know.
    pub(super) hidden: Vec<Vec<u8>>,
    /// Touched; with the content that each had.
    pub(super) unsure: Vec<(Vec<u8>, String)>,
    /// Below a place that belongs to another repository; where that is checked out, only
    /// what was changed.
    pub(super) foreign: Vec<Vec<u8>>,
    /// What was removed there.
    pub(super) foreign_removed: Vec<Vec<u8>>,
    /// What is neither a file nor a folder, and so no part of any work.
    pub(super) others: Vec<Vec<u8>>,
    /// New, and called by too long a path to be kept: the beginning of it.
    pub(super) too_long: BTreeSet<Vec<u8>>,
    /// Whether not all of it could be read.
    pub(super) incomplete: bool,
}

/// Compares a workspace with what it was. `None` if there is no folder any more.
///
/// What lies in the shared folders is not looked at.
pub(super) fn compare(
    root: &Path,
    mut index: Index,
    (settled, shared): (Moment, &[PathBuf]),
) -> Result<Option<Changes>, Error> {
    if !fs::symlink_metadata(root).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(None);
    }
    let links = index.entries.iter().filter(|(_, entry)| entry.is_link_to_repository());
    let foreign: Vec<Vec<u8>> = links.map(|(path, _)| path.clone()).collect();
    let walked = walk(root, shared, Locked::Open).map_err(Error::files("reading", root))?;
    let mut changes = Changes { incomplete: walked.incomplete, ..Changes::default() };
    for folder in &foreign {
        if walked.folders.contains(folder) {
            index.entries.remove(folder);
        }
    }
    for found in walked.files {
        let Some(entry) = index.entries.remove(&found.path) else {
            let theirs = foreign.iter().any(|top| is_below(&found.path, top));
            let list = if theirs { &mut changes.foreign } else { &mut changes.added };
            list.push(found.path);
            continue;
        };
        match entry.verdict(&found.metadata, settled) {
            Verdict::Same => {}
            Verdict::Different => changes.modified.push(found.path),
            Verdict::Unsure => changes.unsure.push((found.path, entry.object)),
        }
    }
    // A file that a sparse checkout leaves out is missing on purpose.
    index.entries.retain(|_, entry| !entry.left_out);
    changes.others = walked.others.into_iter().map(|other| other.path).collect();
    changes.leave_out(index.entries.into_keys());
    changes.set_aside(walked.beyond);
    Ok(Some(changes))
}

impl Changes {
    /// Takes out what is new and called by too long a path to be kept, beside what is `beyond`
    /// any path.
    pub(super) fn set_aside(&mut self, beyond: Vec<Vec<u8>>) {
        let is_long = |path: &mut Vec<u8>| path.len() > MAX_PATH_BYTES;
        let added = self.added.extract_if(.., is_long);
        let foreign = self.foreign.extract_if(.., is_long);
        self.too_long.extend(added.chain(foreign).chain(beyond).map(beginning));
    }

    pub(super) fn is_empty(&self) -> bool {
        let own = [&self.added, &self.modified, &self.removed, &self.hidden];
        let mut lists = own.into_iter().chain([&self.foreign, &self.foreign_removed]);
        lists.all(Vec::is_empty) && self.unsure.is_empty()
    }

    /// Files of the base that are no longer there.
    pub(super) fn leave_out(&mut self, paths: impl Iterator<Item = Vec<u8>>) {
        let in_the_way: HashSet<&[u8]> =
            self.added.iter().chain(&self.others).map(Vec::as_slice).collect();
        let is_hidden = |path: &Vec<u8>| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut ends = slashes.map(|(at, _)| at).chain([path.len()]);
            ends.any(|at| path.get(..at).is_some_and(|top| in_the_way.contains(top)))
        };
        let (hidden, removed) = paths.partition(is_hidden);
        (self.hidden, self.removed) = (hidden, removed);
    }

    /// Removes pipes and the like from where git looks for rules: it would wait for ever to
    /// hear one.
    pub(super) fn unplug(&self, root: &Path) {
        let is_rule = |path: &&Vec<u8>| {
            let name = path.rsplit(|byte| *byte == b'/').next();
            name.is_some_and(|name| RULES.contains(&name))
        };
        for path in self.others.iter().filter(is_rule) {
            // Should this fail, git is not waited for longer than for anything else.
            drop(wary::remove_below(root, &below(Path::new(""), path)));
        }
    }

    /// Makes readable what its owner closed to itself, and the folders on the way to it. Who
    /// looked may have powers that git, when it looks, has not.
    pub(super) fn unlock(&self, root: &Path) {
        let unsure = self.unsure.iter().map(|(path, _)| path);
        let all = self.added.iter().chain(&self.modified).chain(&self.removed);
        let mut ways: BTreeSet<&[u8]> = BTreeSet::from([b"".as_slice()]);
        for path in all.chain(unsure.clone()) {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            ways.extend(slashes.filter_map(|(at, _)| path.get(..at)));
        }
        // From the top down, since none is reached through one that is closed. Should it fail, git
        // says so with the file's name.
        for way in ways {
            drop(open_up((root, way), |found| if found.is_dir() { 0o700 } else { 0 }));
        }
        for path in self.added.iter().chain(&self.modified).chain(unsure) {
            drop(open_up((root, path), |found| if found.is_file() { 0o400 } else { 0 }));
        }
    }
}

/// Lets its owner do more with something below a folder, whatever somebody puts in its place.
fn open_up((root, path): (&Path, &[u8]), more: impl Fn(&Metadata) -> u32) -> io::Result<()> {
    let place = wary::place_below(root, &below(Path::new(""), path))?;
    let at = path_of(&place);
    let found = fs::metadata(&at)?;
    let mode = found.mode() | more(&found);
    if mode == found.mode() {
        Ok(())
    } else {
        fs::set_permissions(at, Permissions::from_mode(mode))
    }
}

/// As much of a path as is needed to find it, up to where it becomes too long.
fn beginning(mut path: Vec<u8>) -> Vec<u8> {
    let mut slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let end = slashes.find(|(at, _)| *at > MAX_PATH_BYTES).map_or(path.len(), |(at, _)| at);
    path.truncate(end);
    path
}

/// Whether a path lies below another one.
pub(super) fn is_below(path: &[u8], top: &[u8]) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// Waits until the file system's clock is past a moment; answers with the time it shows.
///
/// That clock moves in steps of milliseconds. Once it has moved, every later change
/// of a file shows in its times, and equal times prove equal content. Mostly it has:
/// the `last` file that was written is younger than all others.
pub(super) fn settle(last: &Path, clock: &Path, newest: Moment) -> Result<Moment, Error> {
    let mut metadata = fs::metadata(last).map_err(Error::files("reading", last))?;
    for _ in 0..MAX_TICKS {
        if changed(&metadata) > newest {
            break;
        }
        thread::sleep(Duration::from_millis(1));
        let file = File::create(clock).map_err(Error::files("writing", clock))?;
        metadata = file.metadata().map_err(Error::files("reading", clock))?;
    }
    Ok(changed(&metadata))
}

fn changed(metadata: &Metadata) -> Moment {
    (metadata.ctime(), metadata.ctime_nsec())
}
