//! Where working copies lie: in the state folder, or in a folder that the user names.
//!
//! What is known of them always lies in the state folder, with every home there ever was: a
//! workspace stays where it was made, wherever the next one goes.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::{Error, record};

/// The folder in the user's own that is ours, and hidden from every attempt.
const OURS: &str = "legation";
/// The file that lists homes.
const HOMES: &str = "homes.json";
/// The file that says whose a state folder is.
const OWNER: &str = "project";

/// Where working copies lie, and where they may lie from before.
#[derive(Clone, Debug)]
pub(super) struct Homes {
    /// Where new ones go.
    pub(super) current: PathBuf,
    /// All of them, the state folder first.
    pub(super) all: Vec<PathBuf>,
}

impl Homes {
    /// The homes of a state folder, with the one that is wanted now.
    pub(super) fn open(state: &Path, dir: Option<&Path>) -> Result<Self, Error> {
        let list = state.join(HOMES);
        let mut known: Vec<PathBuf> = record::read(&list)?.unwrap_or_default();
        let current = match dir {
            Some(dir) => make(state, dir)?,
            None => state.to_owned(),
        };
        if current != state && !known.contains(&current) {
            known.push(current.clone());
            record::write(&list, &known)?;
        }
        let all = std::iter::once(state.to_owned()).chain(known).collect();
        Ok(Self { current, all })
    }

    /// Whether there is none beside the state folder.
    pub(super) fn is_single(&self) -> bool {
        self.all.len() == 1
    }

    /// What of it is no part of any project, wherever it lies.
    pub(super) fn hidden(&self) -> Vec<PathBuf> {
        let hidden = self.all.iter().map(|home| match home.parent() {
            Some(above) if above.ends_with(OURS) => above.to_owned(),
            Some(_) | None => home.clone(),
        });
        hidden.collect()
    }

    /// Whether new working copies lie where files of the state folder can be moved to.
    pub(super) fn is_near(&self, state: &Path) -> bool {
        let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
        self.current == state || device(&self.current) == device(state)
    }

    /// The one that a path lies in.
    pub(super) fn around(&self, path: &Path) -> Option<&Path> {
        self.all.iter().map(PathBuf::as_path).find(|home| path.starts_with(home))
    }
}

/// What the projects of a user share, where their state folders lie side by side.
pub(super) fn shared(state: &Path) -> &Path {
    state.parent().filter(|folder| folder.ends_with(OURS)).unwrap_or(state)
}

/// The homes of a state folder, as they are on record.
pub(super) fn known(state: &Path) -> Vec<PathBuf> {
    let state = fs::canonicalize(state).unwrap_or_else(|_| state.to_owned());
    // What cannot be read is told by whoever opens them.
    let others: Vec<PathBuf> = record::read(&state.join(HOMES)).ok().flatten().unwrap_or_default();
    std::iter::once(state).chain(others).collect()
}

/// Why a folder cannot be where workspaces live.
fn refused(dir: &Path, why: &str) -> Error {
    Error::Refused {
        reason: format!("workspace.dir is {}, and {why}", dir.display()),
        files: Vec::new(),
        hint: "name a folder that you may write to, or remove the setting".into(),
    }
}

/// Checks the folder that the user names, without leaving anything there.
pub(super) fn check(dir: &Path) -> Result<(), Error> {
    if !dir.is_absolute() {
        return Err(refused(dir, "that leads nowhere"));
    }
    // Links on the way are followed, as far as there is a way.
    let there = dir.ancestors().find_map(|folder| fs::canonicalize(folder).ok());
    let inside = |path: &Path| path.components().any(|part| part.as_os_str() == OsStr::new(".git"));
    if inside(dir) || there.as_deref().is_some_and(inside) {
        return Err(refused(dir, "that is inside a repository's own folder"));
    }
    // Tried out: permissions alone do not tell.
    let probe = there.map(|there| there.join(format!("probe-{}", record::fresh())));
    let tried = probe.map(|probe| fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)));
    match tried {
        Some(Ok(())) => Ok(()),
        Some(Err(_)) | None => Err(refused(dir, "nothing can be written there")),
    }
}

/// The home of a project in the folder that the user names.
fn make(state: &Path, dir: &Path) -> Result<PathBuf, Error> {
    check(dir)?;
    let name = state.file_name().unwrap_or_else(|| OsStr::new("project"));
    let home = dir.join(OURS).join(name);
    let made = || -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(home.join("workspaces"))?;
        // A probe that is really written: permissions alone do not tell.
        let probe = home.join(format!("probe-{}", record::fresh()));
        fs::write(&probe, "")?;
        fs::remove_file(&probe)?;
        // Where it lies in a checkout, it is no part of it.
        fs::write(dir.join(OURS).join(".gitignore"), "*\n")?;
        if let Ok(owner) = fs::read(state.join(OWNER)) {
            fs::write(home.join(OWNER), owner)?;
        }
        fs::canonicalize(&home)
    };
    made().map_err(|problem| refused(dir, &format!("nothing can be written there: {problem}")))
}
