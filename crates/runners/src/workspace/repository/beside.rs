//! What a child's repository holds beside what it has checked out: other branches, tags,
//! stashes. Kept with the work, since it goes with the workspace.
//!
//! Names are read as files, and their objects taken over like any other of the child's.
//! What it fetched from elsewhere is still there, and what the user's own names hold is
//! the user's. Where there is nothing else, no process is started.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::git::Trust;
use super::super::refs::Names;
use super::super::{Error, Place};
use super::Repository;
use super::history::{History, MAX_COMMITS, own_repository};
use super::works::KEPT;

/// Names that are looked at.
const MAX_SEEN: usize = 10_000;
/// Names that are kept of one attempt.
const MAX_KEPT: usize = 1_000;
/// Stashes that are kept of one attempt.
const MAX_STASHES: usize = 100;
/// The longest name that is kept as it is.
const MAX_NAME_BYTES: usize = 150;
/// Where the child's copies of other repositories' names are.
const REMOTES: &str = "refs/remotes/";
/// Where the last stash has its name, and the others their log.
const STASH: &str = "refs/stash";

impl Repository {
    /// Keeps them, and says whether there were any. One whose objects are not whole is
    /// left out, as a damaged history is.
    pub(super) fn keep_beside(&self, place: &Place, kept: &str) -> Result<bool, Error> {
        let mut found = self.names_beside(place, &[&place.base, kept]);
        if found.is_empty() {
            return Ok(false);
        }
        // If one of them is damaged nothing can be said about the others either.
        if let Some(unheld) = self.unheld(place, (&found, kept), OBJECTS)? {
            let unheld: HashSet<String> = unheld.into_iter().collect();
            found.retain(|(_, id)| unheld.contains(id));
        }
        found.truncate(MAX_KEPT);
        let all: Vec<&str> = found.iter().map(|(_, id)| id.as_str()).collect();
        if !all.is_empty() && !self.take_objects(place, (&all, &[]))? {
            let mut whole = Vec::new();
            for (name, id) in found {
                if self.take_objects(place, (&[&id], &[]))? {
                    whole.push((name, id));
                }
            }
            found = whole;
        }
        if found.is_empty() {
            return Ok(false);
        }
        let top = format!("{KEPT}{}/beside/{}", place.tree, place.attempt);
        let named = |(name, id): &(String, String)| format!("update {top}/{name} {id}\n");
        let orders: String = found.iter().map(named).collect();
        match self.move_names(&orders) {
            // Names that cannot stand beside one another are no reason to lose what they mean.
            Err(Error::Git { .. }) => {
                let by_id = |(_, id): &(String, String)| format!("update {top}/odd/{id} {id}\n");
                let ids: HashSet<String> = found.iter().map(by_id).collect();
                self.move_names(&ids.into_iter().collect::<String>())?;
            }
            other => other?,
        }
        Ok(true)
    }

    /// The child's commits that only these names hold, oldest first.
    pub(super) fn commits_beside(
        &self,
        place: &Place,
        history: Option<&History>,
    ) -> Result<Vec<String>, Error> {
        let head = history.map_or(&place.base, |history| &history.head);
        let found = self.names_beside(place, &[&place.base, head]);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let mut commits = self.unheld(place, (&found, head), &[])?.unwrap_or_default();
        commits.truncate(MAX_COMMITS);
        Ok(commits)
    }

    /// The names in a child's repository, as they are kept, that point to none of these and to
    /// nothing that it was given with the user's names.
    fn names_beside(&self, place: &Place, but: &[&str]) -> Vec<(String, String)> {
        let mut found = names_in(place);
        found.retain(|(_, id)| !but.contains(&id.as_str()));
        if !found.is_empty() {
            let lent: HashSet<String> = self.lent_commits().into_iter().collect();
            found.retain(|(_, id)| !lent.contains(id));
        }
        found
    }

    /// What these names hold and neither the work nor the user's own names do; `None` if
    /// something of it cannot be read.
    fn unheld(
        &self,
        place: &Place,
        (found, kept): (&[(String, String)], &str),
        what: &[&str],
    ) -> Result<Option<Vec<String>>, Error> {
        let Some(objects) = self.objects_of(place) else { return Ok(None) };
        let ids: String = found.iter().map(|(_, id)| format!("{id}\n")).collect();
        let input = format!("{ids}^{kept}\n^{}\n", place.base).into_bytes();
        let call = self.git.call("rev-list", Trust::Repository);
        let call = call.env("GIT_DIR", &self.user.common_dir).within(&self.user.common_dir);
        let call = call.borrowing([&*objects]).args(["--topo-order", "--reverse"]).args(what);
        let call = call.args(["--stdin", "--exclude=refs/legation/*"]);
        let call = call.args(["--exclude=refs/heads/legation/*", "--not", "--all"]);
        match call.input(input).ask() {
            Ok(said) if said.code == 0 => {
                let text = String::from_utf8_lossy(&said.out).into_owned();
                Ok(Some(text.lines().map(str::to_owned).collect()))
            }
            Ok(_) | Err(Error::Git { .. } | Error::Slow { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Tags and whatever else was named counts too, the content of commits does not.
const OBJECTS: &[&str] = &["--objects", "--no-object-names", "--filter=tree:0"];

/// The names in a child's repository, as they are kept.
fn names_in(place: &Place) -> Vec<(String, String)> {
    let Some(folder) = own_repository(place) else { return Vec::new() };
    let names = Names::of_child(&folder);
    let all = names.all(MAX_SEEN).into_iter().filter(|(name, _)| !name.starts_with(REMOTES));
    let mut found: BTreeMap<String, String> =
        all.map(|(name, id)| (shortened(&name, &id), id)).collect();
    if found.contains_key("stash") {
        let stashes = names.earlier(STASH, MAX_STASHES).into_iter().enumerate().skip(1);
        found.extend(stashes.map(|(at, id)| (format!("stash-{at}"), id)));
    }
    found.into_iter().collect()
}

/// A name without `refs/`; one that git or we would stumble over is told by what it means.
fn shortened(name: &str, id: &str) -> String {
    let short = name.strip_prefix("refs/").unwrap_or(name);
    let plain = |letter: char| letter.is_alphanumeric() || "._-+=,%#!/".contains(letter);
    let step = |step: &str| {
        let edges = !step.starts_with(['.', '-']) && !step.ends_with('.');
        edges && !step.is_empty() && !step.ends_with(".lock") && !step.contains("..")
    };
    let fits = short.len() <= MAX_NAME_BYTES;
    if fits && short.chars().all(plain) && short.split('/').all(step) {
        short.to_owned()
    } else {
        format!("odd/{id}")
    }
}

/// A tree and one of its attempts.
type Whose<'a> = (&'a str, &'a str);

/// The kept ones in a list of names and ids, by tree and attempt.
pub(super) fn by_attempt(list: &str) -> HashMap<Whose<'_>, Vec<(String, String)>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for line in list.lines() {
        let mut parts = line.split('\0');
        let (Some(name), Some(id)) = (parts.next(), parts.next()) else { continue };
        let rest = name.strip_prefix(KEPT).and_then(|rest| rest.split_once("/beside/"));
        if let Some((tree, (attempt, _))) =
            rest.and_then(|(tree, rest)| Some((tree, rest.split_once('/')?)))
        {
            found.entry((tree, attempt)).or_default().push((name.to_owned(), id.to_owned()));
        }
    }
    found
}
