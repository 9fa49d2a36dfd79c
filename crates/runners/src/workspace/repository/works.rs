//! Work that is kept in the user's repository: listed, shown, checked out again, forgotten.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::custody::written;
use super::super::git::{Call, Trust};
use super::super::{Error, KeptWork, Names, Spare, names, refs, turn};
use super::Repository;
use super::apply::names as sorted_names;
use super::beside;

/// Where everything that is kept has its name.
pub(super) const KEPT: &str = "refs/legation/";
/// Where every result has its branch.
const RESULTS: &str = "refs/heads/legation/";

impl Repository {
    /// Every work that is kept.
    pub(super) fn kept_works(&self) -> Result<Vec<KeptWork>, Error> {
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)";
        let said = self.on_names("for-each-ref").args([format, KEPT]).run()?;
        let text = String::from_utf8_lossy(&said).into_owned();
        let merged = self.in_branch()?;
        let beside = beside::by_attempt(&text);
        let works = text.lines().filter_map(|line| {
            let mut parts = line.split('\0');
            let (reference, commit, at) = (parts.next()?, parts.next()?, parts.next()?);
            let (tree, attempt) = reference.strip_prefix(KEPT)?.split_once('/')?;
            // Bases and what was rolled back have longer names.
            names::checked("attempt", attempt).ok()?;
            let since = Duration::from_secs(at.parse().unwrap_or_default());
            let beside = beside.get(&(tree, attempt)).cloned().unwrap_or_default();
            let held = beside.iter().all(|(name, _)| merged.contains(name));
            Some(KeptWork {
                tree: tree.to_owned(),
                attempt: attempt.to_owned(),
                reference: reference.to_owned(),
                commit: commit.to_owned(),
                provenance: None,
                since: SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or_else(SystemTime::now),
                bytes: None,
                in_branch: held && merged.contains(reference),
                beside,
                exempt: false,
            })
        });
        Ok(works.collect())
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
        Ok(sorted_names(self.touched(Some(&base), &work.commit)?))
    }

    /// Checks kept work out into a worktree of the user's repository.
    pub(super) fn check_out_work(&self, work: &KeptWork, to: &Path) -> Result<(), Error> {
        self.patiently(|| {
            let call = self.git.call("worktree", Trust::User).unhurried();
            let call = call.env("GIT_DIR", &self.user.common_dir).args(["add", "--detach"]);
            call.arg("--").arg(to).arg(&work.commit).run().map(drop)
        })
    }

    /// Lets go of kept work: git throws it away once nothing else holds it.
    pub(super) fn let_go(&self, work: &KeptWork) -> Result<(), Error> {
        let foreign = format!("{KEPT}{}/foreign/{}", work.tree, work.attempt);
        let mut orders = format!("delete {} {}\n", work.reference, work.commit);
        if self.resolve(&foreign)?.is_some() {
            orders.push_str(&format!("delete {foreign}\n"));
        }
        let beside = work.beside.iter().map(|(name, id)| format!("delete {name} {id}\n"));
        orders.extend(beside);
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
            let begun = self.folders.begun(&delegation)?;
            let since = written(&self.folders.begun_path(&delegation));
            let (tree, names, in_branch) = (begun.tree, Vec::new(), true);
            let key = delegation.clone();
            held.insert(key, Names { tree, delegation, names, since, in_branch });
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
                of.in_branch &= merged.contains(&name);
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

    /// Checkouts that nobody works in.
    pub(super) fn spare_checkouts(&self) -> Result<Vec<Spare>, Error> {
        let mut spares = self.pooled_spares();
        spares.extend(self.idle_pins()?);
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

/// The delegation whose base, result or earlier result a name holds.
fn delegation_in(name: &str) -> Option<&str> {
    if let Some(result) = name.strip_prefix(RESULTS) {
        return result.strip_suffix("/result");
    }
    let (_, rest) = name.strip_prefix(KEPT)?.split_once('/')?;
    let held = ["base/", "result/", "rolled-back/"];
    let held = held.iter().find_map(|kind| rest.strip_prefix(kind))?;
    // What was rolled back more than once has the commit behind its name.
    match held.rsplit_once('-') {
        Some((id, tip)) if refs::is_id(tip) => Some(id),
        Some(_) | None => Some(held),
    }
}
