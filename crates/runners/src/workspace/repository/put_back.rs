//! Putting the user's files back where git has come only part of the passage.
//!
//! Only what is now as it was meant to become, or is missing, is changed: whatever else is
//! there is somebody's.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::Error;
use super::super::plain::{file_in, remove};
use super::super::walk::below;
use super::Repository;

/// How git says in a list that there is no file.
const NOTHING: &[u8] = b"000000";
/// How it says that there is another repository: we leave its files alone.
const REPOSITORY: &[u8] = b"160000";

/// Files on the way from one commit to another.
pub(super) struct Passage {
    from: String,
    files: Vec<OnTheWay>,
}

struct OnTheWay {
    path: Vec<u8>,
    /// What git knows it by, before and afterwards; nothing where there is none.
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    /// Whether it was there before: it may be outside of a sparse checkout.
    was_there: bool,
}

impl Repository {
    /// What is about to change between two commits, and how it stands.
    pub(super) fn setting_out(&self, top: &Path, from: &str, to: &str) -> Result<Passage, Error> {
        let call = self.on_objects("diff-tree").args(["-r", "-z", "--no-renames", from, to]);
        let text = call.run()?;
        let mut parts = text.split(|byte| *byte == 0);
        let mut files = Vec::new();
        while let (Some(entry), Some(path)) = (parts.next(), parts.next()) {
            let mut words = entry.split(|byte| matches!(byte, b' ' | b':'));
            words.next();
            let mut word = || words.next().unwrap_or_default();
            let (mode, new_mode) = (word(), word());
            let known =
                |mode: &[u8], id: &[u8]| (mode != NOTHING).then(|| [mode, b" ", id].concat());
            let (old, new) = (known(mode, word()), known(new_mode, word()));
            if mode != REPOSITORY && new_mode != REPOSITORY {
                let was_there = file_in(top, path).is_some();
                files.push(OnTheWay { path: path.to_vec(), old, new, was_there });
            }
        }
        Ok(Passage { from: from.to_owned(), files })
    }

    /// Puts back what has come of it; an error that names what is not as it was.
    pub(super) fn put_back(&self, top: &Path, passage: &Passage, why: Error) -> Error {
        let left = self.try_back(top, passage);
        let files = match left {
            Ok(left) if left.is_empty() => return why,
            Ok(left) => left.iter().map(|path| String::from_utf8_lossy(path).into()).collect(),
            Err(error) => vec![error.to_string()],
        };
        let reason = format!("{why}, and some files are not as they were");
        let hint = format!("`git show {}:FILE` has what was there", passage.from);
        Error::Refused { reason, files, hint }
    }

    fn try_back(&self, top: &Path, passage: &Passage) -> Result<Vec<Vec<u8>>, Error> {
        let unlike_new = self.unlike(top, passage, |file| file.new.as_ref())?;
        let is_new = |file: &OnTheWay| file.new.is_some() && !unlike_new.contains(&file.path);
        for file in passage.files.iter().filter(|file| !file.was_there && is_new(file)) {
            let at = below(top, &file.path);
            remove(top, &file.path).map_err(Error::files("removing", &at))?;
        }
        let is_missing = |file: &OnTheWay| fs::symlink_metadata(below(top, &file.path)).is_err();
        let there = || passage.files.iter().filter(|file| file.was_there);
        let wanted: Vec<u8> = there()
            .filter(|file| is_new(file) || is_missing(file))
            .flat_map(|file| [file.path.as_slice(), b"\0"].concat())
            .collect();
        if !wanted.is_empty() {
            self.with_entries(
                top,
                passage,
                |file| file.old.as_ref(),
                |index| {
                    let call = self.on_checkout("checkout-index", top).env("GIT_INDEX_FILE", index);
                    // What it cannot do is found below.
                    call.args(["-q", "-f", "-z", "--stdin"]).input(wanted).ask().map(drop)
                },
            )?;
        }
        let unlike_old = self.unlike(top, passage, |file| file.old.as_ref())?;
        let is_left = |file: &&OnTheWay| match file.was_there {
            true => unlike_old.contains(&file.path),
            false => file_in(top, &file.path).is_some(),
        };
        Ok(passage.files.iter().filter(is_left).map(|file| file.path.clone()).collect())
    }

    /// The files that are not what git knows by these entries.
    fn unlike(
        &self,
        top: &Path,
        passage: &Passage,
        entry: impl Fn(&OnTheWay) -> Option<&Vec<u8>>,
    ) -> Result<HashSet<Vec<u8>>, Error> {
        self.with_entries(top, passage, entry, |index| {
            let on = |name| self.on_checkout(name, top).env("GIT_INDEX_FILE", index);
            on("update-index").unhurried().args(["-q", "--refresh"]).ask()?;
            let differ = on("diff-files").args(["-z", "--name-only"]).run()?;
            let paths = differ.split(|byte| *byte == 0).filter(|path| !path.is_empty());
            Ok(paths.map(<[u8]>::to_vec).collect())
        })
    }

    /// Does something with an index of these entries alone.
    fn with_entries<T>(
        &self,
        top: &Path,
        passage: &Passage,
        entry: impl Fn(&OnTheWay) -> Option<&Vec<u8>>,
        act: impl FnOnce(&Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let index = self.scratch_index();
        let line =
            |file: &OnTheWay| Some([entry(file)?, b"\t".as_slice(), &file.path, b"\0"].concat());
        let lines: Vec<u8> = passage.files.iter().filter_map(line).flatten().collect();
        let call = self.on_checkout("update-index", top).env("GIT_INDEX_FILE", &index);
        let done = call.args(["-z", "--index-info"]).input(lines).run();
        let done = done.and_then(|_| act(&index));
        // Nobody else knows of it.
        drop(fs::remove_file(&index));
        done
    }
}
