//! Files that an agent reads and writes through us: inside the workspace, by our levels.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use legation_core::agent::Level;
use serde_json::{Value, json};

use super::wire::File;
use crate::envoy::Tools;
use crate::llm::{gate, inside};

/// Bytes of a file that are handed over.
const MAX_FILE: u64 = 8 << 20;

/// Reads a file, or says why not.
pub(super) fn read(root: &Path, tools: &Tools, file: &File) -> Result<Value, String> {
    let at = allowed(root, tools, ("read", file))?;
    let about = fs::metadata(&at).map_err(|problem| problem.to_string())?;
    if !about.is_file() || about.len() > MAX_FILE {
        return Err(format!("`{}` is no file of a sensible size.", file.path));
    }
    let mut bytes = Vec::new();
    let opened = fs::File::open(&at);
    opened
        .and_then(|opened| opened.take(MAX_FILE).read_to_end(&mut bytes))
        .map_err(|problem| problem.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let skipped = file.line.unwrap_or(1).saturating_sub(1);
    let lines = text.split_inclusive('\n').skip(skipped).take(file.limit.unwrap_or(usize::MAX));
    Ok(json!({"content": lines.collect::<String>()}))
}

/// Writes a file, or says why not.
pub(super) fn write(root: &Path, tools: &Tools, file: &File) -> Result<Value, String> {
    let at = allowed(root, tools, ("edit", file))?;
    let content = file.content.as_deref().ok_or("there is no `content`")?;
    at.parent().map_or(Ok(()), fs::create_dir_all).map_err(|problem| problem.to_string())?;
    fs::write(&at, content).map_err(|problem| problem.to_string())?;
    Ok(json!({}))
}

fn allowed(
    root: &Path,
    tools: &Tools,
    (tool, file): (&str, &File),
) -> Result<std::path::PathBuf, String> {
    let at = inside(root, &file.path)?;
    let below = at.strip_prefix(root).unwrap_or(&at).to_string_lossy().into_owned();
    match gate::level(tools, tool, &below) {
        Level::Allow => Ok(at),
        Level::Ask | Level::Deny => Err(format!("`{tool}` was denied for `{below}`.")),
    }
}
