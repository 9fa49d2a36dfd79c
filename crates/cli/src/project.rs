//! Which folder is the project.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use legation_core::config::{Effective, Layer};
use legation_engine::client::owner_of_workspace;

use crate::config::{layers, merged};
use crate::error::CommandError;
use crate::output::Output;

/// The folder that a command is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    /// Where `.legation/` is or would be.
    pub(crate) dir: PathBuf,
}

impl Project {
    /// The project of the working folder: the nearest folder upwards with `.legation/`, else
    /// the nearest with `.git`, else the folder itself.
    ///
    /// A `.legation/` in the user's home holds agents for all projects; it makes a project of
    /// the home alone and not of everything below.
    pub(crate) fn find(cwd: &Path, home: Option<&Path>) -> Self {
        let is_project = |dir: &&Path| {
            let everybodys = home.is_some_and(|home| home == *dir) && *dir != cwd;
            is_ours(&dir.join(".legation")) && !everybodys
        };
        let marked = cwd.ancestors().find(is_project);
        let dir = marked.or_else(|| cwd.ancestors().find(|dir| dir.join(".git").exists()));
        Self { dir: dir.unwrap_or(cwd).to_owned() }
    }

    /// The project that the command was started in.
    pub(crate) fn current() -> Result<Self, CommandError> {
        let cwd = std::env::current_dir().map_err(|problem| {
            CommandError::usage(format!("the working folder cannot be used: {problem}"))
                .hint("change to a folder that exists")
        })?;
        // In a workspace everything is about the project that it was made from, whatever the
        // working copy itself looks like.
        match owner_of_workspace(&cwd) {
            Some(dir) => Ok(Self { dir }),
            None => Ok(Self::find(&cwd, home().as_deref())),
        }
    }

    /// The configuration in force here. What is odd about it is said on the way: a key that
    /// nobody reads is a limit that nobody keeps.
    pub(crate) fn config(&self, output: &mut Output) -> Result<Effective, CommandError> {
        let effective = merged(&self.layers())?;
        for warning in &effective.warnings {
            output.note(&format!("warning: {warning}"));
        }
        Ok(effective)
    }

    /// What files and environment say, weakest first.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        layers(&self.dir, home().as_deref(), std::env::vars_os())
    }

    /// A path as people want to see it: from the project's folder, if it is inside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.dir).unwrap_or(path);
        inside.to_string_lossy().into_owned()
    }
}

/// Whether a folder is there and belongs to this user. What somebody else has put in a
/// folder that all share, such as the one for temporary files, names no agents for us.
fn is_ours(folder: &Path) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    folder.metadata().is_ok_and(|facts| facts.is_dir() && [uid, 0].contains(&facts.uid()))
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}
