//! The child's own commits: found, checked, and copied into the user's objects.
//!
//! No git command ever runs in the child's repository, whose configuration could
//! name programs. Its HEAD is read as a file; its object folder is lent to a
//! command that runs with our configuration; and what is taken over is packed and
//! unpacked again, which computes every object's name anew. An object that lies
//! about its name is therefore never stored under it.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::refs::{Head, Names};
use super::super::{Error, Place};
use super::{MAX_REMEMBERED, Repository, own};

/// Commits that are taken over one by one; a longer history is not followed.
pub(super) const MAX_COMMITS: usize = 1_000;
/// Files of objects that a child may have made.
const MAX_OBJECTS: usize = 1_000_000;

/// What a child's repository says it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct History {
    /// What it has checked out.
    pub(super) head: String,
    /// Its commits since the base, oldest first.
    pub(super) commits: Vec<String>,
    /// Commits of the user's that those build on, the base often among them.
    pub(super) onto: Vec<String>,
    /// Whether the base is in its history.
    pub(super) descends: bool,
}

impl Repository {
    /// The history in a workspace; `None` if there is none that can be used.
    pub(super) fn history(&self, place: &Place) -> Result<Option<History>, Error> {
        let Some(folder) = own_repository(place) else { return Ok(None) };
        let names = Names::of_child(&folder);
        let Head::At { commit: head, .. } = names.head() else { return Ok(None) };
        if head == place.base {
            let (commits, onto) = (Vec::new(), Vec::new());
            return Ok(Some(History { head, commits, onto, descends: true }));
        }
        let key = (place.base.clone(), head.clone());
        if let Some(known) = self.histories().get(&key) {
            return Ok(Some(known.clone()));
        }
        let Some(objects) = self.objects_of(place) else { return Ok(None) };
        let most = format!("--max-count={}", MAX_COMMITS.saturating_add(1));
        // What the user's names hold is nothing that it did, whatever it has merged.
        let lent = self.lent_commits().into_iter().map(|commit| format!("^{commit}\n"));
        let range: String = lent.chain([format!("{head}\n^{}\n", place.base)]).collect();
        let call = self.on_childs("rev-list", (place, &objects));
        let call = call.args(["--topo-order", "--boundary", &most, "--ignore-missing", "--stdin"]);
        let said = call.input(range.into_bytes()).ask()?;
        let text = String::from_utf8_lossy(&said.out).into_owned();
        let (onto, mut commits): (Vec<_>, Vec<_>) =
            text.lines().map(str::to_owned).partition(|line| line.starts_with('-'));
        let onto: Vec<String> =
            onto.iter().filter_map(|line| line.strip_prefix('-')).map(str::to_owned).collect();
        commits.reverse();
        if said.code != 0 || commits.len() > MAX_COMMITS {
            return Ok(None);
        }
        let descends = match onto.contains(&place.base) {
            true => true,
            // Nor is it said of a commit that is not there.
            false => match self.has_below((place, &objects), &head)? {
                Some(has) => has,
                None => return Ok(None),
            },
        };
        // One that only went to where the user was builds on that.
        let onto = if commits.is_empty() { vec![head.clone()] } else { onto };
        let history = History { head, commits, onto, descends };
        let mut known = self.histories();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, history.clone());
        Ok(Some(history))
    }

    /// The history in a workspace, once the user's objects have all of it and of what it builds
    /// on; `None` if there is none that can be used.
    pub(super) fn taken_over(&self, place: &Place) -> Result<Option<History>, Error> {
        if !self.lent().is_dir() {
            // Somebody has deleted it.
            self.lend(self.user_head()?.as_deref())?;
        }
        let history = self.history(place)?;
        let onto = history.as_ref().map_or(&[][..], |found| &found.onto);
        let missing = self.hold(&place.base, onto)?;
        if missing.contains(&place.base) {
            return Err(Error::Unknown { what: "commit", id: place.base.clone() });
        }
        let Some(history) = history.filter(|_| missing.is_empty()) else { return Ok(None) };
        let is_whole = history.commits.is_empty()
            || self.take_objects(place, (&[&history.head], &history.onto))?;
        Ok(is_whole.then_some(history))
    }

    /// Whether the base is in the history of a commit, as far as a child's objects tell; `None`
    /// if they do not.
    fn has_below(
        &self,
        (place, objects): (&Place, &Path),
        head: &str,
    ) -> Result<Option<bool>, Error> {
        let call = self.on_childs("merge-base", (place, objects));
        Ok(match call.args(["--is-ancestor", &place.base, head]).ask()?.code {
            0 => Some(true),
            1 => Some(false),
            _ => None,
        })
    }

    /// Copies objects that the child has, with all that they need and neither the base nor some
    /// others have, into the user's; `false` if they are not whole.
    pub(super) fn take_objects(
        &self,
        place: &Place,
        (ids, but): (&[&str], &[String]),
    ) -> Result<bool, Error> {
        let Some(objects) = self.objects_of(place) else { return Ok(false) };
        let wanted: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let but: String = but.iter().map(|id| format!("^{id}\n")).collect();
        let wanted = format!("{wanted}{but}^{}\n", place.base).into_bytes();
        // Of what it only names it is handed nothing, and neither is whoever works for it.
        let pack = self.on_childs("pack-objects", (place, &objects));
        let pack = pack.args(["--revs", "--stdout", "--thin", "-q"]).input(wanted);
        let unpack = self.on_objects("unpack-objects").args(["-q", "--strict"]);
        match pack.pipe(unpack) {
            Ok(()) => Ok(true),
            // Its objects are damaged or missing: an answer about the child, not a failure here.
            Err(Error::Git { .. } | Error::Slow { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The folder of a child's own objects, if git can be let into it: there is nothing in it
    /// that leads to those of somebody else, whom the child may not read, and nothing that
    /// would have to be waited for.
    pub(super) fn objects_of(&self, place: &Place) -> Option<PathBuf> {
        let objects = own_repository(place)?.join("objects");
        let mut folders = vec![objects.clone()];
        let mut seen: usize = 0;
        while let Some(folder) = folders.pop() {
            if !is_folder(&folder) {
                return None;
            }
            for entry in fs::read_dir(&folder).ok()? {
                let entry = entry.ok()?;
                let kind = entry.file_type().ok()?;
                seen = seen.saturating_add(1);
                if seen > MAX_OBJECTS || !(kind.is_dir() || kind.is_file()) {
                    return None;
                }
                if kind.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        let lenders = objects.join(own::ALTERNATES);
        let is_ours = fs::read(&lenders).is_ok_and(|found| found == own::lenders(&self.lent()));
        (is_ours || !lenders.exists()).then_some(objects)
    }
}

/// A child's repository, if it is in the workspace and no link to another.
pub(super) fn own_repository(place: &Place) -> Option<PathBuf> {
    let folder = place.root.join(".git");
    // Nor may its names be those of another.
    (is_folder(&folder) && is_folder(&folder.join("refs"))).then_some(folder)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
