//! Putting files back where git has come only part of the passage.
//!
//! Only what is now as it was meant to become, or begins like that, or is missing, is changed:
//! whatever else is there is somebody's.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::Error;
use super::super::git::Call;
use super::super::plain::{file_in, remove};
use super::super::walk::below;
use super::Repository;
use super::apply::refused;

/// How git says in a list that there is no file.
const NOTHING: &[u8] = b"000000";
/// How it says that there is another repository: we leave its files alone.
const REPOSITORY: &[u8] = b"160000";

/// Files that are looked into for whether they are the beginning of what they were to become:
/// git writes them one by one.
const MAX_BEGUN: usize = 16;

/// Where files are put back: the user's checkout, or the workspace of who delegates.
pub(super) struct Checkout<'a> {
    pub(super) root: &'a Path,
    /// A command there, with its index.
    pub(super) call: Box<dyn Fn(&str) -> Call<'a> + 'a>,
}

/// A file that is another one in two commits.
struct Differing {
    path: Vec<u8>,
    /// What git knows it by in each; nothing where there is none.
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    /// Whether it was there before. It may be outside of a sparse checkout.
    was_there: bool,
}

impl Repository {
    /// The user's own.
    pub(super) fn checkout<'a>(&'a self, root: &'a Path) -> Checkout<'a> {
        Checkout { root, call: Box::new(move |name| self.on_checkout(name, root)) }
    }

    /// Puts back what has come of the way from one commit to another, which broke off for a
    /// reason. Fails where something is not as it was.
    pub(super) fn put_back(
        &self,
        checkout: &Checkout<'_>,
        (from, to): (&str, &str),
        why: &str,
    ) -> Result<(), Error> {
        let differing = self.differing(checkout, (from, to));
        let left = match differing.and_then(|files| self.try_back(checkout, &files)) {
            Ok(left) if left.is_empty() => return Ok(()),
            Ok(left) => left.iter().map(|path| String::from_utf8_lossy(path).into()).collect(),
            Err(error) => vec![error.to_string()],
        };
        let hint = format!("`git show {from}:FILE` has what was there");
        Err(refused(&format!("{why}, and some files are not as they were"), left, &hint))
    }

    fn differing(
        &self,
        checkout: &Checkout<'_>,
        (from, to): (&str, &str),
    ) -> Result<Vec<Differing>, Error> {
        let listed = (checkout.call)("ls-files").args(["-z", "-t"]).run()?;
        let outside: HashSet<&[u8]> =
            listed.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"S ")).collect();
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
                let was_there = old.is_some() && !outside.contains(path);
                files.push(Differing { path: path.to_vec(), old, new, was_there });
            }
        }
        Ok(files)
    }

    fn try_back(&self, on: &Checkout<'_>, files: &[Differing]) -> Result<Vec<Vec<u8>>, Error> {
        let root = on.root;
        let ours = self.ours(on, files)?;
        let is_new = |file: &Differing| ours.contains(&file.path);
        for file in files.iter().filter(|file| !file.was_there && is_new(file)) {
            let at = below(root, &file.path);
            remove(root, &file.path).map_err(Error::files("removing", &at))?;
        }
        let is_missing = |file: &Differing| fs::symlink_metadata(below(root, &file.path)).is_err();
        let there = || files.iter().filter(|file| file.was_there);
        let wanted: Vec<u8> = there()
            .filter(|file| is_new(file) || is_missing(file))
            .flat_map(|file| [file.path.as_slice(), b"\0"].concat())
            .collect();
        if !wanted.is_empty() {
            self.with_entries(
                on,
                files,
                |file| file.old.as_ref(),
                |index| {
                    let call = (on.call)("checkout-index").env("GIT_INDEX_FILE", index);
                    // What it cannot do is found below.
                    call.args(["-q", "-f", "-z", "--stdin"]).input(wanted).ask().map(drop)
                },
            )?;
        }
        let unlike_old = self.unlike(on, files, |file| file.old.as_ref())?;
        let is_left = |file: &&Differing| match file.was_there {
            true => unlike_old.contains(&file.path),
            false => file_in(root, &file.path).is_some(),
        };
        Ok(files.iter().filter(is_left).map(|file| file.path.clone()).collect())
    }

    /// The files that are as they were meant to become, or the beginning of that: git may have
    /// been killed while it wrote one.
    fn ours(&self, on: &Checkout<'_>, files: &[Differing]) -> Result<HashSet<Vec<u8>>, Error> {
        let unlike_new = self.unlike(on, files, |file| file.new.as_ref())?;
        let unlike_old = self.unlike(on, files, |file| file.old.as_ref())?;
        let is_new = |file: &&Differing| !unlike_new.contains(&file.path);
        let is_neither = |file: &&Differing| {
            let is_old = file.old.is_some() && !unlike_old.contains(&file.path);
            !is_new(file) && !is_old && file_in(on.root, &file.path).is_some()
        };
        let coming = || files.iter().filter(|file| file.new.is_some());
        let mut ours: Vec<&Differing> = coming().filter(is_new).collect();
        for file in coming().filter(is_neither).take(MAX_BEGUN) {
            let known = file.new.iter().flat_map(|entry| entry.split(|byte| *byte == b' '));
            let id = String::from_utf8_lossy(known.last().unwrap_or_default()).into_owned();
            let whole = self.on_objects("cat-file").args(["blob", &id]).run()?;
            // Whatever cannot be read is somebody's.
            let there = fs::read(below(on.root, &file.path)).ok();
            ours.extend(there.filter(|there| whole.starts_with(there)).map(|_| file));
        }
        Ok(ours.into_iter().map(|file| file.path.clone()).collect())
    }

    /// The files that are not what git knows by these entries.
    fn unlike(
        &self,
        on: &Checkout<'_>,
        files: &[Differing],
        entry: impl Fn(&Differing) -> Option<&Vec<u8>>,
    ) -> Result<HashSet<Vec<u8>>, Error> {
        self.with_entries(on, files, entry, |index| {
            let on = |name| (on.call)(name).unhurried().env("GIT_INDEX_FILE", index);
            on("update-index").args(["-q", "--refresh"]).ask()?;
            let differ = on("diff-files").args(["-z", "--name-only"]).run()?;
            let paths = differ.split(|byte| *byte == 0).filter(|path| !path.is_empty());
            Ok(paths.map(<[u8]>::to_vec).collect())
        })
    }

    /// Does something with an index of these entries alone.
    fn with_entries<T>(
        &self,
        on: &Checkout<'_>,
        files: &[Differing],
        entry: impl Fn(&Differing) -> Option<&Vec<u8>>,
        act: impl FnOnce(&Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let index = self.scratch_index();
        let line =
            |file: &Differing| Some([entry(file)?, b"\t".as_slice(), &file.path, b"\0"].concat());
        let lines: Vec<u8> = files.iter().filter_map(line).flatten().collect();
        let call = (on.call)("update-index").env("GIT_INDEX_FILE", &index);
        let done = call.args(["-z", "--index-info"]).input(lines).run();
        let done = done.and_then(|_| act(&index));
        // Nobody else knows of it.
        drop(fs::remove_file(&index));
        done
    }
}
