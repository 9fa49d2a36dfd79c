//! Paths that a model names, held to the workspace.
//!
//! Links are followed one by one, so that one that leads out is found before anything is
//! opened. The fence holds what this cannot: a path that changes in between.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links on one path that are followed.
const MAX_LINKS: usize = 40;

/// Where a path really leads; the last steps need not exist.
pub(crate) fn inside(root: &Path, path: &str) -> Result<PathBuf, String> {
    let outside = || format!("`{path}` is outside the workspace.");
    if path.contains('\0') {
        return Err(format!("{path:?} is no path."));
    }
    let given = Path::new(path);
    let below = if given.is_absolute() {
        let known = given.strip_prefix(root).map(Path::to_owned);
        known
            .or_else(|_| {
                real(given)
                    .and_then(|real| real.strip_prefix(root).map(Path::to_owned).ok())
                    .ok_or(())
            })
            .map_err(|()| outside())?
    } else {
        given.to_owned()
    };
    let mut at = root.to_owned();
    let mut links = 0;
    for step in below.components() {
        match step {
            Component::Normal(name) => at.push(name),
            Component::ParentDir => drop(at.pop()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
        if fs::symlink_metadata(&at).is_ok_and(|about| about.is_symlink()) {
            links += 1;
            let target = fs::canonicalize(&at).ok().filter(|_| links <= MAX_LINKS);
            at = target.ok_or_else(|| format!("`{path}` is a link that leads nowhere."))?;
        }
        if !at.starts_with(root) {
            return Err(outside());
        }
    }
    Ok(at)
}

/// Where a path really leads, in the workspace or not; nothing where nobody can tell.
pub(crate) fn wherever(root: &Path, path: &str) -> Option<PathBuf> {
    if let Ok(at) = inside(root, path) {
        return Some(at);
    }
    let real = real(&root.join(path))?;
    if real.components().any(|step| step == Component::ParentDir) {
        return None;
    }
    if real.starts_with(root) { inside(root, real.to_str()?).ok() } else { Some(real) }
}

/// A whole path, its existing part without links.
fn real(path: &Path) -> Option<PathBuf> {
    let parent = path.ancestors().find(|above| above.exists())?;
    let rest = path.strip_prefix(parent).ok()?;
    Some(fs::canonicalize(parent).ok()?.join(rest))
}
