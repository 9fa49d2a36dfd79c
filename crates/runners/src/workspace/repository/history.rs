//! The child's own commits: found, checked, and copied into the user's objects.
//!
//! No git command ever runs in the child's repository, whose configuration could
//! name programs. Its HEAD is read as a file; its object folder is lent to a
//! command that runs with our configuration; and what is taken over is packed and
//! unpacked again, which computes every object's name anew. An object that lies
//! about its name is therefore never stored under it.

use std::path::PathBuf;

use super::super::refs::{Head, Names};
use super::super::{Error, Place};
use super::{MAX_REMEMBERED, Repository};

/// Commits that are taken over one by one; a longer history is not followed.
pub(super) const MAX_COMMITS: usize = 1_000;

/// What a child's repository says it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct History {
    /// What it has checked out.
    pub(super) head: String,
    /// Its commits since the base, oldest first.
    pub(super) commits: Vec<String>,
    /// Whether the base is in its history.
    pub(super) descends: bool,
}

impl Repository {
    /// The history in a workspace; `None` if there is none that can be used.
    pub(super) fn history(&self, place: &Place) -> Result<Option<History>, Error> {
        let folder = place.root.join(".git");
        let names = Names { own: &folder, shared: &folder };
        let Head::At { commit: head, .. } = names.head() else { return Ok(None) };
        if head == place.base {
            return Ok(Some(History { head, commits: Vec::new(), descends: true }));
        }
        let key = (place.base.clone(), head.clone());
        if let Some(known) = self.histories().get(&key) {
            return Ok(Some(known.clone()));
        }
        let most = format!("--max-count={}", MAX_COMMITS.saturating_add(1));
        let range = format!("^{}", place.base);
        let call = self.on_objects("rev-list").borrowing(&objects(place));
        let said = call.args(["--topo-order", "--boundary", &most, &head, &range]).ask()?;
        let text = String::from_utf8_lossy(&said.out).into_owned();
        let descends = text.lines().any(|line| line.strip_prefix('-') == Some(&place.base));
        let mut commits: Vec<String> =
            text.lines().filter(|line| !line.starts_with('-')).map(str::to_owned).collect();
        commits.reverse();
        if said.code != 0 || commits.len() > MAX_COMMITS {
            return Ok(None);
        }
        let history = History { head, commits, descends };
        let mut known = self.histories();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, history.clone());
        Ok(Some(history))
    }

    /// Copies the child's commits into the user's objects; `false` if they are not whole.
    pub(super) fn take_over(&self, place: &Place, history: &History) -> Result<bool, Error> {
        if history.commits.is_empty() {
            return Ok(true);
        }
        self.take_objects(place, &[&history.head])
    }

    /// Copies objects that the child has, with all that they need and the base does not
    /// have, into the user's; `false` if they are not whole.
    pub(super) fn take_objects(&self, place: &Place, ids: &[&str]) -> Result<bool, Error> {
        let wanted: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let wanted = format!("{wanted}^{}\n", place.base).into_bytes();
        let pack = self.on_objects("pack-objects").borrowing(&objects(place));
        let pack = pack.args(["--revs", "--stdout", "--thin", "-q"]).input(wanted);
        let unpack = self.on_objects("unpack-objects").args(["-q", "--strict"]);
        match pack.pipe(unpack) {
            Ok(()) => Ok(true),
            // Its objects are damaged or missing: an answer about the child, not a failure here.
            Err(Error::Git { .. } | Error::Slow { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn objects(place: &Place) -> PathBuf {
    place.root.join(".git/objects")
}
