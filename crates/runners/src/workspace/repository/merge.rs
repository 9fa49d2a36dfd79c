//! The result of a delegation: merging into it, showing it, taking it back.

use std::collections::{HashMap, HashSet};
use std::sync::{MutexGuard, PoisonError};

use super::super::folders::Begun;
use super::super::hunks::{MERGED, TAKEN_BACK};
use super::super::{Candidate, Error, Kept, Merge, Outlook};
use super::apply::unfit;
use super::begin::base_name;
use super::trial::Trial;
use super::{MAX_ROUNDS, Repository};

/// The work that is in each delegation's result, as far as this process merged it.
type Results = HashMap<String, HashSet<String>>;

impl Repository {
    /// Merges kept work into the delegation's result.
    pub(super) fn merge_into_result(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error> {
        let begun = self.folders.begun(delegation)?;
        let mut merged = self.results();
        let mut last = None;
        for _ in 0..MAX_ROUNDS {
            let candidate = match self.outlook(&begun, kept, &merged)? {
                Outlook::Fits(candidate) => candidate,
                Outlook::Conflict { files, hunks } => {
                    return Ok(Merge::Conflict { files, hunks });
                }
                Outlook::Nothing => return Ok(Merge::Nothing),
                Outlook::Held { at } => return Err(Error::held(delegation, &at)),
            };
            match self.move_on(&begun, kept, (&candidate, &mut merged)) {
                Ok(true) => return Ok(Merge::Clean { commit: candidate.commit }),
                // Somebody else moved it, or it cannot be moved: the next round tells.
                Ok(false) => {}
                Err(error @ Error::Git { .. }) => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        let unmoved = || Error::Unknown { what: "result", id: delegation.to_owned() };
        Err(last.unwrap_or_else(unmoved))
    }

    /// How a merge into the delegation's result would go.
    pub(super) fn outlook_for(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error> {
        self.outlook(&self.folders.begun(delegation)?, kept, &self.results())
    }

    /// Whether no attempt has had these files before it yet.
    pub(super) fn is_new(&self, kept: &Kept, merged: &Candidate) -> Result<bool, Error> {
        Ok(self.tree_of(&kept.commit)? != self.tree_of(&merged.commit)?)
    }

    /// Moves the delegation's result, unless somebody else did meanwhile.
    pub(super) fn advance_result(
        &self,
        delegation: &str,
        kept: &Kept,
        to: &Candidate,
    ) -> Result<bool, Error> {
        self.move_on(&self.folders.begun(delegation)?, kept, (to, &mut self.results()))
    }

    fn outlook(&self, begun: &Begun, kept: &Kept, merged: &Results) -> Result<Outlook, Error> {
        let delegation = begun.delegation.as_str();
        let tip = self.tip(delegation)?;
        let known = merged.get(delegation).is_some_and(|known| known.contains(&kept.commit));
        if known || self.already(tip.as_deref(), kept, merged.contains_key(delegation))? {
            return Ok(Outlook::Nothing);
        }
        if let Some(at) = self.checkout_of(&result_name(delegation))? {
            return Ok(Outlook::Held { at });
        }
        let from = tip.as_ref().unwrap_or(&begun.base);
        if *from == kept.base {
            let commit = kept.commit.clone();
            return Ok(Outlook::Fits(Candidate { commit, from: tip, is_forward: true }));
        }
        match self.trial(from, &kept.commit)? {
            Trial::Fits { tree } => {
                let message = format!("Merge {}\n", kept.reference);
                let commit = self.commit(&tree, &[from, &kept.commit], &message)?;
                Ok(Outlook::Fits(Candidate { commit, from: tip, is_forward: false }))
            }
            Trial::Conflict(conflict) => {
                let hunks = self.hunks(&conflict, [from, &kept.commit], MERGED);
                Ok(Outlook::Conflict { files: conflict.files, hunks })
            }
        }
    }

    fn move_on(
        &self,
        begun: &Begun,
        kept: &Kept,
        (to, merged): (&Candidate, &mut Results),
    ) -> Result<bool, Error> {
        if self.checkout_of(&result_name(&begun.delegation))?.is_some() {
            return Ok(false);
        }
        match self.move_names(&advance(begun, to.from.as_deref(), &to.commit)) {
            Ok(()) => {
                merged.entry(begun.delegation.clone()).or_default().insert(kept.commit.clone());
                Ok(true)
            }
            Err(Error::Git { .. }) if self.tip(&begun.delegation)? != to.from => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the result has this work, as after a crash between merging and saying so.
    fn already(&self, tip: Option<&str>, kept: &Kept, ours: bool) -> Result<bool, Error> {
        match tip {
            Some(tip) if tip == kept.commit => Ok(true),
            Some(tip) if !ours => self.is_ancestor(&kept.commit, tip),
            Some(_) | None => Ok(false),
        }
    }

    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the delegation's result stands.
    pub(super) fn tip(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.resolve(&result_name(delegation))
    }

    /// Takes what was merged out of the result again: back to the base where nobody else
    /// has touched it, by a commit on top where somebody has. What it was stays under a name.
    pub(super) fn roll_back(&self, delegation: &str) -> Result<Option<String>, Error> {
        let begun = self.folders.begun(delegation)?;
        let mut merged = self.results();
        let ours = merged_name(&begun);
        let Some(last) = self.resolve(&ours)? else { return Ok(None) };
        let Some(tip) = self.tip(delegation)?.filter(|tip| *tip != begun.base) else {
            return Ok(None);
        };
        let result = result_name(delegation);
        if let Some(at) = self.checkout_of(&result)? {
            return Err(Error::held(delegation, &at));
        }
        let to = if tip == last { begun.base.clone() } else { self.without(&begun, &tip, &last)? };
        let mut name = format!("refs/legation/{}/rolled-back/{delegation}", begun.tree);
        if self.resolve(&name)?.is_some_and(|before| before != tip) {
            // Rolled back before, with other work: that one stays too.
            name = format!("{name}-{tip}");
        }
        self.move_names(&format!(
            "update {name} {tip}\nupdate {result} {to} {tip}\ndelete {ours} {last}\n"
        ))?;
        merged.remove(delegation);
        Ok(Some(tip))
    }

    /// A commit on top of the user's that takes back what was merged last and before.
    fn without(&self, begun: &Begun, tip: &str, last: &str) -> Result<String, Error> {
        let back = self.graft(&begun.base, last)?;
        match self.trial(tip, &back)? {
            Trial::Fits { tree } => {
                let message = format!("Revert the result of {}\n", begun.delegation);
                self.commit(&tree, &[tip], &message)
            }
            Trial::Conflict(conflict) => {
                let reason = "what you committed on the result builds on what would be taken back";
                let hint = "nothing was changed; undo it by hand with git revert";
                let hunks = self.hunks(&conflict, [tip, &back], TAKEN_BACK);
                Err(unfit(reason, (conflict.files, hunks), hint))
            }
        }
    }

    /// The difference that a delegation, or one kept work of it, makes.
    pub(super) fn difference(
        &self,
        delegation: &str,
        kept: Option<&Kept>,
    ) -> Result<String, Error> {
        let begun = self.folders.begun(delegation)?;
        let (base, tip) = match kept {
            Some(kept) => (kept.base.clone(), Some(kept.commit.clone())),
            None => (begun.base, self.tip(delegation)?),
        };
        let Some(tip) = tip else { return Ok(String::new()) };
        let call = self.on_objects("diff").args(["--no-color", "--no-ext-diff", "--no-textconv"]);
        let out = call.args([&base, &tip]).run()?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

/// The branch that holds a delegation's result.
pub(super) fn result_name(delegation: &str) -> String {
    format!("refs/heads/legation/{delegation}/result")
}

/// What was last merged into a result, whatever somebody else has put on top since.
fn merged_name(begun: &Begun) -> String {
    format!("refs/legation/{}/result/{}", begun.tree, begun.delegation)
}

/// What moves the result; the first time it also pins the base.
fn advance(begun: &Begun, tip: Option<&str>, commit: &str) -> String {
    let result = result_name(&begun.delegation);
    let merged = format!("update {} {commit}\n", merged_name(begun));
    match tip {
        Some(tip) => format!("update {result} {commit} {tip}\n{merged}"),
        None => {
            let base = base_name(&begun.tree, &begun.delegation);
            format!("create {result} {commit}\nupdate {base} {}\n{merged}", begun.base)
        }
    }
}
