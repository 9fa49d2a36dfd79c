//! Reading, listing, writing and changing files.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::place::inside;
use super::{Came, Ground, MAX_TOLD, fitting};

/// Bytes of a file that are looked at.
const MAX_FILE: u64 = 8 << 20;
/// Lines that are told where nobody says how many.
const LINES: usize = 2_000;
/// Entries of a folder that are told.
const MAX_ENTRIES: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    pub(super) path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

pub(super) fn read(root: &Path, wanted: &Read) -> Came {
    let bytes = contents(root, &wanted.path)?;
    let text = String::from_utf8_lossy(&bytes);
    let skipped = wanted.offset.unwrap_or(1).saturating_sub(1);
    let lines = text.split_inclusive('\n').skip(skipped).take(wanted.limit.unwrap_or(LINES));
    let mut told = String::new();
    let mut count = 0;
    for line in lines {
        if told.len() + line.len() > MAX_TOLD && count > 0 {
            break;
        }
        told.push_str(line);
        count += 1;
    }
    let all = text.split_inclusive('\n').count();
    let told_bytes = told.len();
    let mut told = fitting(told, told_bytes);
    if skipped + count < all || skipped > 0 {
        told.push_str(&format!("\n[lines {} to {} of {all}]", skipped + 1, skipped + count));
    }
    Ok(told)
}

pub(super) fn list(ground: &Ground<'_>, wanted: &List) -> Came {
    let path = wanted.path.as_deref().unwrap_or(".");
    let at = inside(ground.root, path)?;
    let entries = fs::read_dir(&at).map_err(|problem| failed(path, &problem))?;
    let name = |entry: fs::DirEntry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_folder { format!("{name}/") } else { name }
    };
    let entries = entries.flatten().take(MAX_ENTRIES * 20);
    let open = entries.filter(|entry| ground.is_open(&at, &entry.path()));
    let mut names: Vec<String> = open.map(name).collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(MAX_ENTRIES);
    names.truncate(MAX_ENTRIES);
    if more > 0 {
        names.push(format!("[and {more} more]"));
    }
    Ok(if names.is_empty() { "(empty)".to_owned() } else { names.join("\n") })
}

pub(super) fn write(root: &Path, wanted: &Write) -> Came {
    let Write { path, content } = wanted;
    let at = writable(root, path)?;
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(|problem| failed(path, &problem))?;
    }
    fs::write(&at, content).map_err(|problem| failed(path, &problem))?;
    Ok(format!("Wrote {} bytes to {path}.", content.len()))
}

pub(super) fn edit(root: &Path, wanted: &Edit) -> Came {
    let Edit { path, old, new, all } = wanted;
    let bytes = contents(root, path)?;
    if bytes.len() as u64 >= MAX_FILE {
        return Err(format!("`{path}` is too large to be changed like this."));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is no text."))?;
    let count = if old.is_empty() { 0 } else { text.matches(old.as_str()).count() };
    match (count, all) {
        (0, _) => return Err(format!("`old` does not occur in `{path}`.")),
        (1, _) | (_, true) => {}
        (count, false) => {
            return Err(format!("`old` occurs {count} times in `{path}`; give more of it."));
        }
    }
    let at = writable(root, path)?;
    fs::write(&at, text.replace(old, new)).map_err(|problem| failed(path, &problem))?;
    Ok(format!("Changed {path} in {count} place{}.", if count == 1 { "" } else { "s" }))
}

/// The bytes of an ordinary file; a pipe would be waited for for ever.
fn contents(root: &Path, path: &str) -> Result<Vec<u8>, String> {
    let at = inside(root, path)?;
    let about = fs::metadata(&at).map_err(|problem| failed(path, &problem))?;
    if !about.is_file() {
        return Err(format!("`{path}` is no file."));
    }
    let mut bytes = Vec::new();
    let read = File::open(&at).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes));
    read.map_err(|problem| failed(path, &problem))?;
    Ok(bytes)
}

fn writable(root: &Path, path: &str) -> Result<PathBuf, String> {
    let at = inside(root, path)?;
    match fs::metadata(&at) {
        Ok(about) if !about.is_file() => Err(format!("`{path}` is no file.")),
        Ok(_) | Err(_) => Ok(at),
    }
}

fn failed(path: &str, problem: &std::io::Error) -> String {
    format!("`{path}`: {problem}")
}
