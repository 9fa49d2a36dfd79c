//! Where an artifact lies in the workspace, wherever the caller stands.

use std::path::{Component, Path, PathBuf};

use super::attempt::Attempt;

/// The path from the top of the workspace, if it can be told; else as it was given, for
/// the check to say what is wrong with it.
pub(super) fn in_workspace(attempt: &Attempt, path: &str) -> String {
    let given = Path::new(path);
    let root = std::fs::canonicalize(&attempt.workspace);
    let root = root.unwrap_or_else(|_| attempt.workspace.clone());
    let here = std::env::current_dir().unwrap_or_else(|_| root.clone());
    if given.is_absolute() {
        let below = [&root, &attempt.workspace].into_iter().find_map(|top| below(top, given));
        return below.unwrap_or_else(|| path.to_owned());
    }
    // What is said from where the caller stands wins, if there is something.
    let from_here = here.join(given);
    let is_there = from_here.symlink_metadata().is_ok();
    let found = below(&root, &from_here).filter(|_| is_there && here.starts_with(&root));
    found.unwrap_or_else(|| path.to_owned())
}

/// The rest of a path below a folder; nothing for the folder itself or what is not text.
fn below(top: &Path, path: &Path) -> Option<String> {
    let plain = plain(path)?;
    let rest = plain.strip_prefix(top).ok()?.to_str()?;
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// A path without `.` and `..`. A step upwards out of a link would lead elsewhere, so it
/// is taken only where none is on the way.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::ParentDir if plain.is_symlink() => return None,
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(step),
        }
    }
    Some(plain)
}
