//! One file that is made, changed or removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use legation_core::Code;
use serde_json::{Value, json};

use super::lines;
use super::record::Record;
use crate::config::edit::write;
use crate::error::CommandError;

/// Bytes that a settings file may have.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Install,
    Uninstall,
}

impl Deed {
    /// In words, when it is done.
    pub(super) fn done(self, title: &str) -> String {
        match self {
            Self::Install => format!("{title} has the tools of Legation from its next start on.\n"),
            Self::Uninstall => format!("{title} is without the tools of Legation again.\n"),
        }
    }
}

/// A file before and after; nothing where there is none.
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Change {
    /// The change as a person reads it.
    pub(super) fn shown(&self) -> String {
        lines::diff(
            &self.path.display().to_string(),
            (self.before.as_deref(), self.after.as_deref()),
        )
    }

    pub(super) fn to_json(&self) -> Value {
        let action = match (&self.before, &self.after) {
            (None, _) => "create",
            (Some(_), Some(_)) => "change",
            (Some(_), None) => "remove",
        };
        json!({"path": self.path, "action": action, "diff": self.shown()})
    }

    /// Does it.
    pub(super) fn carry_out(&self, record: &mut Record) -> Result<(), CommandError> {
        let done = match &self.after {
            Some(text) => record.make_folder(&self.path).and_then(|()| {
                // A link is followed, so that it is still one afterwards.
                let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
                write(&path, text)
            }),
            None => fs::remove_file(&self.path),
        };
        record.remove_folders();
        done.map_err(|problem| {
            let message = format!("cannot write {}: {problem}", self.path.display());
            CommandError::failed(Code::UnknownError, message)
                .hint("what was shown before it is done; run it again when this is mended")
        })
    }
}

/// The text of a file; nothing where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, CommandError> {
    let unusable = |reason: String| {
        CommandError::failed(Code::ValidationFailed, format!("{} {reason}", path.display()))
            .hint("nothing was changed")
    };
    match fs::metadata(path) {
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(unusable(format!("cannot be read: {problem}"))),
        Ok(facts) if !facts.is_file() => return Err(unusable("is not a file".to_owned())),
        Ok(facts) if facts.len() > MAX_BYTES => {
            return Err(unusable(format!("has more than {MAX_BYTES} bytes")));
        }
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(|problem| unusable(format!("cannot be read: {problem}")))?;
    String::from_utf8(bytes).map(Some).map_err(|_| unusable("is not UTF-8".to_owned()))
}
