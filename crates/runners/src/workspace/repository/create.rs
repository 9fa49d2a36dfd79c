//! Making a workspace: its base, its repository, its files. What a crash left
//! half-made is made anew; nothing was handed out before the last record was written.

use std::fs;

use super::super::folders::{Made, PLACE};
use super::super::{Error, New, Place, names, ports, record};
use super::lay::Site;
use super::trial::{Conflict, Trial};
use super::{Repository, own};

impl Repository {
    /// Makes the workspace that is wanted: of what it builds on, or of the result and work
    /// that does not fit.
    pub(super) fn make(&self, new: &New, against: Option<&str>) -> Result<Place, Error> {
        let made = self.try_to_make(new, against);
        if !matches!(made, Err(Error::Git { .. })) {
            return made;
        }
        // The user's git may have thrown away what the delegation began with.
        let base = self.folders.begun(&new.delegation)?.base;
        let was_there = self.is_there(&base)?;
        self.hold(&base, &[])?;
        if was_there { made } else { self.try_to_make(new, against) }
    }

    fn try_to_make(&self, new: &New, against: Option<&str>) -> Result<Place, Error> {
        self.choice().check()?;
        let attempt = names::checked("attempt", &new.attempt)?;
        names::checked("tree", &new.tree)?;
        let begun = self.folders.begun(&new.delegation)?;
        if let Some(made) = self.folders.made(attempt)? {
            return Ok(made.place);
        }
        self.folders.remove(attempt)?;
        let (base, sides) = match against {
            Some(work) => self.confronted(&begun, work)?,
            None => (self.joined(begun.base.clone(), &new.with)?, None),
        };
        // The user may ignore other files now than when the hub was last written.
        own::write(&self.hub, &self.user)?;
        let folder = self.folders.own(attempt);
        fs::create_dir_all(&folder).map_err(Error::files("making", &folder))?;
        let root = self.folders.workspace(attempt);
        let place = Place {
            tree: new.tree.clone(),
            delegation: new.delegation.clone(),
            subtask: new.subtask.clone(),
            attempt: attempt.to_owned(),
            cwd: root.join(&self.user.prefix),
            base,
            env: ports::env(&self.folders.state, attempt)?,
            root,
        };
        let subtask = names::softened(&new.subtask);
        let branch = format!("legation/{}/{subtask}/{attempt}", new.delegation);
        let site = Site { place: &place, shared: &begun.base, branch: &branch };
        let (laid, settled, _turn) = self.lay(&site)?;
        self.give(&place, &place.base)?;
        // The project's own folder may hold nothing that is committed.
        fs::create_dir_all(&place.cwd).map_err(Error::files("making", &place.cwd))?;
        let submodules = self.fill_submodules(&place)?;
        self.include(&place)?;
        let [shared, not_shared] = self.share_with(&place)?;
        let made = Made { place, settled, laid, shared, not_shared, sides, submodules };
        self.date_top(&made)?;
        record::write(&folder.join(PLACE), &made)?;
        Ok(made.place)
    }

    /// A base with the work that a subtask depends on.
    fn joined(&self, base: String, with: &[String]) -> Result<String, Error> {
        let mut base = base;
        for work in with {
            if self.is_ancestor(&base, work)? {
                base.clone_from(work);
            } else if !self.is_ancestor(work, &base)? {
                let tree = match self.trial(&base, work)? {
                    Trial::Fits { tree } => tree,
                    Trial::Conflict(Conflict { files, .. }) => {
                        return Err(Error::Conflict { files });
                    }
                };
                base = self.commit(&tree, &[&base, work], "Work that this subtask builds on\n")?;
            }
        }
        Ok(base)
    }
}
