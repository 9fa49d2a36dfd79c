//! What the programs of an attempt may leave beside its workspace: temporary files, and what they
//! put where a return is handed in. Nobody reads it once the attempt has ended.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment::{HAND_IN, TEMPORARY};

/// The folders of an attempt's folder that its programs may have written to, those of the
/// commands that made its workspace ready and verified its work included. The rest was written
/// by keepers: what was said, and how it ended.
pub fn leavings(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let (own, of_commands): (Vec<PathBuf>, Vec<PathBuf>) =
        folders.map(|entry| entry.path()).partition(|path| is_leaving(path));
    let inside = |folder: PathBuf| [TEMPORARY, HAND_IN].map(|name| folder.join(name));
    let inside = of_commands.into_iter().flat_map(inside).filter(|path| path.is_dir());
    own.into_iter().chain(inside).collect()
}

fn is_leaving(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == TEMPORARY || name == HAND_IN)
}
