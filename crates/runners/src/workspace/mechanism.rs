//! What every way of making workspaces can do.
//!
//! Callers only ever see [`super::Spaces`]. A new way is one more implementation
//! of this; how the files of a git workspace get there is the
//! smaller seam in `repository/lay.rs`.

use std::fmt::Debug;

use super::choice::Choice;
use super::folders::Custody;
use super::{
    Applied, Candidate, Error, How, Kept, Merge, New, Note, Origin, Outlook, Place, Seen, Start,
};

pub(super) trait Mechanism: Debug + Send + Sync {
    fn is_git(&self) -> bool;
    fn origin(&self) -> Origin;
    fn mechanism(&self) -> Choice;
    fn git_processes(&self) -> u64;
    fn begin(&self, start: &Start) -> Result<String, Error>;
    fn create(&self, new: &New) -> Result<Place, Error>;
    fn find(&self, attempt: &str) -> Result<Option<Place>, Error>;
    fn list(&self) -> Result<Vec<String>, Error>;
    fn look(&self, place: &Place) -> Result<Seen, Error>;
    fn keep(&self, place: &Place, note: &Note) -> Result<Option<Kept>, Error>;
    fn custody(&self, attempt: &str) -> Result<Option<Custody>, Error>;
    fn kept_commit(&self, tree: &str, attempt: &str) -> Result<Option<String>, Error>;
    fn recall(&self, place: &Place, commands: &[String]) -> Result<bool, Error>;
    fn remember(&self, place: &Place, commands: &[String]) -> Result<(), Error>;
    fn remove(&self, place: &Place) -> Result<(), Error>;
    fn clear(&self, attempt: &str) -> Result<(), Error>;
    fn merge(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error>;
    fn foresee(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error>;
    fn advance(&self, delegation: &str, kept: &Kept, to: &Candidate) -> Result<bool, Error>;
    fn is_untried(&self, kept: &Kept, merged: &Candidate) -> Result<bool, Error>;
    fn forgo(&self, attempt: &str) -> Result<(), Error>;
    fn bring(&self, into: &Place, delegation: &str) -> Result<Merge, Error>;
    fn rollback(&self, delegation: &str) -> Result<Option<String>, Error>;
    fn diff(&self, delegation: &str, kept: Option<&Kept>) -> Result<String, Error>;
    fn is_applied(&self, delegation: &str) -> Result<bool, Error>;
    fn apply(&self, delegation: &str, how: How) -> Result<Applied, Error>;
    fn revert(&self, delegation: &str) -> Result<Applied, Error>;
}
