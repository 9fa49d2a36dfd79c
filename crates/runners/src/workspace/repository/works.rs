//! Work that is kept in the user's repository: listed, shown, checked out again, forgotten.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::custody::written;
use super::super::git::{Call, Trust};
use super::super::{Error, KeptWork, Names, Spare, names, refs, turn};
use super::apply::names as sorted_names;
use super::{Ground, Repository, beside};

/// Where everything that is kept has its name.
pub(super) const KEPT: &str = "refs/legation/";
/// What stands between a tree and an attempt in the name of what is inside submodules.
const INSIDE: &str = "foreign/";
/// What stands between a tree and a delegation in the name of what was brought to the user.
const APPLIED: &str = "applied/";
/// Where every result has its branch.
pub(super) const RESULTS: &str = "refs/heads/legation/";

impl Repository {
    /// Every work that is kept.
    pub(super) fn kept_works(&self) -> Result<Vec<KeptWork>, Error> {
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)";
        let said = self.on_names("for-each-ref").args([format, KEPT]).run()?;
        let text = String::from_utf8_lossy(&said).into_owned();
        let merged = self.in_branch()?;
        let beside = beside::by_attempt(&text);
        let works = text.lines().filter_map(|line| listed(line, &merged));
        let (inside, mut works): (Vec<_>, Vec<_>) =
            works.partition(|work: &KeptWork| work.in_submodules.is_some());
        for work in &mut works {
            let key = (work.tree.as_str(), work.attempt.as_str());
            work.beside = beside.get(&key).cloned().unwrap_or_default();
            work.in_branch &= work.beside.iter().all(|(name, _)| merged.contains(name));
        }
        for work in inside {
            let same = |other: &&mut KeptWork| {
                (&other.tree, &other.attempt) == (&work.tree, &work.attempt)
            };
            match works.iter_mut().find(same) {
                Some(whole) => {
                    whole.in_submodules = work.in_submodules;
                    // No branch has what lies there.
                    whole.in_branch = false;
                }
                // It changed nothing else, and is kept under that name alone.
                None => works.push(work),
            }
        }
        Ok(works)
    }

    /// The names of kept work that the history of the user's branch has.
    fn in_branch(&self) -> Result<HashSet<String>, Error> {
        let Some(head) = self.user_head()? else { return Ok(HashSet::new()) };
        let call = self.on_names("for-each-ref").arg(format!("--merged={head}"));
        let said = call.args(["--format=%(refname)", KEPT, RESULTS]).run()?;
        Ok(String::from_utf8_lossy(&said).lines().map(str::to_owned).collect())
    }

    /// The files that kept work changed.
    pub(super) fn files_of_work(&self, work: &KeptWork) -> Result<Vec<String>, Error> {
        let base = match &work.provenance {
            Some(provenance) => provenance.base.clone(),
            // Without a record the last commit is all that can be told apart.
            None => format!("{}^", work.commit),
        };
        let mut files = match work.is_inside_only() {
            true => Vec::new(),
            false => sorted_names(self.touched(Some(&base), &work.commit)?),
        };
        if let Some(commit) = &work.in_submodules {
            files.extend(self.files_inside(commit)?);
            files.sort();
        }
        Ok(files)
    }

    /// The files of a commit that holds what was changed inside submodules.
    pub(super) fn files_inside(&self, commit: &str) -> Result<Vec<String>, Error> {
        let said = self.on_objects("ls-tree").args(["-r", "-z", "--name-only", commit]).run()?;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Checks kept work out into a worktree of the user's repository.
    pub(super) fn check_out_work(&self, work: &KeptWork, to: &Path) -> Result<(), Error> {
        let _turn = turn::naming(&self.common())?;
        self.patiently(|| {
            let call = self.git.call("worktree", Trust::User).unhurried();
            let call = call.env("GIT_DIR", &self.user.common_dir).args(["add", "--detach"]);
            // What only lies inside submodules is laid over what it started from.
            let start = if work.is_inside_only() { "^" } else { "" };
            call.arg("--").arg(to).arg(format!("{}{start}", work.commit)).run().map(drop)
        })?;
        let Some(inside) = &work.in_submodules else { return Ok(()) };
        let index = self.folders.state.join(format!("{}.inside", work.attempt));
        let (git_dir, objects) = (self.hub.clone(), self.user.objects.clone());
        let ground = Ground { root: to.to_owned(), git_dir, index: index.clone(), objects };
        let call = self.on_ground("read-tree", &ground);
        // Whatever a sparse checkout leaves out: this was asked for.
        call.args(["--reset", "-u", "--no-sparse-checkout", inside]).run()?;
        fs::remove_file(&index).map_err(Error::files("removing", &index))
    }

    /// Lets go of kept work: git throws it away once nothing else holds it.
    pub(super) fn let_go(&self, work: &KeptWork) -> Result<(), Error> {
        let mut orders = format!("delete {} {}\n", work.reference, work.commit);
        if let Some(inside) = work.in_submodules.as_ref().filter(|_| !work.is_inside_only()) {
            let name = inside_name(&work.tree, &work.attempt);
            orders.push_str(&format!("delete {name} {inside}\n"));
        }
        let beside = work.beside.iter().map(|(name, id)| format!("delete {name} {id}\n"));
        orders.extend(beside);
        // What held the head of its repository after work from below was merged into it, and
        // what says where it came from.
        for name in [head_name, note_name].map(|name| name(&work.tree, &work.attempt)) {
            if let Some(commit) = self.resolve(&name)? {
                orders.push_str(&format!("delete {name} {commit}\n"));
            }
        }
        self.move_names(&orders)
    }

    /// What holds the bases and the results of delegations that began here. A branch that
    /// somebody has checked out is not among them, nor is what belongs to it.
    pub(super) fn held_names(&self) -> Result<Vec<Names>, Error> {
        let format = "--format=%(refname)%00%(objectname)%00%(worktreepath)";
        let said = self.on_names("for-each-ref").args([format, KEPT, RESULTS]).run()?;
        let text = String::from_utf8_lossy(&said).into_owned();
        let merged = self.in_branch()?;
        let mut held: BTreeMap<String, Names> = BTreeMap::new();
        for delegation in self.folders.delegations() {
            // Nothing is let go of whose record cannot be read.
            let Ok(begun) = self.folders.begun(&delegation) else { continue };
            let since = written(&self.folders.begun_path(&delegation));
            let (tree, names, in_branch) = (begun.tree, Vec::new(), true);
            let key = delegation.clone();
            held.insert(key, Names { tree, delegation, names, since, bytes: None, in_branch });
        }
        let mut checked_out = Vec::new();
        for line in text.lines() {
            let mut parts = line.split('\0').map(str::to_owned);
            let (Some(name), Some(commit)) = (parts.next(), parts.next()) else { continue };
            let Some(delegation) = delegation_in(&name).filter(|id| held.contains_key(*id)) else {
                continue;
            };
            if parts.next().is_some_and(|place| !place.is_empty()) {
                checked_out.push(delegation.to_owned());
            }
            if let Some(of) = held.get_mut(delegation) {
                // Of what was brought without a commit no branch ever knows.
                let is_brought = name == applied_name(&of.tree, &of.delegation);
                of.in_branch &= is_brought || merged.contains(&name);
                of.names.push((name, commit));
            }
        }
        held.retain(|id, of| !of.names.is_empty() && !checked_out.contains(id));
        Ok(held.into_values().collect())
    }

    /// Lets go of all of them, or of none if one has moved since.
    pub(super) fn let_names_go(&self, names: &Names) -> Result<(), Error> {
        let orders = names.names.iter().map(|(name, commit)| format!("delete {name} {commit}\n"));
        self.move_names(&orders.collect::<String>())
    }

    /// Checkouts that nobody works in, and what set-ups have made.
    pub(super) fn spare_checkouts(&self) -> Result<Vec<Spare>, Error> {
        let mut spares = self.pooled_spares();
        spares.extend(self.idle_pins()?);
        spares.extend(self.spare_setups());
        Ok(spares)
    }

    /// Throws away a checkout, unless somebody has begun to use it.
    pub(super) fn drop_checkout(&self, spare: &Spare) -> Result<(), Error> {
        if self.drop_pooled(&spare.path)? {
            return Ok(());
        }
        // Making a workspace takes a moment; whoever clears up can come again.
        let Some(_alone) = turn::alone_now(&self.folders.state)? else { return Ok(()) };
        let still = self.spare_checkouts()?.into_iter().any(|one| one.path == spare.path);
        if still { self.folders.discard(&spare.path) } else { Ok(()) }
    }

    /// A command on the names of the user's repository.
    pub(super) fn on_names(&self, name: &str) -> Call<'_> {
        let call = self.git.call(name, Trust::Repository);
        call.env("GIT_DIR", &self.user.common_dir).within(&self.user.common_dir)
    }
}

/// The name under which is kept what an attempt changed inside submodules.
pub(super) fn inside_name(tree: &str, attempt: &str) -> String {
    format!("{KEPT}{tree}/{INSIDE}{attempt}")
}

/// The name that holds what an attempt's repository has checked out, where we moved that.
pub(super) fn head_name(tree: &str, attempt: &str) -> String {
    format!("{KEPT}{tree}/heads/{attempt}")
}

/// The name of the note about work in which no commit is ours.
pub(super) fn note_name(tree: &str, attempt: &str) -> String {
    format!("{KEPT}{tree}/provenance/{attempt}")
}

/// The name that holds what was brought to the user's files without a commit.
pub(super) fn applied_name(tree: &str, delegation: &str) -> String {
    format!("{KEPT}{tree}/{APPLIED}{delegation}")
}

/// The work that a line of the list of names is about.
fn listed(line: &str, merged: &HashSet<String>) -> Option<KeptWork> {
    let mut parts = line.split('\0');
    let (reference, commit, at) = (parts.next()?, parts.next()?, parts.next()?);
    let (tree, rest) = reference.strip_prefix(KEPT)?.split_once('/')?;
    let inside = rest.strip_prefix(INSIDE);
    let attempt = inside.unwrap_or(rest);
    // Bases and what was rolled back have longer names.
    names::checked("attempt", attempt).ok()?;
    let since = Duration::from_secs(at.parse().unwrap_or_default());
    Some(KeptWork {
        tree: tree.to_owned(),
        attempt: attempt.to_owned(),
        reference: reference.to_owned(),
        commit: commit.to_owned(),
        in_submodules: inside.map(|_| commit.to_owned()),
        beside: Vec::new(),
        provenance: None,
        since: SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or_else(SystemTime::now),
        bytes: None,
        in_branch: merged.contains(reference),
        exempt: false,
    })
}

/// The delegation whose base, result or earlier result a name holds.
fn delegation_in(name: &str) -> Option<&str> {
    if let Some(result) = name.strip_prefix(RESULTS) {
        return result.strip_suffix("/result");
    }
    let (_, rest) = name.strip_prefix(KEPT)?.split_once('/')?;
    let held = ["base/", "result/", "rolled-back/", APPLIED];
    let held = held.iter().find_map(|kind| rest.strip_prefix(kind))?;
    // What was rolled back more than once has the commit behind its name.
    match held.rsplit_once('-') {
        Some((id, tip)) if refs::is_id(tip) => Some(id),
        Some(_) | None => Some(held),
    }
}
