//! Files that an agent reads and writes through us: inside the workspace. Whether it may is
//! asked before.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::wire::File;
use crate::llm::inside;

/// Bytes of a file that are handed over.
const MAX_FILE: u64 = 8 << 20;

/// Why a file is not read or written.
pub(super) enum Refused {
    /// It is not there.
    Missing,
    /// It cannot be.
    Broken(String),
}

impl From<io::Error> for Refused {
    fn from(problem: io::Error) -> Self {
        let is_missing = problem.kind() == io::ErrorKind::NotFound;
        if is_missing { Self::Missing } else { Self::Broken(problem.to_string()) }
    }
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self::Broken(why)
    }
}

/// Reads a file, or says why not.
pub(super) fn read(at: &Path, file: &File) -> Result<Value, Refused> {
    let about = fs::metadata(at)?;
    if !about.is_file() || about.len() > MAX_FILE {
        return Err(format!("`{}` is no file of a sensible size.", file.path).into());
    }
    let mut bytes = Vec::new();
    let opened = fs::File::open(at);
    opened.and_then(|opened| opened.take(MAX_FILE).read_to_end(&mut bytes))?;
    let text = String::from_utf8_lossy(&bytes);
    let skipped = file.line.unwrap_or(1).saturating_sub(1);
    let lines = text.split_inclusive('\n').skip(skipped).take(file.limit.unwrap_or(usize::MAX));
    Ok(json!({"content": lines.collect::<String>()}))
}

/// Writes a file, or says why not.
pub(super) fn write(at: &Path, file: &File) -> Result<Value, Refused> {
    let content = file.content.as_deref().ok_or_else(|| "there is no `content`".to_owned())?;
    at.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(at, content)?;
    Ok(json!({}))
}

/// Where a file really is, and how that is written from the workspace.
pub(super) fn find(root: &Path, file: &File) -> Result<(PathBuf, String), String> {
    let at = inside(root, &file.path)?;
    let below = at.strip_prefix(root).unwrap_or(&at).to_string_lossy().into_owned();
    Ok((at, below))
}
