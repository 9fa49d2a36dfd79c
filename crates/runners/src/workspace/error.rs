//! What can go wrong with a workspace, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use legation_core::tree::event::{Hunk, in_words};

/// Files that are named in a line.
const NAMED: usize = 5;

/// Why a workspace could not be made, read, kept, merged or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{doing} {path:?}: {source}")]
    Files {
        /// What was being done.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A git command failed.
    #[error("git {command} failed: {message}")]
    Git {
        /// The command's name.
        command: String,
        /// The end of what it said.
        message: String,
    },
    /// The project is in a git repository, and there is no git.
    #[error(
        "the project is in a git repository, and git cannot be started: {source}; install git, or put it where PATH finds it"
    )]
    NoGit {
        /// What the system said.
        source: io::Error,
    },
    /// A git command took too long and was ended.
    #[error("git {command} did not end within {seconds} s and was stopped")]
    Slow {
        /// The command's name.
        command: String,
        /// How long it was given.
        seconds: u64,
    },
    /// Somebody else's lock file stayed.
    #[error(
        "{path:?} is locked by another git process; if none is running, remove that file and try again"
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The work that a subtask depends on does not fit together.
    #[error("the work that it builds on conflicts in {}", .files.join(", "))]
    Conflict {
        /// The files that more than one side changed.
        files: Vec<String>,
    },
    /// The folder is larger than what is copied without being asked.
    #[error(
        "{path:?} holds more than {limit_bytes} bytes; agree to the copy (`legation delegate --yes`), raise workspace.copyLimitMb, or make it a git repository, so that nothing is copied twice"
    )]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// The limit.
        limit_bytes: u64,
    },
    /// An id cannot be used in a path or a branch name.
    #[error("{id:?} cannot be the name of a {what}")]
    Name {
        /// What it names.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// There is no such thing here.
    #[error("there is no {what} {id:?} here")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The workspace's work was not kept yet.
    #[error("the work of {attempt} was not kept yet; keep it before the workspace goes")]
    NotKept {
        /// The attempt.
        attempt: String,
    },
    /// Applying would overwrite or conflict, and nothing was changed.
    #[error("{reason}{}; {hint}", listed(.files))]
    Refused {
        /// What stands in the way.
        reason: String,
        /// The files in question.
        files: Vec<String>,
        /// What to do next.
        hint: String,
    },
    /// Two sides do not fit together, and nothing was changed.
    #[error("{reason}: {}; {hint}", named(.files, .hunks))]
    Unfit {
        /// What does not fit.
        reason: String,
        /// The files in conflict.
        files: Vec<String>,
        /// What stands against what in them.
        hunks: Vec<Hunk>,
        /// What to do next.
        hint: String,
    },
    /// Somebody else moved the user's branch meanwhile, and nothing was changed.
    #[error("somebody else moves your branch again and again; nothing was changed; try again")]
    Moved,
    /// The way of making workspaces that was asked for cannot be had here.
    #[error("workspace.mechanism is {way}, but {why}; set it to auto")]
    Unavailable {
        /// The way.
        way: &'static str,
        /// Why not.
        why: String,
    },
    /// A record of ours cannot be read.
    #[error("{path:?} cannot be read: {message}")]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl Error {
    /// Why a delegation's result does not move: its branch is checked out there.
    #[must_use]
    pub fn held(delegation: &str, at: &Path) -> Self {
        let at = at.display();
        Self::Refused {
            reason: format!("the branch legation/{delegation}/result is checked out in {at}"),
            files: Vec::new(),
            hint:
                "nothing is moved under your files; switch to another branch there, then try again"
                    .to_owned(),
        }
    }

    /// For `map_err`: a failure of the file system, with what was being done.
    pub(super) fn files(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Files { doing, path, source }
    }
}

/// How the sides are called where a result meets the user's files.
const SIDES: [&str; 2] = ["you", "the other side"];

/// Files in conflict after a reason, as many as a line can bear.
fn named(files: &[String], hunks: &[Hunk]) -> String {
    let more = files.len().saturating_sub(NAMED);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", in_words(files.get(..NAMED).unwrap_or(files), hunks, SIDES))
}

/// File names after a reason, as many as a line can bear.
fn listed(files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = files.iter().take(NAMED).map(String::as_str).collect();
    let more = files.len().saturating_sub(NAMED);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(": {}{rest}", named.join(", "))
}
