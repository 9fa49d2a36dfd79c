//! What is handed to workspaces and what comes back. Plain data, no rules.

use std::path::PathBuf;

use legation_core::money::Usd;
use legation_core::tree::event::Hunk;
use serde::{Deserialize, Serialize};

/// Changed files that are listed by name; beyond it only the fact is known.
pub const MAX_FILES_SEEN: usize = 10_000;

/// What a delegation starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The tree that the delegation belongs to.
    pub tree: String,
    /// The delegation.
    pub delegation: String,
    /// Whose files are the beginning.
    pub from: From,
    /// Whether uncommitted and untracked files belong to it.
    ///
    /// A plain folder knows no commits, so there they always do.
    pub include_dirty: bool,
}

/// Whose files a delegation starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The user's checkout.
    User,
    /// The workspace of the attempt that delegates.
    Attempt(String),
    /// A commit that the repository has; not for plain folders.
    Commit(String),
}

/// The workspace that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// The tree that it belongs to.
    pub tree: String,
    /// The delegation; its base is where the workspace starts.
    pub delegation: String,
    /// The subtask, as its plan calls it.
    pub subtask: String,
    /// The attempt, after which the workspace is named.
    pub attempt: String,
    /// The work that the subtask depends on ([`Kept::commit`]), merged in this order.
    pub with: Vec<String>,
}

/// A workspace that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The tree that it belongs to.
    pub tree: String,
    /// The delegation that it belongs to.
    pub delegation: String,
    /// The subtask, as its plan calls it.
    pub subtask: String,
    /// The attempt that works in it.
    pub attempt: String,
    /// The top of the working copy.
    pub root: PathBuf,
    /// Where the attempt runs: as deep below the top as the project in its repository.
    pub cwd: PathBuf,
    /// What its files are compared with; a commit in a git repository.
    pub base: String,
    /// What programs that run in it are told: ports and names that are theirs alone.
    #[serde(default)]
    pub env: Vec<(String, String)>,
}

/// The user's own files, of which workspaces are copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The top of them: a checkout, or a plain folder.
    pub top: PathBuf,
    /// Where their repository is, which need not be below it.
    pub repository: Vec<PathBuf>,
    /// What workspaces go on reading: the objects that their repositories borrow.
    pub lent: Vec<PathBuf>,
}

/// What an attempt did to its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Whether there is still a folder.
    pub exists: bool,
    /// Files that differ from the base, ignored ones included, relative and sorted.
    pub files_changed: Vec<String>,
    /// Those of them that lie in submodules: they are kept, and are no part of what is merged.
    pub in_submodules: Vec<String>,
    /// Folders of the user's that it was to share, and could not be given.
    pub not_shared: Vec<String>,
    /// Whether there were more than [`MAX_FILES_SEEN`].
    pub more_files: bool,
    /// The attempt's own commits, oldest first.
    pub commits: Vec<String>,
    /// Whether its history could be read; without it `commits` is empty.
    pub history_usable: bool,
}

/// What is written into the commit that keeps an attempt's work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The agent that worked.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// What it cost; absent where unknown.
    pub cost: Option<Usd>,
    /// The first line; if empty, one is made from the subtask.
    pub title: String,
}

/// Work that can no longer be lost with its workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The name it is kept under, `refs/legation/<tree>/<attempt>` in a git repository.
    pub reference: String,
    /// Its id, which never means anything else.
    pub commit: String,
    /// What it was built on.
    pub base: String,
}

/// How a merge went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// It fitted; this is the new state.
    Clean {
        /// The commit that now is the result.
        commit: String,
    },
    /// It did not fit, and nothing was changed.
    Conflict {
        /// The files that both sides changed.
        files: Vec<String>,
        /// What stands against what, as far as it can be shown.
        hunks: Vec<Hunk>,
    },
    /// It was all there already.
    Nothing,
}

/// How a merge would go. Nothing has moved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It fits.
    Fits(Candidate),
    /// It does not.
    Conflict {
        /// The files that both sides changed.
        files: Vec<String>,
        /// What stands against what, as far as it can be shown.
        hunks: Vec<Hunk>,
    },
    /// It is all there already.
    Nothing,
    /// The user has the result checked out, so it cannot move.
    Held {
        /// The checkout.
        at: PathBuf,
    },
}

/// What the result would become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub commit: String,
    /// Where the result stood when this was made; none before the first merge.
    pub from: Option<String>,
    /// Whether it is the attempt's own work and nothing else: nobody else merged meanwhile.
    pub is_forward: bool,
}

/// How a result is brought into the user's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Forward if the user's branch has not moved, else a merge commit.
    Auto,
    /// Only forward.
    FastForward,
    /// Always a merge commit.
    Merge,
    /// One commit with all of it.
    Squash,
}

/// What an apply did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The files that changed in the user's folder, sorted.
    pub files: Vec<String>,
    /// Where the user's branch now stands; a plain folder has none.
    pub commit: Option<String>,
}
