//! What was installed, written down, so that exactly that can be taken back.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use legation_core::Code;
use serde::{Deserialize, Serialize};

use super::splice::Splice;
use crate::config::edit::write;
use crate::error::CommandError;

/// What was installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    files: BTreeMap<PathBuf, Splice>,
    /// Folders that were made for it.
    folders: Vec<PathBuf>,
}

impl Record {
    /// Reads it; where nothing is written down, nothing was installed.
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(|problem| {
                let message = format!("{} cannot be read: {problem}", path.display());
                CommandError::failed(Code::ValidationFailed, message)
                    .hint("remove it; what was installed is then known by what it looks like")
            }),
            Err(_) => Ok(Self::default()),
        }
    }

    /// Writes it, or removes it where nothing is installed any more.
    pub(super) fn write(&self, path: &Path) -> Result<(), CommandError> {
        let failed = |problem: std::io::Error| {
            let message = format!("cannot write {}: {problem}", path.display());
            CommandError::failed(Code::UnknownError, message)
                .hint("the settings were changed; what was there before is not written down")
        };
        if self.files.is_empty() {
            // One that was never there is gone, too.
            let _ = fs::remove_file(path);
            return Ok(());
        }
        let folder = path.parent().unwrap_or(path);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write(path, &format!("{text}\n")).map_err(failed)
    }

    /// What was done to a file.
    pub(super) fn splice(&self, path: &Path) -> Option<&Splice> {
        self.files.get(path)
    }

    pub(super) fn keep(&mut self, path: &Path, splice: Splice) {
        self.files.insert(path.to_owned(), splice);
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Makes the folder of a file and keeps in mind which had to be made.
    pub(super) fn make_folder(&mut self, of: &Path) -> std::io::Result<()> {
        let missing: Vec<&Path> =
            of.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    /// Removes folders that were made and hold nothing any more.
    pub(super) fn remove_folders(&mut self) {
        self.folders.sort();
        // The innermost come last, and go first.
        while let Some(at) = self.folders.iter().rposition(|folder| fs::remove_dir(folder).is_ok())
        {
            self.folders.remove(at);
        }
    }
}
