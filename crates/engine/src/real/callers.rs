//! What the caller of a tree lets its children see of the caller's environment.
//!
//! It is kept until the tree is over, so that what starts after a crash runs as the first
//! attempt did. It lies in a file of its own that only the user can read, and never in the
//! journal: there are keys in it, and a proxy's address may have a password.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use legation_core::ids::DelegationId;
use legation_runners::vendors::is_passed_on;

/// The environments of those who called, by tree.
#[derive(Debug)]
pub(super) struct Callers {
    dir: PathBuf,
}

impl Callers {
    pub(super) fn in_folder(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Keeps what a tree's children may see. Whatever else was sent is left out.
    pub(super) fn keep(
        &self,
        tree: &DelegationId,
        env: &BTreeMap<String, String>,
    ) -> io::Result<()> {
        let seen: BTreeMap<_, _> = env.iter().filter(|(name, _)| is_passed_on(name)).collect();
        let text = serde_json::to_vec(&seen)?;
        let open = || {
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(self.file(tree))
        };
        let mut file = match open() {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
                open()?
            }
            opened => opened?,
        };
        file.write_all(&text)
    }

    /// What a tree's children may see; nothing if it was not kept.
    pub(super) fn of(&self, tree: &DelegationId) -> Option<BTreeMap<String, String>> {
        serde_json::from_slice(&fs::read(self.file(tree)).ok()?).ok()
    }

    /// Forgets a tree that is over or was not accepted.
    pub(super) fn forget(&self, tree: &DelegationId) {
        // What stays is removed by the next start.
        let _ = fs::remove_file(self.file(tree));
    }

    /// Forgets all trees but these: what a crash kept from being forgotten in time.
    pub(super) fn forget_all_but(&self, trees: &[DelegationId]) {
        let kept: BTreeSet<PathBuf> = trees.iter().map(|tree| self.file(tree)).collect();
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        for file in files.map(|entry| entry.path()).filter(|file| !kept.contains(file)) {
            let _ = fs::remove_file(file);
        }
    }

    fn file(&self, tree: &DelegationId) -> PathBuf {
        self.dir.join(format!("{tree}.json"))
    }
}
