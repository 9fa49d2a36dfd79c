//! Two sides that do not fit together, as the start of somebody's work.

use super::super::folders::{Begun, Sides};
use super::super::markers::left;
use super::super::{Error, Kept, Place};
use super::Repository;
use super::trial::{Conflict, Trial};

impl Repository {
    /// A commit with the result and the work in it, both sides between markers where they do
    /// not fit. It is where a workspace starts, and never part of a history.
    pub(super) fn confronted(
        &self,
        begun: &Begun,
        work: &str,
    ) -> Result<(String, Option<Sides>), Error> {
        let ours = self.tip(&begun.delegation)?.unwrap_or_else(|| begun.base.clone());
        let (tree, files) = match self.trial(&ours, work)? {
            Trial::Fits { tree } => (tree, Vec::new()),
            Trial::Conflict(Conflict { files, tree, .. }) => (tree, files),
        };
        let message = "Two sides that do not fit together yet\n";
        let commit = self.commit(&tree, &[&ours, work], message)?;
        let (theirs, joined) = (work.to_owned(), Vec::new());
        Ok((commit, Some(Sides { ours, theirs, files, joined })))
    }

    /// The files in conflict that still have markers.
    pub(super) fn still_marked(&self, place: &Place, kept: &Kept) -> Result<Vec<String>, Error> {
        let Some(sides) = self.folders.known(place)?.sides else { return Ok(Vec::new()) };
        let mut marked = Vec::new();
        for file in sides.files {
            // One that is gone was decided about.
            let Some(resolved) = self.content(&kept.commit, &file)? else { continue };
            let side = |commit: &String| Ok(self.content(commit, &file)?.unwrap_or_default());
            if left(&resolved, || Ok([side(&sides.ours)?, side(&sides.theirs)?]))? {
                marked.push(file);
            }
        }
        Ok(marked)
    }

    /// What a file of a commit holds, if it is there.
    fn content(&self, commit: &str, file: &str) -> Result<Option<Vec<u8>>, Error> {
        let named = format!("{commit}:{file}");
        let said = self.on_objects("cat-file").args(["blob", &named]).ask()?;
        Ok((said.code == 0).then_some(said.out))
    }
}
