//! Why the journal did not do what it was asked.
//!
//! The first three variants are answers. The others mean that the machinery
//! failed, and each tells a person what to do about it.

use std::path::PathBuf;

/// Why the journal did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Somebody else appended in the meantime.
    #[error("the journal of `{tree}` is at {actual}, not at {expected}; read on and decide again")]
    Conflict {
        /// Whose journal.
        tree: String,
        /// The sequence the caller knew of.
        expected: u64,
        /// The sequence it is at.
        actual: u64,
    },
    /// The key stands for another delegation already.
    #[error("the key is taken by `{delegation}`; use that delegation, or another key")]
    DuplicateKey {
        /// What it stands for.
        delegation: String,
    },
    /// Nothing a journal would take.
    #[error("the journal does not take {what}")]
    Invalid {
        /// What was asked for.
        what: String,
    },
    /// There is nothing at the path.
    #[error("there is no journal at {path}; nothing was delegated here yet", path = path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// No room on the disk, or the journal has reached the size it may have.
    #[error("there is no room to write {path}; make some and start again", path = path.display())]
    DiskFull {
        /// What could not be written.
        path: PathBuf,
    },
    /// It can be read, but not written.
    #[error("{path} can only be read; make the file and its folder writable", path = path.display())]
    ReadOnly {
        /// What cannot be written.
        path: PathBuf,
    },
    /// The system does not let us at it.
    #[error("no permission to open {path}; give it and its folder to this user", path = path.display())]
    PermissionDenied {
        /// What cannot be opened.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error(
        "{path} is damaged ({detail}); keep a copy, then restore it from a backup or move it away",
        path = path.display()
    )]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Something else lies where the journal should be.
    #[error("{path} is not a journal of Legation; move it away, or choose another place", path = path.display())]
    NotAJournal {
        /// Which file.
        path: PathBuf,
    },
    /// Another program holds it for longer than we wait.
    #[error("{path} is locked by another program; end it, or try again later", path = path.display())]
    Locked {
        /// Which file.
        path: PathBuf,
    },
    /// A newer release wrote it.
    #[error(
        "{path} has version {found}, and this release knows versions up to {known}; use a newer one",
        path = path.display()
    )]
    NewerSchema {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version we can read.
        known: i64,
    },
    /// It has a version this release would have to bring up to date, and may only read.
    #[error(
        "{path} has the older version {found}; start the engine once to bring it to {known}",
        path = path.display()
    )]
    OlderSchema {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version we read.
        known: i64,
    },
    /// Reading or writing failed in another way.
    #[error("cannot use {path}: {detail}; check the disk, then start again", path = path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// An earlier failure ended all writing. What was acknowledged is kept.
    #[error("the journal takes nothing more since writing failed: {reason}")]
    Stopped {
        /// The failure.
        reason: Box<Error>,
    },
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
}

impl Error {
    pub(crate) fn still_open(tree: &str) -> Self {
        Self::Invalid { what: format!("a wish to forget `{tree}`, which has not ended") }
    }

    /// Whether this is an answer to the question, and the journal itself is well.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::DuplicateKey { .. } | Self::Invalid { .. })
    }
}
