//! What git has begun to write into the objects and could not finish: it would stay for weeks,
//! and on a full disk take what is left.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::process::getuid;

use super::Repository;
use crate::procfs;

/// How git calls files that are not yet objects, and those that are not yet packs.
const DRAFTS: [&str; 3] = ["tmp_obj_", "tmp_pack_", "tmp_idx_"];

impl Repository {
    /// Deletes what was begun at such a time, and what nobody writes to any more.
    pub(super) fn clear_unfinished(&self, is_meant: impl Fn(SystemTime) -> bool) {
        let folders = entries(&self.user.objects).filter(|path| path.is_dir());
        let drafts = folders
            .flat_map(|folder| entries(&folder).collect::<Vec<_>>())
            .filter(|path| is_draft(path, &is_meant));
        remove_unwritten(drafts);
    }
}

/// Deletes files, except those that somebody has open.
pub(super) fn remove_unwritten(files: impl Iterator<Item = PathBuf>) {
    let files: Vec<PathBuf> = files.collect();
    if files.is_empty() {
        return;
    }
    let written: HashSet<PathBuf> = procfs::all()
        .iter()
        .flat_map(|stat| procfs::opened(stat.process.pid, 0).collect::<Vec<_>>())
        .collect();
    for file in files.iter().filter(|file| !written.contains(*file)) {
        // What stays is cleared by git itself one day.
        drop(fs::remove_file(file));
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_draft(path: &Path, is_meant: impl Fn(SystemTime) -> bool) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_called_so = DRAFTS.iter().any(|begin| name.starts_with(begin));
    // Of what belongs to others it is not seen who has it open.
    is_called_so
        && fs::symlink_metadata(path).is_ok_and(|found| {
            let is_then = found.modified().is_ok_and(is_meant);
            is_then && found.is_file() && found.uid() == getuid().as_raw()
        })
}
