//! The check `artifacts`: what a child says it made, held against the disk.
//!
//! The disk itself is never touched here; somebody who can see it answers.

use super::claim::Json;
use super::fields::{Place, Record};
use super::limits::{MAX_ARTIFACTS, MAX_NAME_CHARS, MAX_TEXT_CHARS};
use super::model::{Artifact, ReturnStatus};
use super::path::normalise_path;
use super::violation::{Check, Violation, quoted};

/// What somebody who can see the disk says about a path in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A file with content, or a folder with a file in it.
    Present,
    /// A file without content, or a folder without a file.
    Empty,
    /// Nothing is there.
    Missing,
    /// A symbolic link leads out of the workspace.
    Outside,
    /// It is there, but cannot be looked at.
    Unreadable,
}

/// Answers for paths in the workspace: relative, in the form of [`normalise_path`].
pub trait ArtifactFacts {
    /// What is at this path.
    fn look(&self, path: &str) -> Fact;
}

impl<F: Fn(&str) -> Fact> ArtifactFacts for F {
    fn look(&self, path: &str) -> Fact {
        self(path)
    }
}

/// Checks every artifact; the first that is wrong is the answer.
pub(super) fn artifacts(
    status: ReturnStatus,
    entries: &[Json<'_>],
    facts: &dyn ArtifactFacts,
) -> Result<Vec<Artifact>, Violation> {
    if entries.len() > MAX_ARTIFACTS {
        let found = entries.len();
        let message =
            format!("`artifacts` has {found} entries; at most {MAX_ARTIFACTS} are allowed");
        return Err(Violation::new(Check::Artifacts, message).hint("name folders instead of files"));
    }
    let read = |(index, entry)| artifact(index, entry, status, facts);
    entries.iter().enumerate().map(read).collect()
}

fn artifact(
    index: usize,
    entry: &Json<'_>,
    status: ReturnStatus,
    facts: &dyn ArtifactFacts,
) -> Result<Artifact, Violation> {
    let form = "an artifact has `type`, `path` and maybe `summary`";
    let record = Record::at(Check::Artifacts, Place::Entry("artifacts", index), entry)
        .map_err(|violation| violation.hint(form))?;
    let read = || {
        let kind = record.filled_text("type", MAX_NAME_CHARS)?;
        Ok((kind, record.text("path")?, record.optional_text("summary", MAX_TEXT_CHARS)?))
    };
    let (kind, claimed, summary) = read().map_err(|violation: Violation| violation.hint(form))?;
    let path = normalise_path(claimed).map_err(|bad| {
        record
            .violation("path", &format!("{} {bad}", quoted(claimed)))
            .hint("give the path of a file or folder inside the workspace, such as `src/lib.rs`")
    })?;
    if let Some((problem, hint)) = doubt(facts.look(&path), status) {
        return Err(record.violation("path", &format!("{} {problem}", quoted(&path))).hint(hint));
    }
    Ok(Artifact { kind: kind.to_owned(), path, summary: summary.map(str::to_owned) })
}

/// What is wrong with an artifact, going by the disk: outside is never right;
/// content is needed only where the work is said to be complete.
fn doubt(fact: Fact, status: ReturnStatus) -> Option<(&'static str, &'static str)> {
    let problem = match fact {
        Fact::Present => return None,
        Fact::Outside => {
            let hint = "list files that lie in the workspace itself";
            return Some(("is a link that leads out of the workspace", hint));
        }
        Fact::Empty => "has no content",
        Fact::Missing => "does not exist in the workspace",
        Fact::Unreadable => "cannot be read",
    };
    let hint = "write the file, or take it off the list, or do not claim `completed`";
    (status == ReturnStatus::Completed).then_some((problem, hint))
}
