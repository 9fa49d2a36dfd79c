//! The files of a store: packs under a second name, those of our own, and what a crash left of
//! either.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::super::folders::gone;
use super::super::super::{Error, record, refs};
use super::super::bring::replace;
use super::super::unfinished::remove_unwritten;

/// How what git, or we, have begun to write begins.
const DRAFT: &str = "tmp_";
/// A pack of what was fetched from a remote that has the rest.
pub(super) const PROMISED: &str = "promisor";
/// The files of a pack that somebody needs. Git looks for the index first.
const PARTS: [&str; 3] = ["pack", PROMISED, "idx"];
/// Objects in files of their own that are looked at.
const MAX_LOOSE: usize = 2_000_000;
/// Letters of the folder that such an object lies in.
const FOLDER_CHARS: usize = 2;

pub(super) fn make(folder: &Path) -> Result<(), Error> {
    let packs = folder.join("pack");
    fs::create_dir_all(&packs).map_err(Error::files("making", &packs))
}

/// Files that end so, in order.
pub(super) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    found.sort();
    found
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Objects in files of their own; `None` if there are more than anybody should have.
pub(super) fn loose(objects: &Path) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for folder in fs::read_dir(objects).into_iter().flatten().flatten() {
        let above = folder.file_name().to_string_lossy().into_owned();
        if above.len() != FOLDER_CHARS {
            continue;
        }
        for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            found.push(format!("{above}{}", entry.file_name().to_string_lossy()));
        }
        if found.len() > MAX_LOOSE {
            return None;
        }
    }
    // Git's drafts lie among them.
    found.retain(|id| refs::is_id(id));
    Some(found)
}

/// Takes a pack by a second name, which takes no room.
pub(super) fn link(index: &Path, into: &Path) -> io::Result<()> {
    take(index, into, &|from, to| fs::hard_link(from, to))
}

/// The same, or a copy where there can be no second name.
pub(super) fn link_or_copy(index: &Path, into: &Path) -> io::Result<()> {
    take(index, into, &|from, to| {
        fs::hard_link(from, to).or_else(|error| {
            if [ErrorKind::AlreadyExists, ErrorKind::NotFound].contains(&error.kind()) {
                return Err(error);
            }
            let draft = to.with_file_name(format!("{DRAFT}{}", record::fresh()));
            fs::copy(from, &draft)?;
            fs::rename(&draft, to)
        })
    })
}

fn take(index: &Path, into: &Path, how: &dyn Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    for ending in PARTS {
        let part = index.with_extension(ending);
        if ending == PROMISED && !part.exists() {
            continue;
        }
        match how(&part, &into.join("pack").join(name_of(&part))) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Deletes a pack: its index first, so that nobody looks for the rest.
pub(super) fn drop_pack(index: &Path) -> Result<(), Error> {
    for ending in ["idx", "rev", PROMISED, "pack"] {
        let path = index.with_extension(ending);
        gone(&path).map_err(Error::files("removing", &path))?;
    }
    Ok(())
}

/// Puts packs into a child's repository. Git looks for the index of a pack, and then for the
/// pack.
pub(super) fn hand_over(packs: &Path, folder: &Path) -> Result<(), Error> {
    for ending in ["pack", "idx"] {
        for path in files(packs, ending) {
            let to = format!("objects/pack/{}", name_of(&path));
            let handed = File::open(&path).and_then(|file| replace(folder, &to, &mut &file, None));
            handed.map_err(Error::files("writing", &folder.join(&to)))?;
        }
    }
    Ok(())
}

/// Deletes what somebody has begun to write into a store and not finished.
pub(super) fn clear_drafts(store: &Path) {
    let entries = fs::read_dir(store.join("pack")).into_iter().flatten().flatten();
    let is_draft = |path: &PathBuf| name_of(path).starts_with(DRAFT);
    remove_unwritten(entries.map(|entry| entry.path()).filter(is_draft));
}

/// Clears what a crash left.
pub(super) fn clear(store: &Path) -> Result<(), Error> {
    clear_drafts(store);
    for draft in files(store, record::DRAFT) {
        gone(&draft).map_err(Error::files("removing", &draft))?;
    }
    // Of a pack and its index one alone is nothing; somebody was killed in between.
    for (ending, other) in [("pack", "idx"), ("idx", "pack")] {
        for path in files(&store.join("pack"), ending) {
            if !path.with_extension(other).exists() {
                gone(&path).map_err(Error::files("removing", &path))?;
            }
        }
    }
    Ok(())
}
