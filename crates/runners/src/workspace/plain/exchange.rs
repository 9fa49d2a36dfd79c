//! Files of the user's folder exchanged for others: all of them or none.
//!
//! New contents are all written beside their places first. What was there is moved away,
//! never overwritten, so that whatever fails everything can be put back. Each step is put on
//! record before it is done, in the state folder: who is killed in the middle has told the
//! next one what to take back. What lies in the user's own folder is never believed to be
//! such a record, since it may have come there with somebody's work. Old files are deleted
//! once the disk has the new ones.

mod steps;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::syncfs;

use super::super::obstacles::staying;
use super::super::walk::below;
use super::super::{Error, record};
use super::layer::{passes_link, prune, same};
use super::merge::texts;
use super::{copy, gone};
use steps::{Mark, Move, Record, place};

/// A file, where its new content is, and where the one that it must have; nowhere if there is
/// none.
pub(super) type Step = (Vec<u8>, Option<PathBuf>, Option<PathBuf>);

/// How the folders are called in which old and new files lie.
const SCRATCH: &str = ".legation-apply-";

/// Where an exchange takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    /// The folder whose files are exchanged.
    pub(super) top: &'a Path,
    /// Where it is put on record.
    pub(super) records: &'a Path,
}

/// An exchange that is under way, or done.
pub(super) struct Exchange {
    top: PathBuf,
    scratch: PathBuf,
    /// What was done.
    log: File,
    path: PathBuf,
    moves: Vec<Move>,
}

/// Exchanges files below a folder. `leaving` is what may go, and `outcome` is what to tell
/// whoever finds that it was done and not said.
pub(super) fn exchange(
    site: Site<'_>,
    steps: &[Step],
    (leaving, outcome): (&BTreeSet<Vec<u8>>, &[u8]),
) -> Result<Exchange, Error> {
    let mut exchange = Exchange::begin(site)?;
    let done = exchange.run(steps, leaving);
    if let Err(error) = done.and_then(|()| exchange.finish(outcome)) {
        return Err(exchange.undo((&error.to_string(), true)).err().unwrap_or(error));
    }
    exchange.prune();
    Ok(exchange)
}

/// Takes back what was left half done by processes that are gone. What cannot be put back is
/// told once, and that only to somebody who `listens`. `say` is told the outcome of what they
/// have done and could not say any more.
pub(super) fn recover(
    (site, listens): (Site<'_>, bool),
    say: impl Fn(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    for entry in fs::read_dir(site.records).into_iter().flatten().flatten() {
        let Some((mut exchange, end)) = Exchange::left(site, entry.path())? else { continue };
        match end {
            Some(Record::Done(outcome)) => {
                exchange.prune();
                say(&outcome)?;
                exchange.settle();
            }
            Some(Record::Settled) => exchange.close(),
            Some(Record::Begun(_) | Record::Move(_)) | None => {
                exchange.undo(("an apply or rollback was interrupted", listens))?;
            }
        }
    }
    Ok(())
}

impl Exchange {
    fn begin(site: Site<'_>) -> Result<Self, Error> {
        let fresh = record::fresh();
        let (scratch, path) =
            (site.top.join(format!("{SCRATCH}{fresh}")), site.records.join(fresh));
        fs::create_dir_all(site.records).map_err(Error::files("making", site.records))?;
        let log = File::create(&path).map_err(Error::files("writing", &path))?;
        let (top, moves) = (site.top.to_owned(), Vec::new());
        let mut exchange = Self { top, scratch, log, path, moves };
        exchange.write(&Record::Begun(exchange.scratch.clone()))?;
        exchange.flush()?;
        let scratch = &exchange.scratch;
        fs::create_dir(scratch).map_err(Error::files("making", scratch))?;
        Ok(exchange)
    }

    /// What a process has left, and what it put on record last; `None` if nothing was begun.
    fn left(site: Site<'_>, path: PathBuf) -> Result<Option<(Self, Option<Record>)>, Error> {
        let log = File::options().read(true).append(true).open(&path);
        let log = log.map_err(Error::files("opening", &path))?;
        let bytes = fs::read(&path).map_err(Error::files("reading", &path))?;
        let (mut scratch, mut moves, mut end) = (None, Vec::new(), None);
        for record in steps::read(&bytes) {
            match record {
                Record::Begun(at) => scratch = Some(at),
                Record::Move(done) => moves.push(done),
                Record::Done(_) | Record::Settled => end = Some(record),
            }
        }
        let Some(scratch) = scratch else {
            drop(fs::remove_file(&path));
            return Ok(None);
        };
        let top = site.top.to_owned();
        Ok(Some((Self { top, scratch, log, path, moves }, end)))
    }

    fn run(&mut self, steps: &[Step], leaving: &BTreeSet<Vec<u8>>) -> Result<(), Error> {
        let (new, old) = (self.scratch.join("new"), self.scratch.join("old"));
        fs::create_dir_all(&old).map_err(Error::files("making", &old))?;
        for (number, (_, source, _)) in steps.iter().enumerate() {
            if let Some(source) = source {
                copy::put(source, &new.join(number.to_string()))?;
            }
        }
        for (number, (path, _, expected)) in steps.iter().enumerate() {
            let (from, to) = (below(&self.top, path), old.join(number.to_string()));
            if passes_link(&self.top, path) || fs::symlink_metadata(&from).is_err() {
                continue;
            }
            self.note(Move::Away { from: from.clone(), to: to.clone() })?;
            place(&from, &to).map_err(Error::files("writing", &from))?;
            // Somebody may have written there since it was looked at.
            let late = match fs::symlink_metadata(&to).is_ok_and(|found| found.is_dir()) {
                true => staying(&to, path, leaving),
                false if same(Some(&to), expected.as_deref())? => Vec::new(),
                false => vec![path.clone()],
            };
            if !late.is_empty() {
                return Err(changed(texts(late.iter())));
            }
        }
        for (number, (path, source, _)) in steps.iter().enumerate() {
            if source.is_some() {
                self.make_way(path)?;
                let (from, to) = (new.join(number.to_string()), below(&self.top, path));
                let mark = Mark::of(&from).map_err(Error::files("reading", &from))?;
                self.note(Move::Placed { from: from.clone(), to: to.clone(), mark })?;
                place(&from, &to).map_err(Error::files("writing", &to))?;
            }
        }
        Ok(())
    }

    /// Puts on record that all of it is done, as soon as the disk has it.
    fn finish(&mut self, outcome: &[u8]) -> Result<(), Error> {
        let scratch = File::open(&self.scratch).and_then(|folder| Ok(syncfs(folder)?));
        scratch.map_err(Error::files("writing", &self.scratch))?;
        self.write(&Record::Done(outcome.to_vec()))?;
        // From here on it is done, whatever the disk says.
        drop(self.flush());
        Ok(())
    }

    /// Makes the folders above a path.
    fn make_way(&mut self, path: &[u8]) -> Result<(), Error> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for way in slashes.filter_map(|(at, _)| path.get(..at)) {
            let folder = below(&self.top, way);
            if folder.is_dir() {
                continue;
            }
            self.note(Move::Made(folder.clone()))?;
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::files("making", &folder)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Puts on record what is done next.
    fn note(&mut self, next: Move) -> Result<(), Error> {
        self.write(&Record::Move(next.clone()))?;
        self.moves.push(next);
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<(), Error> {
        let written = self.log.write_all(&record.bytes());
        written.map_err(Error::files("writing", &self.path))
    }

    fn flush(&self) -> Result<(), Error> {
        self.log.sync_data().map_err(Error::files("writing", &self.path))
    }

    /// Puts back what was done, the last first. What cannot be put back stays where it is; told
    /// to somebody who `listens`, it is no longer on record.
    fn undo(&mut self, (why, listens): (&str, bool)) -> Result<(), Error> {
        let (mut stuck, old) = (BTreeSet::new(), self.scratch.join("old"));
        // Where the old file is not here any more, somebody has put it where it belongs.
        let missing = |done: &Move| match done {
            Move::Away { from, to } => fs::symlink_metadata(to).is_err().then(|| from.clone()),
            Move::Placed { .. } | Move::Made(_) => None,
        };
        let theirs: BTreeSet<PathBuf> = self.moves.iter().filter_map(missing).collect();
        for done in self.moves.iter().rev() {
            stuck.extend(done.take_back(&theirs));
        }
        // The record may have been lost with the power, and what it was about is still here.
        if stuck.is_empty() {
            let unknown = fs::read_dir(&old).into_iter().flatten().flatten();
            stuck.extend(unknown.map(|entry| entry.path()));
        }
        if stuck.is_empty() {
            self.settle();
            return Ok(());
        }
        if listens {
            self.hand_over();
        }
        let at = self.scratch.display();
        Err(Error::Refused {
            reason: format!("{why}, and not everything could be put back"),
            files: stuck.iter().map(|path| path.display().to_string()).collect(),
            hint: format!("what was there is in {at}; take what you need and delete it"),
        })
    }

    /// Leaves the old files to the user, under their own names where these are known.
    fn hand_over(&self) {
        for done in &self.moves {
            if let Move::Away { from, to } = done
                && let Ok(path) = from.strip_prefix(&self.top)
            {
                let named = self.scratch.join("before").join(path);
                // Where this cannot be done it stays under its number.
                drop(copy::make_way(&named).and_then(|()| place(to, &named)));
            }
        }
        drop(gone(&self.scratch.join("new")));
        drop(fs::remove_dir(self.scratch.join("old")));
        drop(fs::remove_file(&self.path));
    }

    /// Nothing in the folder is anybody's any more. Where this cannot be written down, the next
    /// one finds the same.
    pub(super) fn settle(&mut self) {
        drop(self.write(&Record::Settled));
        self.close();
    }

    /// Removes folders from which all files were taken.
    fn prune(&self) {
        for done in &self.moves {
            if let Move::Away { from, .. } = done
                && let Ok(path) = from.strip_prefix(&self.top)
            {
                prune(&self.top, path.as_os_str().as_encoded_bytes());
            }
        }
    }

    /// Removes what is left of it, the record last. What cannot be removed now is next time.
    fn close(&self) {
        if gone(&self.scratch).is_ok() {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// What is in the way where files are not as they were.
pub(super) const CHANGED: &str = "files have changed since the work began";
/// What to do then.
pub(super) const MOVE_YOURS: &str =
    "nothing was changed; move yours away or bring them over by hand";

/// Why nothing is exchanged.
pub(super) fn changed(files: Vec<String>) -> Error {
    Error::Refused { reason: CHANGED.into(), files, hint: MOVE_YOURS.into() }
}
