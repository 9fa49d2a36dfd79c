//! What earlier processes left, at the next start: taken up again or cleared away.
//!
//! Only done by whoever finds that nobody else has the workspaces open. A workspace that was
//! handed out is never cleared here, whatever became of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::overlay::take_away;
use super::super::{Error, namespace};
use super::Repository;

/// How old a lock on a name below ours must be before it counts as left behind.
///
/// Moving a name takes milliseconds; another project of the same repository may
/// be at it.
const STALE: Duration = Duration::from_secs(60);
/// Folders below each other that are looked into for locks.
const MAX_DEPTH: usize = 6;

impl Repository {
    /// Brings order into what is there.
    pub(super) fn take_up(&self) -> Result<(), Error> {
        self.clear_pins()?;
        self.clear_pool()?;
        self.clear_setups()?;
        self.clear_lent()?;
        self.unlock_names()?;
        self.clear_probes()?;
        self.folders.sweep();
        self.folders.clear_drafts();
        self.clear_indexes();
        let now = SystemTime::now();
        // A moment lies between the last word to such a file and its name, in anybody's git.
        self.clear_unfinished(|time| now.duration_since(time).is_ok_and(|age| age >= STALE));
        // What cannot be taken up now is told to whoever applies next.
        drop(self.recover((Duration::ZERO, false)));
        locks(&self.hub, 1, |_, _| true);
        let mut ours = self.folders.delegations();
        for made in self.folders.handed_out()? {
            locks(&self.folders.own(&made.place.attempt), 1, |_, _| true);
            // Should it fail now, whoever wants to look at it is told why. What lies in a
            // namespace is laid by whoever is in it.
            if !namespace::is_needed() {
                drop(self.restore(&made));
            }
            ours.insert(made.place.attempt);
        }
        // Nobody else moves the names of our attempts and delegations, and we do not now.
        let is_left = |path: &Path, age: Duration| {
            let named = [path.file_stem(), path.parent().and_then(Path::file_name)];
            let mut named = named.into_iter().flatten();
            age >= STALE || named.any(|name| ours.contains(&*name.to_string_lossy()))
        };
        for name in ["refs/legation", "refs/heads/legation"] {
            locks(&self.user.common_dir.join(name), MAX_DEPTH, is_left);
        }
        Ok(())
    }

    /// Deletes indexes, and locks on them, that somebody used for a moment.
    fn clear_indexes(&self) {
        for entry in fs::read_dir(&self.folders.state).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = name.strip_suffix(".lock").unwrap_or(&name);
            if name.ends_with(".index") || name.ends_with(".inside") {
                // If it cannot be removed, the first who needs it says so.
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn clear_probes(&self) -> Result<(), Error> {
        let homes = self.folders.homes.all.iter().map(fs::read_dir);
        for entry in homes.flat_map(|entries| entries.into_iter().flatten().flatten()) {
            if entry.file_name().to_string_lossy().starts_with("probe-") {
                let target = entry.path().join("target");
                take_away(&target).map_err(Error::files("unmounting", &target))?;
                self.folders.discard(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Removes lock files that nobody can be holding, by their path and age.
fn locks(folder: &Path, depth: usize, is_left: impl Fn(&Path, Duration) -> bool) {
    let mut todo: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), depth)];
    while let Some((folder, depth)) = todo.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() && depth > 1 {
                todo.push((entry.path(), depth.saturating_sub(1)));
            }
            let is_lock = entry.path().extension().is_some_and(|ending| ending == "lock");
            let made = found.modified().unwrap_or_else(|_| SystemTime::now());
            let age = SystemTime::now().duration_since(made).unwrap_or_default();
            if found.is_file() && is_lock && is_left(&entry.path(), age) {
                // If it cannot be removed, the first who needs it says so.
                drop(fs::remove_file(entry.path()));
            }
        }
    }
}
