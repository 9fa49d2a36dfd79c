//! Workspaces of a project in a git repository.

use std::path::Path;

use super::mechanism::Mechanism;
use super::{Applied, Error, How, Kept, Merge, New, Note, Options, Place, Seen, Start};

/// Workspaces of a project in a git repository.
#[derive(Debug)]
pub(super) struct Repository;

fn later<T>() -> Result<T, Error> {
    Err(Error::Unknown { what: "mechanism", id: "repository".into() })
}

impl Repository {
    pub(super) fn open(
        _project: &Path,
        _state: &Path,
        _options: Options,
    ) -> Result<Option<Self>, Error> {
        later()
    }
}

impl Mechanism for Repository {
    fn is_git(&self) -> bool {
        true
    }
    fn git_processes(&self) -> u64 {
        0
    }
    fn begin(&self, _start: &Start) -> Result<String, Error> {
        later()
    }
    fn create(&self, _new: &New) -> Result<Place, Error> {
        later()
    }
    fn find(&self, _attempt: &str) -> Result<Option<Place>, Error> {
        later()
    }
    fn list(&self) -> Result<Vec<String>, Error> {
        later()
    }
    fn look(&self, _place: &Place) -> Result<Seen, Error> {
        later()
    }
    fn keep(&self, _place: &Place, _note: &Note) -> Result<Option<Kept>, Error> {
        later()
    }
    fn remove(&self, _place: &Place) -> Result<(), Error> {
        later()
    }
    fn clear(&self, _attempt: &str) -> Result<(), Error> {
        later()
    }
    fn merge(&self, _delegation: &str, _kept: &Kept) -> Result<Merge, Error> {
        later()
    }
    fn bring(&self, _into: &Place, _delegation: &str) -> Result<Merge, Error> {
        later()
    }
    fn rollback(&self, _delegation: &str) -> Result<Option<String>, Error> {
        later()
    }
    fn diff(&self, _delegation: &str, _kept: Option<&Kept>) -> Result<String, Error> {
        later()
    }
    fn apply(&self, _delegation: &str, _how: How) -> Result<Applied, Error> {
        later()
    }
}
