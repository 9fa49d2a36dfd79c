//! Taking back what was applied: by one more commit, never by going back.

use super::super::folders::Brought;
use super::super::hunks::TAKEN_BACK;
use super::super::{Applied, Error};
use super::Repository;
use super::apply::{Way, again_if_moved, refused, unfit};
use super::trial::Trial;
use super::underway::Errand;

impl Repository {
    /// Undoes what applying the delegation's result changed.
    pub(super) fn take_from_checkout(&self, delegation: &str) -> Result<Applied, Error> {
        again_if_moved(|| self.try_to_take_back(delegation))
    }

    fn try_to_take_back(&self, delegation: &str) -> Result<Applied, Error> {
        let begun = self.folders.begun(delegation)?;
        self.recover((self.patience, true))?;
        let brought = self.brought(delegation)?.filter(|it| it.standing().next().is_some());
        let (Some(brought), Some(top)) = (brought, &self.user.top) else {
            let reason = format!("nothing of {delegation} was applied here");
            return Err(refused(&reason, Vec::new(), "there is nothing to take back"));
        };
        self.check_idle()?;
        // Everything is about the branch as it stands now, whoever moves it meanwhile.
        let head = self.user_head()?;
        let modified = self.modified(top, begun.dirty)?;
        let taken = self.brought_here(&brought, head.as_deref())?;
        if taken.is_empty() && head.is_some() {
            let reason = format!("the result of {delegation} is not on the branch you are on");
            let hint = "switch to the branch that it was applied to, then try again";
            return Err(refused(&reason, Vec::new(), hint));
        }
        let then = |_, _| brought.without(&taken);
        let errand = Errand { begun: &begun, then: &then };
        let applied = if brought.files_only {
            let back = self.graft(&brought.before, &brought.after)?;
            let files = self.step(top, (&brought.after, &back), errand)?.unwrap_or_default();
            Applied { files, commit: self.user_head()? }
        } else {
            let mut way = None;
            for one in &taken {
                let at = way.as_deref().or(head.as_deref());
                way = self.way_back(at, one, delegation)?.or(way);
            }
            self.advance(top, (head.as_deref(), &modified), (&way, errand))?
        };
        // Where nothing of it was left, nothing was done that would have said so.
        self.folders.write_brought(delegation, &then(String::new(), String::new()))?;
        Ok(applied)
    }

    /// What the user's branch, or the user's files, have of what was brought, the last first.
    fn brought_here(&self, brought: &Brought, head: Option<&str>) -> Result<Vec<Brought>, Error> {
        let mut here = Vec::new();
        for one in brought.standing() {
            if one.files_only || self.is_below(&one.after, head)? {
                here.push(one.clone());
            }
        }
        Ok(here)
    }

    fn way_back(
        &self,
        head: Option<&str>,
        brought: &Brought,
        delegation: &str,
    ) -> Result<Way, Error> {
        let Some(head) = head else { return Ok(None) };
        let back = &self.graft(&brought.before, &brought.after)?;
        let tree = match self.trial(head, back)? {
            Trial::Fits { tree } => tree,
            Trial::Conflict(conflict) => {
                let reason = "what came later builds on what would be taken back";
                let hint = "nothing was changed; undo it by hand with git revert";
                let hunks = self.hunks(&conflict, [head, back], TAKEN_BACK);
                return Err(unfit(reason, (conflict.files, hunks), hint));
            }
        };
        if tree == self.tree_of(head)? {
            return Ok(None);
        }
        let message = format!(
            "Revert the result of {delegation}\n\nThis takes back what {} brought.\n",
            brought.after
        );
        Ok(Some(self.commit(&tree, &[head], &message)?))
    }
}
