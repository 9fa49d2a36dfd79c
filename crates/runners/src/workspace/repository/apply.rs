//! Bringing a result into the user's own checkout. All of it or nothing.
//!
//! The one place that moves the user's branch and files, and only because the
//! user said so. Everything that could stand in the way is looked for first.

use std::collections::BTreeSet;
use std::path::Path;

use legation_core::tree::event::Hunk;

use super::super::folders::{Begun, Brought};
use super::super::hunks::APPLIED;
use super::super::obstacles::obstacles;
use super::super::{Applied, Error, How};
use super::trial::Trial;
use super::underway::Errand;
use super::{MAX_ROUNDS, Repository};

/// What git leaves in a repository as long as the user is at something.
const UNDER_WAY: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("BISECT_LOG", "bisection"),
];

pub(super) const STASH: &str = "commit them, or put them aside with git stash, then try again";

/// How git is asked to move a branch on, whatever the user's settings say of merging.
const FORWARD: [&str; 6] =
    ["-q", "--no-stat", "--no-autostash", "--no-squash", "--no-verify-signatures", "--ff-only"];

/// The commit that the branch moves on to, a descendant; none if there is nothing to do.
pub(super) type Way = Option<String>;

impl Repository {
    /// Applies the delegation's result.
    pub(super) fn apply_to_checkout(&self, delegation: &str, how: How) -> Result<Applied, Error> {
        again_if_moved(|| self.try_to_apply(delegation, how))
    }

    fn try_to_apply(&self, delegation: &str, how: How) -> Result<Applied, Error> {
        let begun = self.folders.begun(delegation)?;
        let Some(top) = &self.user.top else {
            let branch = format!("legation/{delegation}/result");
            let hint = format!("merge the branch {branch} in a checkout of this repository");
            return Err(refused("a bare repository has no files to apply to", Vec::new(), &hint));
        };
        let Some(tip) = self.tip(delegation)? else {
            let reason = format!("{delegation} has no result yet");
            return Err(refused(&reason, Vec::new(), "wait until one of its subtasks was merged"));
        };
        self.recover((self.patience, true))?;
        self.check_idle()?;
        let head = self.user_head()?;
        let modified = self.modified(top, begun.dirty)?;
        if begun.dirty {
            return self.apply_over_dirty(top, &begun, &tip);
        }
        let earlier = self.brought(delegation)?.map(|brought| brought.as_earlier());
        let earlier = earlier.unwrap_or_default();
        let then = |before, after| {
            let (tip, earlier, files_only, taken_back) =
                (tip.clone(), earlier.clone(), false, false);
            Brought { tip, before, after, files_only, taken_back, earlier }
        };
        let way = self.way(head.as_deref(), &tip, (how, &begun))?;
        let errand = Errand { begun: &begun, then: &then };
        self.advance(top, (head.as_deref(), &modified), (&way, errand))
    }

    /// Moves the user's branch and files, if nothing is in the way.
    pub(super) fn advance(
        &self,
        top: &Path,
        (head, modified): (Option<&str>, &[String]),
        (way, errand): (&Way, Errand<'_>),
    ) -> Result<Applied, Error> {
        let Some(to) = way else {
            return Ok(Applied { files: Vec::new(), commit: head.map(str::to_owned) });
        };
        let files = self.touched(head, to)?;
        check(top, &files, modified)?;
        self.check_submodules(top, &files)?;
        let from = head.map_or_else(|| self.beginning(), |head| Ok(head.to_owned()))?;
        let go = || self.patiently(|| self.go(top, (head, &from, to)));
        self.on_record((&from, to), errand, (false, go))?;
        Ok(Applied { files: names(files), commit: self.user_head()? })
    }

    /// Refuses to take a submodule away in which there is something that is not committed.
    fn check_submodules(&self, top: &Path, files: &[(String, String)]) -> Result<(), Error> {
        let is_folder = |path: &&String| top.join(path).join(".git").exists();
        let submodules: Vec<&String> =
            files.iter().map(|(_, path)| path).filter(is_folder).collect();
        if submodules.is_empty() {
            return Ok(());
        }
        let call = self.on_checkout("status", top).args(["--porcelain=v1", "-z", "--no-renames"]);
        let call = call.args(["--ignore-submodules=none", "--"]).args(&submodules);
        let out = call.run()?;
        let text = String::from_utf8_lossy(&out).into_owned();
        let dirty: Vec<String> =
            text.split('\0').filter_map(|entry| entry.get(3..)).map(str::to_owned).collect();
        if dirty.is_empty() {
            return Ok(());
        }
        let reason = "a submodule would go or move in which you have changed something";
        Err(refused(reason, dirty, "commit or stash that inside it, then try again"))
    }

    /// Whether the user's branch has the delegation's result.
    pub(super) fn checkout_has(&self, delegation: &str) -> Result<bool, Error> {
        let base = self.folders.begun(delegation)?.base;
        // A result that was taken back is its base, and that the user has anyway.
        let tip = self.tip(delegation)?.filter(|tip| *tip != base);
        let head = self.user_head()?;
        let brought = self.brought(delegation)?;
        // However it was applied, and whatever history says: this is what came of it.
        if let Some(brought) = brought.filter(|brought| tip.as_ref() == Some(&brought.tip)) {
            for one in brought.standing().filter(|one| tip.as_ref() == Some(&one.tip)) {
                if one.files_only || self.is_below(&one.after, head.as_deref())? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        match (tip, head) {
            (Some(tip), Some(head)) => self.is_ancestor(&tip, &head),
            (Some(_) | None, _) => Ok(false),
        }
    }

    /// Files with changes that are not committed; staged ones are refused. Of what was `begun_on`
    /// changes like these nothing fits without them.
    pub(super) fn modified(&self, top: &Path, begun_on: bool) -> Result<Vec<String>, Error> {
        let call = self.on_checkout("status", top).args(["--porcelain=v1", "-z", "--no-renames"]);
        let out = call.args(["--untracked-files=no", "--ignore-submodules=all"]).run()?;
        let text = String::from_utf8_lossy(&out).into_owned();
        let entries = text.split('\0').filter_map(|entry| entry.split_at_checked(3));
        let (staged, rest): (Vec<_>, Vec<_>) =
            entries.partition(|(state, _)| !state.starts_with(' '));
        if !staged.is_empty() {
            let files = staged.into_iter().map(|(_, path)| path.to_owned()).collect();
            let hint = match begun_on {
                true => {
                    "take them out of it with git reset, which leaves the files, then try again"
                }
                false => STASH,
            };
            return Err(refused("there are changes in the index", files, hint));
        }
        Ok(rest.into_iter().map(|(_, path)| path.to_owned()).collect())
    }

    fn way(
        &self,
        head: Option<&str>,
        tip: &str,
        (how, begun): (How, &Begun),
    ) -> Result<Way, Error> {
        let Some(head) = head else { return Ok(Some(tip.to_owned())) };
        let brought = self.brought(&begun.delegation)?;
        for one in brought.iter().flat_map(Brought::standing).filter(|one| one.tip == tip) {
            if self.is_ancestor(&one.after, head)? {
                // However it was applied, it is there.
                return Ok(None);
            }
        }
        // One that is on record and not on the branch, although the work is in its history, was
        // taken back before, and whoever wanted it again was killed.
        let is_undone = match &brought {
            Some(brought) => brought.taken_back || self.is_ancestor(tip, head)?,
            None => false,
        };
        if is_undone {
            // Git takes work that was once merged for being there.
            let again = self.graft(tip, &begun.base)?;
            let other = (how == How::Merge).then_some(tip);
            return self.as_one(head, &again, (begun, other));
        }
        if self.is_ancestor(tip, head)? {
            return Ok(None);
        }
        if !self.has_base(head, &begun.base)? {
            return self.without_its_base(head, tip, (how, begun));
        }
        let forward = self.is_ancestor(head, tip)?;
        match how {
            How::Auto | How::FastForward if forward => return Ok(Some(tip.to_owned())),
            How::FastForward => {
                let reason = "your branch has moved since the work began";
                return Err(refused(reason, Vec::new(), "apply it with --merge or --squash"));
            }
            How::Squash => return self.as_one(head, tip, (begun, None)),
            How::Auto | How::Merge => {}
        }
        let tree = self.fitting(head, (tip, begun))?;
        let message = format!("Merge the result of {}\n", begun.delegation);
        Ok(Some(self.commit(&tree, &[head, tip], &message)?))
    }

    /// Whether a commit is in the history of the user's branch, which need not have any.
    pub(super) fn is_below(&self, commit: &str, head: Option<&str>) -> Result<bool, Error> {
        head.map_or(Ok(false), |head| self.is_ancestor(commit, head))
    }

    /// Whether nothing but what was done for the user would come along with a result.
    fn has_base(&self, head: &str, base: &str) -> Result<bool, Error> {
        // Where there was nothing to begin with, nothing of it can come along.
        let has_no_files = || Ok(self.touched(None, base)?.is_empty());
        Ok(self.is_ancestor(base, head)? || has_no_files()?)
    }

    /// Brings only what was done, to a branch without what that builds on.
    fn without_its_base(
        &self,
        head: &str,
        tip: &str,
        (how, begun): (How, &Begun),
    ) -> Result<Way, Error> {
        let id = &begun.delegation;
        if how != How::Squash {
            let reason = format!(
                "your branch does not have the commits that {id} builds on, and would get them \
                 along with it"
            );
            let hint = "switch to the branch that it began on, or bring only what was done for you \
                        with --squash";
            return Err(refused(&reason, Vec::new(), hint));
        }
        let ours = self.graft(head, &begun.base)?;
        let tree = self.fitting(&ours, (tip, begun))?;
        if tree == self.tree_of(head)? {
            return Ok(None);
        }
        Ok(Some(self.commit(&tree, &[head], &format!("The result of {id}\n"))?))
    }

    /// The files of two commits together.
    fn fitting(&self, head: &str, (tip, begun): (&str, &Begun)) -> Result<String, Error> {
        match self.trial(head, tip)? {
            Trial::Fits { tree } => Ok(tree),
            Trial::Conflict(conflict) => {
                let hunks = self.hunks(&conflict, [head, tip], APPLIED);
                Err(conflicts(begun, (conflict.files, hunks)))
            }
        }
    }

    /// All of it as one commit on top of the user's own; a merge, where it is to have
    /// another parent.
    fn as_one(
        &self,
        head: &str,
        tip: &str,
        (begun, other): (&Begun, Option<&str>),
    ) -> Result<Way, Error> {
        let tree = self.fitting(head, (tip, begun))?;
        if tree == self.tree_of(head)? {
            return Ok(None);
        }
        let (what, id) = (if other.is_some() { "Merge the" } else { "The" }, &begun.delegation);
        let parents: Vec<&str> = [head].into_iter().chain(other).collect();
        let message = format!("{what} result of {id}\n");
        Ok(Some(self.commit(&tree, &parents, &message)?))
    }

    /// The files of one commit as a step from another, wherever they came from.
    pub(super) fn graft(&self, files_of: &str, onto: &str) -> Result<String, Error> {
        self.commit(&self.tree_of(files_of)?, &[onto], "The same files\n")
    }

    /// What would change: how, and which file.
    pub(super) fn touched(
        &self,
        head: Option<&str>,
        target: &str,
    ) -> Result<Vec<(String, String)>, Error> {
        let call = match head {
            Some(head) => {
                self.on_objects("diff-tree").args(["-r", "-z", "--name-status", head, target])
            }
            None => self.on_objects("ls-tree").args(["-r", "-z", "--name-only", target]),
        };
        let text = String::from_utf8_lossy(&call.run()?).into_owned();
        let mut parts = text.split('\0').filter(|part| !part.is_empty()).map(str::to_owned);
        if head.is_none() {
            return Ok(parts.map(|path| ("A".to_owned(), path)).collect());
        }
        let mut touched = Vec::new();
        while let (Some(state), Some(path)) = (parts.next(), parts.next()) {
            touched.push((state, path));
        }
        Ok(touched)
    }

    /// Moves the user's branch and files on. What could be done only in part is taken back.
    fn go(&self, top: &Path, (head, from, to): (Option<&str>, &str, &str)) -> Result<(), Error> {
        let call = self.on_checkout("merge", top).unhurried().undisturbed();
        let Err(why) = call.args(FORWARD).arg(to).run() else { return Ok(()) };
        let now = self.user_head()?;
        if now.as_deref() == Some(to) {
            return Ok(());
        }
        let is_begun = !matches!(&why, Error::Locked { path } if path.ends_with("index.lock"));
        if now.as_deref() != head {
            return Err(self.moved(top, to));
        }
        if !is_begun {
            return Err(why);
        }
        self.unlock(top);
        // Git writes the files before it moves the branch. If it has come to that, this takes
        // them back; if not, it does nothing.
        let back = self.on_checkout("read-tree", top).unhurried().undisturbed();
        drop(back.args(["-m", "-u", to, from]).ask());
        self.put_back(&self.checkout(top, false), (from, to), &why.to_string())?;
        Err(why)
    }

    /// Why the branch could not be moved on from where it no longer is. Git looks first, and
    /// then nothing was changed; only where it was moved while git wrote the files, these are
    /// there. They are left alone: by now they may be somebody's.
    fn moved(&self, top: &Path, to: &str) -> Error {
        let call = self.on_checkout("diff-index", top).args(["--cached", "--quiet", to]);
        if call.ask().is_ok_and(|said| said.code != 0) {
            return Error::Moved;
        }
        let reason = "somebody else moved your branch while its files were written";
        let hint = format!("see what git status shows; the files are those of {to}");
        refused(reason, Vec::new(), &hint)
    }

    /// Refuses while the user is in the middle of something of git's.
    pub(super) fn check_idle(&self) -> Result<(), Error> {
        let under_way = UNDER_WAY.iter().find(|(name, _)| self.user.git_dir.join(name).exists());
        match under_way {
            Some((_, what)) => {
                let reason = format!("you are in the middle of a {what}");
                Err(refused(&reason, Vec::new(), "finish it or abort it, then try again"))
            }
            None => Ok(()),
        }
    }
}

/// Does something to the user's branch, and does it anew where somebody else has moved that
/// meanwhile.
pub(super) fn again_if_moved(act: impl Fn() -> Result<Applied, Error>) -> Result<Applied, Error> {
    for _ in 1..MAX_ROUNDS {
        match act() {
            Err(Error::Moved) => {}
            done => return done,
        }
    }
    act()
}

/// Refuses to overwrite what nobody could bring back.
pub(super) fn check(
    top: &Path,
    files: &[(String, String)],
    modified: &[String],
) -> Result<(), Error> {
    let dirty: Vec<String> = files
        .iter()
        .filter(|(_, path)| modified.contains(path))
        .map(|(_, path)| path.clone())
        .collect();
    if !dirty.is_empty() {
        return Err(refused("your uncommitted changes would be overwritten", dirty, STASH));
    }
    let there = in_the_way(top, files);
    if there.is_empty() {
        return Ok(());
    }
    let hint = "move them away, then try again";
    Err(refused("untracked files of yours would be overwritten", there, hint))
}

/// Files that git does not know in the place of those that are to be added, sorted.
pub(super) fn in_the_way(top: &Path, files: &[(String, String)]) -> Vec<String> {
    let of = |kind: &'static str| files.iter().filter(move |(state, _)| state == kind);
    let leaving = of("D").map(|(_, path)| path.clone().into_bytes()).collect();
    let blocked = of("A").flat_map(|(_, path)| obstacles(top, path.as_bytes(), &leaving));
    let there: BTreeSet<String> =
        blocked.map(|path| String::from_utf8_lossy(&path).into_owned()).collect();
    there.into_iter().collect()
}

pub(super) fn refused(reason: &str, files: Vec<String>, hint: &str) -> Error {
    Error::Refused { reason: reason.to_owned(), files, hint: hint.to_owned() }
}

/// Two sides that do not fit together; nothing was changed.
pub(super) fn unfit(reason: &str, (files, hunks): (Vec<String>, Vec<Hunk>), hint: &str) -> Error {
    Error::Unfit { reason: reason.to_owned(), files, hunks, hint: hint.to_owned() }
}

pub(super) fn conflicts(begun: &Begun, met: (Vec<String>, Vec<Hunk>)) -> Error {
    let id = &begun.delegation;
    let (with, hint) = match begun.dirty {
        true => ("files", format!("bring over by hand what `legation diff {id}` shows")),
        false => ("branch", format!("`git merge legation/{id}/result` lets you resolve it")),
    };
    let reason = format!("the result conflicts with your {with}");
    unfit(&reason, met, &format!("nothing was changed; {hint}"))
}

/// The names of files that change, sorted.
pub(super) fn names(files: Vec<(String, String)>) -> Vec<String> {
    let mut files: Vec<String> = files.into_iter().map(|(_, path)| path).collect();
    files.sort();
    files
}
