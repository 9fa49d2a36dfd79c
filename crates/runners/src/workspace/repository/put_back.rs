//! Putting files back where git has come only part of the way.
//!
//! Only what is now as it was meant to become, or begins like that, or is missing, is changed:
//! whatever else is there is somebody's, and so is what git was told not to look at.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::super::Error;
use super::super::folders::gone;
use super::super::git::Call;
use super::super::plain::{file_in, passes_link, remove};
use super::super::walk::below;
use super::Repository;
use super::apply::refused;
use super::dirty::scratch_index;
use crate::wary;

/// How git says in a list that there is no file.
const NOTHING: &[u8] = b"000000";
/// How it says that there is another repository: we leave its files alone.
const REPOSITORY: &[u8] = b"160000";

/// Files that are looked into for whether they are the beginning of what they were to become:
/// git writes them one by one.
const MAX_BEGUN: usize = 16;
/// Files that are put back one by one where not all could be at once.
const MAX_SINGLE: usize = 256;
/// What is read at once of such a file.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Where files are put back: the user's checkout, or the workspace of who delegates.
pub(super) struct Checkout<'a> {
    pub(super) root: &'a Path,
    /// Whether files outside of a sparse checkout were written, too.
    pub(super) is_whole: bool,
    /// The folder for indexes of the moment.
    pub(super) scratch: PathBuf,
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
    pub(super) fn checkout<'a>(&'a self, root: &'a Path, is_whole: bool) -> Checkout<'a> {
        let scratch = self.folders.state.clone();
        let call = Box::new(move |name: &str| self.on_checkout(name, root));
        Checkout { root, is_whole, scratch, call }
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
        let listed = (checkout.call)("ls-files").args(["-z", "-v"]).run()?;
        let (mut outside, mut unseen) = (HashSet::new(), HashSet::new());
        for line in listed.split(|byte| *byte == 0) {
            let Some((tag, path)) = line.split_at_checked(2) else { continue };
            if tag.eq_ignore_ascii_case(b"S ") {
                outside.insert(path);
            }
            let is_hidden = outside.contains(path) && !checkout.is_whole;
            // A small letter says that git is to take it for unchanged.
            let is_there = || file_in(checkout.root, path).is_some();
            if tag.first().is_some_and(u8::is_ascii_lowercase) || (is_hidden && is_there()) {
                unseen.insert(path);
            }
        }
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
            if mode != REPOSITORY && new_mode != REPOSITORY && !unseen.contains(path) {
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
            // What stays is found below, as is what cannot be written.
            drop(remove(root, &file.path));
        }
        let is_missing = |file: &Differing| {
            // Where there is no folder for it any more, what is in its place is somebody's.
            let at = below(root, &file.path);
            fs::symlink_metadata(at).is_err() && !passes_link(root, &file.path)
        };
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
                    let write = |paths: Vec<u8>| {
                        let call = (on.call)("checkout-index").env("GIT_INDEX_FILE", index);
                        call.args(["-q", "-f", "-z", "--stdin"]).input(paths).ask()
                    };
                    if write(wanted)?.code == 0 {
                        return Ok(());
                    }
                    // It ends at the first file that it cannot write: the others by themselves.
                    for file in there().filter(|file| is_missing(file)).take(MAX_SINGLE) {
                        write([file.path.as_slice(), b"\0"].concat())?;
                    }
                    Ok(())
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
        // Git makes a file before it finds that there is no room for what is in it.
        let is_empty = |file: &Differing| {
            let found = fs::symlink_metadata(below(on.root, &file.path));
            found.is_ok_and(|found| found.is_file() && found.len() == 0)
        };
        let (empty, begun): (Vec<_>, Vec<_>) =
            coming().filter(is_neither).partition(|file| is_empty(file));
        let begun: Vec<&Differing> = begun.into_iter().take(MAX_BEGUN).collect();
        let begun = self.beginnings(on, files, &begun)?;
        let whole = coming().filter(is_new).chain(empty).map(|file| file.path.clone());
        Ok(whole.chain(begun).collect())
    }

    /// Those of some files that are the beginning of what they were to become.
    fn beginnings(
        &self,
        on: &Checkout<'_>,
        files: &[Differing],
        some: &[&Differing],
    ) -> Result<Vec<Vec<u8>>, Error> {
        if some.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = scratch_index(&on.scratch).with_extension("whole");
        let wanted = some.iter().flat_map(|file| [file.path.as_slice(), b"\0"].concat()).collect();
        self.with_entries(
            on,
            files,
            |file| file.new.as_ref(),
            |index| {
                let call = (on.call)("checkout-index").env("GIT_INDEX_FILE", index);
                let call = call.arg(format!("--prefix={}/", scratch.display()));
                // What cannot be compared is somebody's.
                call.args(["-q", "-z", "--stdin"]).input(wanted).ask().map(drop)
            },
        )?;
        let begins = |file: &&&Differing| {
            let [begun, whole] = [on.root, &scratch].map(|top| wary::open(&below(top, &file.path)));
            begun.and_then(|begun| begins_like(begun, whole?)).unwrap_or(false)
        };
        let found = some.iter().filter(begins).map(|file| file.path.clone()).collect();
        drop(gone(&scratch));
        Ok(found)
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
        let index = scratch_index(&on.scratch);
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

/// Whether a file is the same as another one as far as it goes.
fn begins_like(mut begun: File, mut whole: File) -> io::Result<bool> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        begun.by_ref().take(CHUNK_BYTES).read_to_end(&mut left)?;
        whole.by_ref().take(CHUNK_BYTES).read_to_end(&mut right)?;
        if left.is_empty() || !right.starts_with(&left) {
            return Ok(left.is_empty());
        }
    }
}
