//! What every way of making workspaces can do.
//!
//! Callers only ever see [`super::Spaces`]. A new way is one more implementation
//! of this; how the files of a git workspace get there is the
//! smaller seam in `repository/lay.rs`.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::choice::Choice;
use super::folders::{Custody, Folders};
use super::{
    Applied, Candidate, Error, How, Kept, KeptWork, Merge, Names, New, Note, Origin, Outlook,
    Place, Seen, Spare, Start,
};

pub(super) trait Mechanism: Debug + Send + Sync {
    fn is_git(&self) -> bool;
    fn origin(&self) -> Origin;
    fn mechanism(&self) -> Choice;
    /// Takes up what earlier processes left half done, or clears it away. Nobody else is at it.
    fn adopt(&self) -> Result<(), Error>;
    fn folders(&self) -> &Folders;
    /// The folder of the lock for whoever changes the user's own files.
    fn applies_in(&self) -> PathBuf {
        self.folders().state.clone()
    }
    fn git_processes(&self) -> u64;
    fn begin(&self, start: &Start) -> Result<String, Error>;
    fn create(&self, new: &New) -> Result<Place, Error>;
    fn confront(&self, new: &New, work: &str) -> Result<Place, Error>;
    fn unresolved(&self, place: &Place, kept: &Kept) -> Result<Vec<String>, Error>;
    fn stand(&self, place: &Place) -> Result<(), Error>;
    fn look(&self, place: &Place) -> Result<Seen, Error>;
    fn keep(&self, place: &Place, note: &Note) -> Result<Option<Kept>, Error>;
    /// Whether something is kept that lies inside submodules, and is no part of the work.
    fn is_kept_inside(&self, _place: &Place) -> Result<bool, Error> {
        Ok(false)
    }
    fn kept_commit(&self, tree: &str, attempt: &str) -> Result<Option<String>, Error>;
    fn recall(&self, place: &Place, commands: &[String]) -> Result<bool, Error>;
    fn remember(&self, place: &Place, commands: &[String]) -> Result<(), Error>;
    fn remove(&self, place: &Place) -> Result<(), Error>;
    fn merge(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error>;
    fn foresee(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error>;
    fn advance(&self, delegation: &str, kept: &Kept, to: &Candidate) -> Result<bool, Error>;
    fn is_untried(&self, kept: &Kept, merged: &Candidate) -> Result<bool, Error>;
    fn forgo(&self, attempt: &str) -> Result<(), Error>;
    fn bring(&self, into: &Place, delegation: &str) -> Result<Merge, Error>;
    fn rollback(&self, delegation: &str) -> Result<Option<String>, Error>;
    fn diff(&self, delegation: &str, kept: Option<&Kept>) -> Result<String, Error>;
    fn result_commit(&self, delegation: &str) -> Result<Option<String>, Error>;
    fn is_applied(&self, delegation: &str) -> Result<bool, Error>;
    fn apply(&self, delegation: &str, how: How) -> Result<Applied, Error>;
    fn works(&self) -> Result<Vec<KeptWork>, Error>;
    fn work_files(&self, work: &KeptWork) -> Result<Vec<String>, Error>;
    fn restore_work(&self, work: &KeptWork, to: &Path) -> Result<(), Error>;
    fn forget_work(&self, work: &KeptWork) -> Result<(), Error>;
    fn spares(&self) -> Result<Vec<Spare>, Error>;
    fn drop_spare(&self, spare: &Spare) -> Result<(), Error>;
    fn names(&self) -> Result<Vec<Names>, Error>;
    fn drop_names(&self, names: &Names) -> Result<(), Error>;
    fn revert(&self, delegation: &str) -> Result<Applied, Error>;

    // However the files got there, what is on record about them is the same.

    fn find(&self, attempt: &str) -> Result<Option<Place>, Error> {
        Ok(self.folders().made(attempt)?.map(|made| made.place))
    }

    fn list(&self) -> Result<Vec<String>, Error> {
        self.folders().list()
    }

    fn custody(&self, attempt: &str) -> Result<Option<Custody>, Error> {
        self.folders().custody(attempt)
    }

    fn clear(&self, attempt: &str) -> Result<(), Error> {
        self.folders().remove(attempt)
    }
}
