//! How much of a plain folder may be copied: the limit of the configuration, or more where
//! a person has agreed to it. That is remembered for the project.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::home::{self, Homes};
use super::walk::{Locked, walk};
use super::{Error, plain, record};

/// The file that says how much a person has agreed to.
const FILE: &str = "copy-consent.json";
/// A folder may grow by one part in so many before it is asked about again.
const GROWTH: u64 = 10;

/// What a person has agreed to.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Consent {
    bytes: u64,
}

/// The bytes that may be copied.
pub(super) fn limit_bytes(state: &Path, configured: u64) -> Result<u64, Error> {
    let agreed = record::read::<Consent>(&state.join(FILE))?.unwrap_or_default();
    Ok(configured.max(agreed.bytes))
}

/// When a project is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// Where it is in no git repository.
    WithoutGit,
    /// Always: the configuration asks for it.
    Always,
}

/// The size of a project that would be copied, if that is more than may be.
pub fn excess(
    project: &Path,
    state: &Path,
    (copied, configured): (Copied, u64),
) -> Result<Option<u64>, Error> {
    let project = fs::canonicalize(project).map_err(Error::files("opening", project))?;
    let is_repository = project.ancestors().any(|folder| folder.join(".git").exists())
        || project.join("objects").is_dir();
    if is_repository && copied == Copied::WithoutGit {
        return Ok(None);
    }
    let homes = Homes { current: state.to_owned(), all: home::known(state) };
    let walked = walk(&project, &plain::skipped(&homes, &project), Locked::Leave);
    let bytes = walked.map_err(Error::files("reading", &project))?.bytes();
    Ok((bytes > limit_bytes(state, configured)?).then_some(bytes))
}

/// Remembers that a project of this size may be copied.
pub fn agree(state: &Path, bytes: u64) -> Result<(), Error> {
    fs::create_dir_all(state).map_err(Error::files("making", state))?;
    let bytes = bytes.saturating_add(bytes / GROWTH);
    record::write(&state.join(FILE), &Consent { bytes })
}
