//! Files of the user's folder exchanged for others: all of them or none.
//!
//! New contents are all written beside their places first. What was there is moved away,
//! never overwritten, so that whatever fails everything can be put back.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::obstacles::staying;
use super::super::walk::below;
use super::super::{Error, record};
use super::layer::{passes_link, prune};
use super::merge::texts;
use super::{copy, gone};

/// Files, and where the new content of each is; nowhere if it goes.
pub(super) type Touched = [(Vec<u8>, Option<PathBuf>)];

/// One thing that was done.
enum Done {
    Moved { from: PathBuf, to: PathBuf },
    Made(PathBuf),
}

/// An exchange that is under way.
struct Exchange<'a> {
    top: &'a Path,
    scratch: PathBuf,
    done: Vec<Done>,
}

/// Exchanges files below a folder. `leaving` is what may go.
pub(super) fn exchange(
    top: &Path,
    touched: &Touched,
    leaving: &BTreeSet<Vec<u8>>,
) -> Result<(), Error> {
    let scratch = top.join(format!(".legation-apply-{}", record::fresh()));
    let mut exchange = Exchange { top, scratch, done: Vec::new() };
    if let Err(error) = exchange.run(touched, leaving) {
        return Err(exchange.undo(error));
    }
    for (path, _) in touched.iter().filter(|(_, from)| from.is_none()) {
        prune(top, path);
    }
    // It is done; what cannot be removed here is only in nobody's way.
    drop(gone(&exchange.scratch));
    Ok(())
}

impl Exchange<'_> {
    fn run(&mut self, touched: &Touched, leaving: &BTreeSet<Vec<u8>>) -> Result<(), Error> {
        let (new, old) = (self.scratch.join("new"), self.scratch.join("old"));
        fs::create_dir_all(&old).map_err(Error::files("making", &old))?;
        for (number, (_, from)) in touched.iter().enumerate() {
            if let Some(from) = from {
                copy::put(from, &new.join(number.to_string()))?;
            }
        }
        for (number, (path, _)) in touched.iter().enumerate() {
            let (from, to) = (below(self.top, path), old.join(number.to_string()));
            if passes_link(self.top, path) || fs::symlink_metadata(&from).is_err() {
                continue;
            }
            self.step(from, to.clone())?;
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
                self.step(new.join(number.to_string()), below(self.top, path))?;
            }
        }
        Ok(())
    }

    fn step(&mut self, from: PathBuf, to: PathBuf) -> Result<(), Error> {
        let ours = if from.starts_with(&self.scratch) { &to } else { &from };
        fs::rename(&from, &to).map_err(Error::files("writing", ours))?;
        self.done.push(Done::Moved { from, to });
        Ok(())
    }

    /// Makes the folders above a path.
    fn make_way(&mut self, path: &[u8]) -> Result<(), Error> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for way in slashes.filter_map(|(at, _)| path.get(..at)) {
            let folder = below(self.top, way);
            match fs::create_dir(&folder) {
                Ok(()) => self.done.push(Done::Made(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::files("making", &folder)(error)),
            }
        }
        Ok(())
    }

    /// Puts back what was done, the last first. What cannot be put back stays where it is.
    fn undo(mut self, error: Error) -> Error {
        let mut lost = Vec::new();
        while let Some(done) = self.done.pop() {
            let (undone, path) = match done {
                Done::Moved { from, to } => (fs::rename(&to, &from), from),
                Done::Made(folder) => (fs::remove_dir(&folder), folder),
            };
            if undone.is_err() && !path.starts_with(&self.scratch) {
                lost.push(path.display().to_string());
            }
        }
        if lost.is_empty() {
            drop(gone(&self.scratch));
            return error;
        }
        let at = self.scratch.join("old");
        Error::Refused {
            reason: format!("{error}, and not everything could be put back"),
            files: lost,
            hint: format!("what was there is in {}", at.display()),
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
