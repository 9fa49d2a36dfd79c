//! What is being done to the user's own files: told before it begins, so that whoever is killed
//! over it, git and all, leaves the next one what to do.
//!
//! A git that was started on them goes on when we are gone. As long as it does, nothing is
//! touched; once it has gone without being done, what it did is taken back.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::super::Error;
use super::super::folders::{Begun, Brought, Underway};
use super::super::git::NO_HOOKS;
use super::Repository;
use super::apply::{STASH, names, refused};
use super::dirty::scratch_index;
use super::mover::LEFT;
use crate::procfs;

/// How long it takes until one looks again whether git is done.
pub(super) const PAUSE: Duration = Duration::from_millis(10);

/// What writes the user's files.
const WRITERS: [&[u8]; 3] = [b"merge", b"read-tree", b"checkout-index"];

/// Something that is done to the user's files for a delegation.
#[derive(Clone, Copy)]
pub(super) struct Errand<'a> {
    pub(super) begun: &'a Begun,
    /// What is on record once it is done, by what was there before and what is afterwards.
    pub(super) then: &'a dyn Fn(String, String) -> Brought,
}

impl Repository {
    /// Brings the user's files from one commit to another, and notes that it was done. `act`
    /// puts back itself what it cannot do.
    pub(super) fn on_record(
        &self,
        (from, to): (&str, &str),
        errand: Errand<'_>,
        (files_only, act): (bool, impl FnOnce() -> Result<(), Error>),
    ) -> Result<(), Error> {
        let (delegation, from, to) =
            (errand.begun.delegation.clone(), from.to_owned(), to.to_owned());
        let (then, head) = ((errand.then)(from.clone(), to.clone()), self.user_head()?);
        let underway = Underway { delegation, head, from, to, files_only, then };
        self.folders.write_underway(&underway)?;
        let done = act();
        if let Some(top) = &self.user.top {
            // A git may have been killed alone, even one that had done it.
            self.unlock(top);
        }
        // Where it was done and cannot be noted, the next one finds that it was.
        if done.is_err() || self.note_done(&underway).is_ok() {
            drop(self.folders.end_underway());
        }
        done
    }

    fn note_done(&self, underway: &Underway) -> Result<(), Error> {
        self.folders.write_brought(&underway.delegation, &underway.then)
    }

    /// What is on record of a delegation that was applied. Of one whose process was killed over
    /// it the branch tells, or the files do.
    pub(super) fn brought(&self, delegation: &str) -> Result<Option<Brought>, Error> {
        let underway = self.folders.underway()?.filter(|it| it.delegation == delegation);
        match underway {
            Some(underway) if self.is_done(&underway)? => Ok(Some(underway.then)),
            Some(_) | None => self.folders.brought(delegation),
        }
    }

    /// Whether what was begun was done all the same.
    fn is_done(&self, underway: &Underway) -> Result<bool, Error> {
        let Underway { from, to, files_only, .. } = underway;
        let head = self.user_head()?;
        let Some(top) = self.user.top.as_ref().filter(|_| *files_only) else {
            return head.map_or(Ok(false), |head| self.is_ancestor(to, &head));
        };
        let index = scratch_index(&self.folders.state);
        let now = self.snapshot(top, head.as_deref(), &index);
        drop(fs::remove_file(&index));
        let now = now?;
        let unlike = |commit: &str| -> Result<HashSet<String>, Error> {
            Ok(names(self.touched(Some(&now), commit)?).into_iter().collect())
        };
        let (unlike_from, unlike_to) = (unlike(from)?, unlike(to)?);
        let meant = names(self.touched(Some(from), to)?);
        // What is neither of both was changed by somebody since.
        Ok(meant.iter().all(|file| unlike_from.contains(file))
            && meant.iter().any(|file| !unlike_to.contains(file)))
    }

    /// Ends what a process was killed over: it was done, or it is taken back. What cannot be
    /// put back is told once, and that only to somebody who `listens`.
    pub(super) fn recover(&self, (patience, listens): (Duration, bool)) -> Result<(), Error> {
        let (Some(underway), Some(top)) = (self.folders.underway()?, &self.user.top) else {
            return Ok(());
        };
        let start = Instant::now();
        while is_git_at(&[top], |words| is_ours(words) && writes(words)) {
            if start.elapsed() >= patience {
                let reason =
                    "git is still writing your files for an apply or rollback that was interrupted";
                return Err(refused(reason, Vec::new(), "wait a moment, then try again"));
            }
            thread::sleep(PAUSE);
        }
        if !self.is_there(&underway.from)? || !self.is_there(&underway.to)? {
            if listens {
                self.folders.end_underway()?;
            }
            let reason =
                "an apply or rollback was interrupted, and the disk has lost what it was about";
            return Err(refused(reason, Vec::new(), "see what git status shows, then try again"));
        }
        self.unlock(top);
        if self.is_done(&underway)? {
            self.note_done(&underway)?;
            return self.folders.end_underway();
        }
        if self.user_head()? != underway.head {
            // The user has moved on, and these files are the user's by now.
            return self.folders.end_underway();
        }
        self.check_free(top, &underway)?;
        let back = self.take_back(top, &underway);
        if back.is_ok() || listens {
            self.folders.end_underway()?;
        }
        back
    }

    /// Whether the user's objects have a commit.
    pub(super) fn is_there(&self, commit: &str) -> Result<bool, Error> {
        Ok(self.on_objects("cat-file").args(["-e", commit]).ask()?.code == 0)
    }

    fn take_back(&self, top: &Path, underway: &Underway) -> Result<(), Error> {
        let Underway { from, to, files_only, .. } = underway;
        if !files_only {
            let back = self.on_checkout("read-tree", top).unhurried();
            drop(back.args(["-m", "-u", to, from]).ask());
        }
        let checkout = self.checkout(top, *files_only);
        self.put_back(&checkout, (from, to), "an apply or rollback was interrupted")
    }

    /// Refuses while the user is at something, or has staged something since: the index is then
    /// neither as it was nor as it was to become.
    fn check_free(&self, top: &Path, underway: &Underway) -> Result<(), Error> {
        let Underway { from, to, files_only, .. } = underway;
        self.check_idle()?;
        let path = self.user.git_dir.join("index.lock");
        if path.exists() {
            return Err(Error::Locked { path });
        }
        let is_like = |commit: &str| -> Result<bool, Error> {
            let call = self.on_checkout("diff-index", top).args(["--cached", "--quiet", commit]);
            Ok(call.ask()?.code == 0)
        };
        if *files_only || is_like(from)? || is_like(to)? {
            return Ok(());
        }
        let reason =
            "an apply or rollback was interrupted, and there are changes in the index since";
        Err(refused(reason, Vec::new(), STASH))
    }

    /// Removes the locks that a git of ours has left when it was killed. They are ours if they
    /// are younger than what was begun, and no git is at work here.
    pub(super) fn unlock(&self, top: &Path) {
        let (own, shared) = (&self.user.git_dir, &self.user.common_dir);
        let names = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "AUTO_MERGE.lock"];
        let mut locks = names.map(|name| own.join(name)).to_vec();
        locks.extend(LEFT.map(|name| shared.join(name)));
        let head = fs::read_to_string(own.join("HEAD")).unwrap_or_default();
        let branch = head.trim_end().strip_prefix("ref: ");
        locks.extend(branch.map(|name| shared.join(format!("{name}.lock"))));
        let time = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
        let Some(begun) = time(&self.folders.underway_path()) else { return };
        let is_ours = |lock: &PathBuf| time(lock).is_some_and(|locked| locked >= begun);
        let left: Vec<PathBuf> = locks.into_iter().filter(is_ours).collect();
        if !left.is_empty() && !is_git_at(&[top], |words| !self::is_ours(words)) {
            for lock in left {
                // Should it stay, git says so.
                drop(fs::remove_file(lock));
            }
        }
    }
}

/// Whether a git process that was started with such words is at work in one of these folders.
pub(super) fn is_git_at(places: &[&Path], is_meant: impl Fn(&[Vec<u8>]) -> bool) -> bool {
    let alive = procfs::all().into_iter().filter(|stat| !stat.is_dead);
    alive.map(|stat| stat.process.pid).any(|pid| {
        let folder = procfs::folder(pid);
        let is_at = |place: &&Path| folder.as_ref().is_some_and(|folder| folder.starts_with(place));
        let is_there = places.iter().any(is_at);
        let words = if is_there { procfs::words(pid) } else { Vec::new() };
        procfs::is_called(&words, OsStr::new("git")) && is_meant(&words)
    })
}

/// Whether it was started by one of us.
pub(super) fn is_ours(words: &[Vec<u8>]) -> bool {
    words.iter().any(|word| word == NO_HOOKS.as_bytes())
}

fn writes(words: &[Vec<u8>]) -> bool {
    words.iter().any(|word| WRITERS.contains(&word.as_slice()))
}
