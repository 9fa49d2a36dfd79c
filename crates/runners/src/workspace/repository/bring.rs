//! A nested delegation's result, merged into the workspace of its parent.
//!
//! Git works on the parent's files with our own repository. The parent's is only
//! moved along when it has nothing uncommitted; otherwise the result shows up as
//! one more uncommitted change, which is kept like any other.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::SystemTime;

use legation_core::tree::event::{Clash, Hunk};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::super::hunks::{MAX_NOTED, MERGED};
use super::super::refs::{Head, Names};
use super::super::{Error, Merge, Note, Place};
use super::Repository;
use super::apply::in_the_way;
use super::put_back::Checkout;
use super::trial::Trial;
use super::works::head_name;

impl Repository {
    /// Merges the delegation's result into a workspace.
    pub(super) fn bring_into(&self, into: &Place, delegation: &str) -> Result<Merge, Error> {
        let begun = self.folders.begun(delegation)?;
        let made = self.folders.known(into)?;
        let _wary = self.beware_of(&made.place);
        let Some(tip) = self.tip(delegation)?.filter(|tip| *tip != begun.base) else {
            return Ok(Merge::Nothing);
        };
        let note = Note { title: "Work of the parent so far".into(), ..Note::default() };
        let staged = self.stage(&made, &note)?;
        if self.is_ancestor(&tip, &staged.commit)? {
            return Ok(Merge::Nothing);
        }
        // Whoever is to merge it has to have it.
        let conflict = |files, hunks| {
            drop(self.give(into, &tip));
            Ok(Merge::Conflict { files, hunks })
        };
        let target = if self.is_ancestor(&staged.commit, &tip)? {
            tip.clone()
        } else {
            let ours = self.since(&begun.base, &staged.commit)?;
            match self.trial(&ours, &tip)? {
                Trial::Conflict(met) => {
                    let hunks = self.hunks(&met, [&ours, &tip], MERGED);
                    return conflict(met.files, hunks);
                }
                Trial::Fits { tree } if tree == self.tree_of(&staged.commit)? => {
                    return Ok(Merge::Nothing);
                }
                Trial::Fits { tree } => {
                    let message = format!("Merge the result of {delegation}\n");
                    self.commit(&tree, &[&staged.commit, &tip], &message)?
                }
            }
        };
        // Its ignored files, for one, which git would overwrite.
        let touched = self.touched(Some(&staged.commit), &target)?;
        let files = in_the_way(&made.place.root, &touched);
        if !files.is_empty() {
            let noted = files.iter().take(MAX_NOTED);
            let hunks = noted.map(|file| Hunk::without_lines(file, Clash::InTheWay)).collect();
            return conflict(files, hunks);
        }
        let place = &made.place;
        let call = |name: &str| self.on_place(name, place).env("GIT_INDEX_FILE", &staged.index);
        if let Err(why) = call("read-tree").args(["-m", "-u", &staged.commit, &target]).run() {
            let scratch = self.folders.own(&place.attempt);
            let checkout =
                Checkout { root: &place.root, is_whole: false, scratch, call: Box::new(call) };
            self.put_back(&checkout, (&staged.commit, &target), &why.to_string())?;
            return Err(why);
        }
        if staged.head.as_ref() == Some(&staged.commit) {
            let name = head_name(&into.tree, &into.attempt);
            self.move_names(&format!("update {name} {target}\n"))?;
            let folder = made.place.root.join(".git");
            // Should its repository be in no state for that, the files are there all the same.
            if self.give(place, &target).is_ok() {
                drop(move_along(&folder, &target, &staged.index));
            }
        }
        Ok(Merge::Clean { commit: target })
    }

    /// The parent's files as a step from what the child began with. That may be no part of
    /// the parent's history: a snapshot of uncommitted files, or a commit since replaced.
    fn since(&self, base: &str, files_of: &str) -> Result<String, Error> {
        match self.is_ancestor(base, files_of)? {
            true => Ok(files_of.to_owned()),
            false => self.graft(files_of, base),
        }
    }
}

/// Moves what a child's repository has checked out, without ever leaving that folder.
fn move_along(folder: &Path, commit: &str, index: &Path) -> io::Result<()> {
    let line = format!("{commit}\n");
    match Names::of_child(folder).head() {
        Head::At { name: Some(name), .. } => replace(folder, &name, &mut line.as_bytes(), None)?,
        Head::At { name: None, .. } => replace(folder, "HEAD", &mut line.as_bytes(), None)?,
        Head::Unborn { .. } | Head::Unclear => return Ok(()),
    }
    let time = fs::metadata(index)?.modified()?;
    replace(folder, "index", &mut fs::File::open(index)?, Some(time))
}

/// Replaces a file below a folder. The way there is walked step by step, made where it is
/// missing, and no link is followed, because the child may have laid one to somewhere else.
pub(super) fn replace(
    folder: &Path,
    path: &str,
    from: &mut dyn Read,
    time: Option<SystemTime>,
) -> io::Result<()> {
    let step = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at: OwnedFd = open(folder, step, Mode::empty())?;
    let mut steps = path.split('/').peekable();
    while let Some(name) = steps.next() {
        if steps.peek().is_some() {
            match mkdirat(&at, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = openat(&at, name, step, Mode::empty())?;
            continue;
        }
        let fresh = format!("{name}.brought");
        // Left by somebody who was killed over it.
        let _ = unlinkat(&at, &fresh, AtFlags::empty());
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&at, &fresh, flags, Mode::from_raw_mode(0o644))?;
        let mut file = fs::File::from(file);
        io::copy(from, &mut file)?;
        if let Some(time) = time {
            // An index is only as trustworthy as its time; see `index::copy`.
            file.set_modified(time)?;
        }
        renameat(&at, &fresh, &at, name)?;
    }
    Ok(())
}
