//! What is really at a path in a workspace.
//!
//! Answers the one question that checking a return needs from the disk. Links
//! are followed step by step, so that one that leads out is found even where it
//! leads to nothing. Nothing is opened, and nothing is changed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, ReadDir};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use legation_core::returns::{ArtifactFacts, Fact};

/// Links that are followed for one path; a circle of them ends here.
const MAX_LINKS: usize = 40;
/// Entries that are looked at in search of a file below a folder.
const MAX_ENTRIES: usize = 1_000;

/// The files of one workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceFiles {
    root: PathBuf,
}

impl WorkspaceFiles {
    /// The files below this folder, which must exist.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(folder)?;
        if !root.is_dir() {
            return Err(io::Error::from(ErrorKind::NotADirectory));
        }
        Ok(Self { root })
    }

    /// Follows every link on the way; the answer lies in the workspace and is none itself.
    fn resolve(&self, path: &str) -> Result<PathBuf, Fact> {
        let mut at = self.root.clone();
        let mut steps: VecDeque<OsString> = path.split('/').map(OsString::from).collect();
        let mut links = 0;
        while let Some(step) = steps.pop_front() {
            if step == ".." {
                at.pop();
            } else {
                at.push(&step);
            }
            if !at.starts_with(&self.root) {
                return Err(Fact::Outside);
            }
            if !fs::symlink_metadata(&at).map_err(|error| obstacle(&error))?.is_symlink() {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(Fact::Unreadable);
            }
            let target = fs::read_link(&at).map_err(|error| obstacle(&error))?;
            let target = self.enter(&mut at, &target)?;
            for step in target.into_iter().rev() {
                steps.push_front(step);
            }
        }
        Ok(at)
    }

    /// Moves to where a link's target starts from; answers with its steps.
    fn enter(&self, at: &mut PathBuf, target: &Path) -> Result<Vec<OsString>, Fact> {
        let inside = if target.is_absolute() {
            // The way to the workspace may itself be written with links.
            let real = fs::canonicalize(target);
            let real = real.as_deref().unwrap_or(target);
            at.clone_from(&self.root);
            real.strip_prefix(&self.root).map_err(|_| Fact::Outside)?.to_owned()
        } else {
            at.pop();
            target.to_owned()
        };
        let steps = inside.components().filter_map(|step| match step {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        });
        Ok(steps.collect())
    }
}

impl ArtifactFacts for WorkspaceFiles {
    fn look(&self, path: &str) -> Fact {
        let found = self
            .resolve(path)
            .and_then(|at| Ok((fs::symlink_metadata(&at).map_err(|error| obstacle(&error))?, at)));
        match found {
            Err(fact) => fact,
            Ok((about, _)) if about.is_file() && about.len() > 0 => Fact::Present,
            Ok((about, _)) if about.is_file() => Fact::Empty,
            Ok((about, at)) if about.is_dir() => search(&at),
            // A device, a pipe or a socket is nobody's result.
            Ok(_) => Fact::Unreadable,
        }
    }
}

/// What a path that cannot be looked at amounts to.
fn obstacle(error: &io::Error) -> Fact {
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        Fact::Missing
    } else {
        Fact::Unreadable
    }
}

/// Looks for a file in a folder and those below it, depth first, without following links.
fn search(folder: &Path) -> Fact {
    let mut seen = 0;
    let mut unreadable = false;
    let mut open: Vec<ReadDir> = Vec::new();
    match fs::read_dir(folder) {
        Ok(entries) => open.push(entries),
        Err(_) => unreadable = true,
    }
    while let Some(entries) = open.last_mut() {
        let Some(entry) = entries.next() else {
            open.pop();
            continue;
        };
        seen += 1;
        if seen > MAX_ENTRIES {
            return Fact::Unreadable;
        }
        let below = entry.and_then(|entry| {
            let kind = entry.file_type()?;
            let below = kind.is_dir().then(|| fs::read_dir(entry.path())).transpose()?;
            Ok((kind.is_file(), below))
        });
        match below {
            Ok((true, _)) => return Fact::Present,
            Ok((false, below)) => open.extend(below),
            Err(_) => unreadable = true,
        }
    }
    if unreadable { Fact::Unreadable } else { Fact::Empty }
}
