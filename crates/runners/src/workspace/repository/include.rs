//! Ignored files that every workspace gets a copy of: `.worktreeinclude`.
//!
//! The file has the syntax of `.gitignore`. What it names is copied only if git
//! ignores it, so that nothing comes twice; and it counts as the attempt's doing only
//! once the attempt has changed it.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use legation_core::digest::Running;

use super::super::changes::Changes;
use super::super::folders::Made;
use super::super::index::Entry;
use super::super::walk::below;
use super::super::{Error, INCLUDE_LIST, MAX_INCLUDED, Place, plain, record};
use super::Repository;

impl Repository {
    /// Copies the ignored files that the user wants in every workspace.
    pub(super) fn include(&self, place: &Place) -> Result<(), Error> {
        let Some(top) = self.user.top.as_ref().filter(|top| top.join(INCLUDE_LIST).is_file())
        else {
            return Ok(());
        };
        let call = self.on_checkout("ls-files", top).args(["-z", "--others", "--ignored"]);
        let listed = call.arg(format!("--exclude-from={INCLUDE_LIST}")).run()?;
        if listed.is_empty() {
            return Ok(());
        }
        // Of what the list names, what git ignores.
        let call = self.on_checkout("check-ignore", top).args(["-z", "--stdin"]).input(listed);
        let ignored = call.ask()?;
        if ignored.code > 1 {
            return Err(super::super::git::complaint("check-ignore", &ignored));
        }
        let paths = ignored.out.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let ours = |path: &&[u8]| {
            let mut parts = path.split(|byte| *byte == b'/');
            !parts.any(|part| part == b".legation" || part == b".git")
        };
        let mut included = Vec::new();
        let mut content = Running::default();
        for path in paths.filter(ours).take(MAX_INCLUDED) {
            let (from, to) = (below(top, path), below(&place.root, path));
            plain::put(&from, &to)?;
            let found = fs::symlink_metadata(&to).map_err(Error::files("reading", &to))?;
            add_to(&mut content, path, &to).map_err(Error::files("reading", &to))?;
            included.push((path.to_vec(), Entry::of(&found)));
        }
        record::write(&self.content_record(place), &content.hex())?;
        self.note_included(place, included)
    }

    fn content_record(&self, place: &Place) -> PathBuf {
        self.folders.own(&place.attempt).join("included-content.json")
    }

    /// A hash of what was copied, as it was then; nothing if nothing was.
    pub(super) fn included_content(&self, place: &Place) -> Result<String, Error> {
        Ok(record::read(&self.content_record(place))?.unwrap_or_default())
    }

    /// Notes files that are no work of the attempt, beside those that are known.
    pub(super) fn note_included(
        &self,
        place: &Place,
        files: Vec<(Vec<u8>, Entry)>,
    ) -> Result<(), Error> {
        let path = self.folders.own(&place.attempt).join("included.json");
        let mut all: Vec<(Vec<u8>, Entry)> = record::read(&path)?.unwrap_or_default();
        all.extend(files);
        record::write(&path, &all)
    }

    /// Leaves out the copies that are still as they were made.
    pub(super) fn without_included(
        &self,
        made: &Made,
        mut changes: Changes,
    ) -> Result<Changes, Error> {
        let path = self.folders.own(&made.place.attempt).join("included.json");
        let included: Option<Vec<(Vec<u8>, Entry)>> = record::read(&path)?;
        let Some(included) = included else { return Ok(changes) };
        let included: HashMap<Vec<u8>, Entry> = included.into_iter().collect();
        changes.added.retain(|path| {
            let now = fs::symlink_metadata(below(&made.place.root, path));
            let same = |entry: &Entry| now.is_ok_and(|now| Entry::of(&now) == *entry);
            !included.get(path).is_some_and(same)
        });
        Ok(changes)
    }
}

/// Adds a file's name, kind and content to a hash; each with its length, so that no two run
/// together.
fn add_to(hash: &mut Running, name: &[u8], file: &Path) -> io::Result<()> {
    let link = fs::read_link(file);
    let (kind, content) = match &link {
        Ok(target) => (b"l", target.as_os_str().as_bytes().to_vec()),
        Err(_) => (b"f", fs::read(file)?),
    };
    for part in [name, kind, &content] {
        hash.add(&(part.len() as u64).to_le_bytes());
        hash.add(part);
    }
    Ok(())
}
