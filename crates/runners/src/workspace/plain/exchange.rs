//! Files of the user's folder exchanged for others: all of them or none.
//!
//! New contents are all written beside their places first. What was there is moved away,
//! never overwritten, so that whatever fails everything can be put back. Each step is put on
//! record before it is done, in the state folder: who is killed in the middle has told the
//! next one what to take back. What lies in the user's own folder is never believed to be
//! such a record, since it may have come there with somebody's work.

mod steps;

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::obstacles::staying;
use super::super::walk::below;
use super::super::{Error, record};
use super::layer::{passes_link, prune};
use super::merge::texts;
use super::{copy, gone};
use steps::{Record, Step};

/// Files, and where the new content of each is; nowhere if it goes.
pub(super) type Touched = [(Vec<u8>, Option<PathBuf>)];

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

/// An exchange that is under way, or done. Others leave it alone while it is held.
pub(super) struct Exchange {
    top: PathBuf,
    scratch: PathBuf,
    /// What was done.
    log: File,
    path: PathBuf,
    steps: Vec<Step>,
    /// When a process that is gone put its last step on record.
    last: Option<SystemTime>,
}

/// Exchanges files below a folder. `leaving` is what may go, and `outcome` is what to tell
/// whoever finds that it was done and not said.
pub(super) fn exchange(
    site: Site<'_>,
    touched: &Touched,
    (leaving, outcome): (&BTreeSet<Vec<u8>>, &[u8]),
) -> Result<Exchange, Error> {
    let mut exchange = Exchange::begin(site)?;
    let done = exchange.run(touched, leaving);
    if let Err(error) = done.and_then(|()| exchange.write(&Record::Done(outcome.to_vec()))) {
        return Err(exchange.undo(&error.to_string()).err().unwrap_or(error));
    }
    exchange.prune();
    Ok(exchange)
}

/// Takes back what was left half done by processes that are gone. `say` is told the outcome of
/// what they have done and could not say any more.
pub(super) fn recover(
    site: Site<'_>,
    say: impl Fn(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    for entry in fs::read_dir(site.records).into_iter().flatten().flatten() {
        let Some((exchange, end)) = Exchange::left(site, entry.path())? else { continue };
        match end {
            Some(Record::Done(outcome)) => {
                exchange.prune();
                say(&outcome)?;
            }
            Some(Record::Undone) => {}
            Some(Record::Begun(_) | Record::Step(_)) | None => {
                exchange.undo("an apply was interrupted")?;
                continue;
            }
        }
        exchange.close();
    }
    Ok(())
}

impl Exchange {
    fn begin(site: Site<'_>) -> Result<Self, Error> {
        let fresh = record::fresh();
        let (scratch, path) =
            (site.top.join(format!("{SCRATCH}{fresh}")), site.records.join(fresh));
        fs::create_dir_all(site.records).map_err(Error::files("making", site.records))?;
        let log = File::create(&path).and_then(|log| log.lock().map(|()| log));
        let log = log.map_err(Error::files("writing", &path))?;
        let (top, steps) = (site.top.to_owned(), Vec::new());
        let mut exchange = Self { top, scratch, log, path, steps, last: None };
        exchange.write(&Record::Begun(exchange.scratch.clone()))?;
        let scratch = &exchange.scratch;
        fs::create_dir(scratch).map_err(Error::files("making", scratch))?;
        Ok(exchange)
    }

    /// What a process has left, and what it put on record last; `None` if somebody is at it,
    /// or nothing was begun.
    fn left(site: Site<'_>, path: PathBuf) -> Result<Option<(Self, Option<Record>)>, Error> {
        let log = File::options().read(true).append(true).open(&path);
        let log = log.map_err(Error::files("opening", &path))?;
        match log.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Error::files("locking", &path)(error)),
        }
        let read = fs::read(&path).and_then(|bytes| Ok((bytes, log.metadata()?.modified()?)));
        let (bytes, last) = read.map_err(Error::files("reading", &path))?;
        let (mut scratch, mut steps, mut end) = (None, Vec::new(), None);
        for record in steps::read(&bytes) {
            match record {
                Record::Begun(at) => scratch = Some(at),
                Record::Step(step) => steps.push(step),
                Record::Done(_) | Record::Undone => end = Some(record),
            }
        }
        let Some(scratch) = scratch else {
            drop(fs::remove_file(&path));
            return Ok(None);
        };
        let top = site.top.to_owned();
        Ok(Some((Self { top, scratch, log, path, steps, last: Some(last) }, end)))
    }

    fn run(&mut self, touched: &Touched, leaving: &BTreeSet<Vec<u8>>) -> Result<(), Error> {
        let (new, old) = (self.scratch.join("new"), self.scratch.join("old"));
        fs::create_dir_all(&old).map_err(Error::files("making", &old))?;
        for (number, (_, from)) in touched.iter().enumerate() {
            if let Some(from) = from {
                copy::put(from, &new.join(number.to_string()))?;
            }
        }
        for (number, (path, _)) in touched.iter().enumerate() {
            let (from, to) = (below(&self.top, path), old.join(number.to_string()));
            if passes_link(&self.top, path) || fs::symlink_metadata(&from).is_err() {
                continue;
            }
            self.move_over(&from, &to)?;
            // Somebody may have put something there since it was looked for.
            let is_folder = fs::symlink_metadata(&to).is_ok_and(|found| found.is_dir());
            let late = if is_folder { staying(&to, path, leaving) } else { Vec::new() };
            if !late.is_empty() {
                return Err(changed(texts(late.iter())));
            }
        }
        for (number, (path, from)) in touched.iter().enumerate() {
            if from.is_some() {
                self.make_way(path)?;
                self.move_over(&new.join(number.to_string()), &below(&self.top, path))?;
            }
        }
        Ok(())
    }

    fn move_over(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        self.note(Step::Moved { from: from.to_owned(), to: to.to_owned() })?;
        let ours = if from.starts_with(&self.scratch) { to } else { from };
        fs::rename(from, to).map_err(Error::files("writing", ours))
    }

    /// Makes the folders above a path.
    fn make_way(&mut self, path: &[u8]) -> Result<(), Error> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for way in slashes.filter_map(|(at, _)| path.get(..at)) {
            let folder = below(&self.top, way);
            if folder.is_dir() {
                continue;
            }
            self.note(Step::Made(folder.clone()))?;
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::files("making", &folder)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Puts a step on record that is done next.
    fn note(&mut self, step: Step) -> Result<(), Error> {
        self.write(&Record::Step(step.clone()))?;
        self.steps.push(step);
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<(), Error> {
        let written = self.log.write_all(&record.bytes());
        written.map_err(Error::files("writing", &self.path))
    }

    /// Puts back what was done, the last first. What cannot be put back stays where it is.
    fn undo(mut self, why: &str) -> Result<(), Error> {
        let mut stuck = BTreeSet::new();
        while let Some(step) = self.steps.pop() {
            stuck.extend(step.take_back(&self.scratch, self.last));
        }
        if stuck.is_empty() {
            // From here on nothing in the folder is anybody's.
            self.write(&Record::Undone)?;
            self.close();
            return Ok(());
        }
        let at = self.scratch.join("old");
        Err(Error::Refused {
            reason: format!("{why}, and not everything could be put back"),
            files: stuck.iter().map(|path| path.display().to_string()).collect(),
            hint: format!(
                "what was there is in {}; put it where it belongs and delete {} and {}",
                at.display(),
                self.scratch.display(),
                self.path.display()
            ),
        })
    }

    /// Removes folders from which all files were taken.
    fn prune(&self) {
        for step in &self.steps {
            if let Step::Moved { from, .. } = step
                && let Ok(path) = from.strip_prefix(&self.top)
                && !from.starts_with(&self.scratch)
            {
                prune(&self.top, path.as_os_str().as_encoded_bytes());
            }
        }
    }

    /// Removes what is left of it, the record last. What cannot be removed now is next time.
    pub(super) fn close(&self) {
        if gone(&self.scratch).is_ok() {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Why nothing is exchanged.
pub(super) fn changed(files: Vec<String>) -> Error {
    Error::Refused {
        reason: "files have changed since the work began".into(),
        files,
        hint: "nothing was changed; move yours away or bring them over by hand".into(),
    }
}
