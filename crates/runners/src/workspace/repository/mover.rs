//! Moving names in the user's repository. Each order is a transaction of its own: all of
//! it or nothing.
//!
//! To delete a name, git locks the list of all of them. A git that is killed over it leaves that
//! lock, and then nobody can delete any; so it is told before, and cleared by whoever finds it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::super::folders::gone;
use super::super::git::Trust;
use super::super::{Error, record, turn};
use super::Repository;
use super::underway::{PAUSE, is_git_at, is_ours};

/// What the process says once a transaction is done.
const DONE: &[u8] = b"commit: ok\n";
/// How an order begins that deletes a name.
const DELETE: &str = "delete ";
/// What git leaves beside the list of names when it is killed, the list that was to be first.
pub(super) const LEFT: [&str; 2] = ["packed-refs.new", "packed-refs.lock"];
/// How long a git of ours that goes on alone may take for one transaction.
const MOMENT: Duration = Duration::from_secs(2);

impl Repository {
    /// Carries out orders (`update NAME NEW [OLD]`, `create NAME NEW`), one a line.
    pub(super) fn move_names(&self, orders: &str) -> Result<(), Error> {
        let folder = &self.user.common_dir;
        let start = || {
            let call = self.git.call("update-ref", Trust::Repository).env("GIT_DIR", folder);
            call.within(folder).args(["--no-deref", "--stdin"]).start()
        };
        let deletes = orders.lines().any(|order| order.starts_with(DELETE));
        let orders = format!("start\n{orders}prepare\ncommit\n");
        let talk = || {
            self.mover.with(("update-ref", start), |session| session.ask(orders.as_bytes(), DONE))
        };
        // Whatever project they are of.
        let _turn = turn::naming(&self.common())?;
        if !deletes {
            return self.patiently(talk).map(drop);
        }
        record::write(&self.deleting(), &())?;
        let moved = self.patiently(talk).map(drop);
        if !matches!(moved, Ok(()) | Err(Error::Locked { .. })) {
            self.clear_lock_on_names();
        }
        gone(&self.deleting()).map_err(Error::files("removing", &self.deleting()))?;
        moved
    }

    /// Clears what somebody has left who was killed while deleting names.
    pub(super) fn unlock_names(&self) -> Result<(), Error> {
        let deleting = self.deleting();
        if !deleting.exists() {
            return Ok(());
        }
        let _turn = turn::naming(&self.common())?;
        self.clear_lock_on_names();
        gone(&deleting).map_err(Error::files("removing", &deleting))
    }

    /// The file that is there while names are deleted.
    fn deleting(&self) -> PathBuf {
        self.folders.state.join("deleting")
    }

    /// Clears a lock that is younger than what is being deleted, if no git is at work here. Ours
    /// are not, since this is their turn; one that was left alone is done in a moment.
    fn clear_lock_on_names(&self) {
        let files = LEFT.map(|name| self.user.common_dir.join(name));
        let time = |path: &PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
        let Some(begun) = time(&self.deleting()) else { return };
        let left = || -> Vec<&PathBuf> {
            files.iter().filter(|file| time(file).is_some_and(|time| time >= begun)).collect()
        };
        let since = Instant::now();
        let at = self.user.places();
        while !left().is_empty() && since.elapsed() < MOMENT && is_git_at(&at, is_ours) {
            thread::sleep(PAUSE);
        }
        if !left().is_empty() && !is_git_at(&at, |words| !is_ours(words)) {
            for file in left() {
                // Should it stay, git says so.
                drop(fs::remove_file(file));
            }
        }
    }
}
