//! Layers: some files, and the names of some that are gone, over what lies below.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::walk::{Locked, below, walk};
use super::super::{Error, names, record};
use super::copy;
use crate::wary;

/// What is read at once when two files are compared.
const CHUNK_BYTES: usize = 64 * 1024;

/// What a layer changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents {
    pub(super) changed: BTreeSet<Vec<u8>>,
    pub(super) deleted: BTreeSet<Vec<u8>>,
    /// What kept work was built on; empty for a result.
    pub(super) base: String,
    /// The work that a result was made for; empty for kept work.
    #[serde(default)]
    pub(super) work: String,
}

/// One layer on disk.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) files: PathBuf,
    /// Of a base nothing is listed: it is all there is.
    pub(super) contents: Option<Contents>,
}

/// Layers, the lowest first.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    pub(super) layers: Vec<Layer>,
}

/// Where the layer of this name lies: `base:<delegation>`, `kept:<attempt>` or
/// `result:<delegation>:<number>`.
pub(super) fn layer_folder(state: &Path, name: &str) -> Result<PathBuf, Error> {
    let unknown = || Error::Unknown { what: "kept work", id: name.to_owned() };
    let (kind, id) = name.split_once(':').ok_or_else(unknown)?;
    let (id, number) = id.split_once(':').unwrap_or((id, ""));
    let folder = match kind {
        "base" => "bases",
        "kept" => "kept",
        "result" => "results",
        _ => return Err(unknown()),
    };
    let folder = state.join(folder).join(names::checked("layer", id)?);
    Ok(if number.is_empty() { folder } else { folder.join(names::checked("layer", number)?) })
}

impl Layer {
    pub(super) fn open(state: &Path, name: &str) -> Result<Self, Error> {
        let folder = layer_folder(state, name)?;
        let contents = record::read(&folder.join("layer.json"))?;
        if let Some(delegation) = name.strip_prefix("base:").filter(|_| !folder.is_dir()) {
            return Err(Error::Refused {
                reason: format!("what {delegation} started from was cleared away"),
                files: Vec::new(),
                hint: "delegate the task anew".into(),
            });
        }
        if contents.is_none() && !name.starts_with("base:") {
            return Err(Error::Unknown { what: "kept work", id: name.to_owned() });
        }
        Ok(Self { files: folder.join("files"), contents })
    }
}

impl Layer {
    /// What it was built on, if it says so.
    pub(super) fn built_on(&self, otherwise: &str) -> String {
        let said = self.contents.as_ref().map(|contents| contents.base.as_str());
        said.filter(|base| !base.is_empty()).unwrap_or(otherwise).to_owned()
    }
}

impl Stack {
    /// Opens the layers of a name such as `base:del-1+kept:exec-1`.
    pub(super) fn open(state: &Path, name: &str) -> Result<Self, Error> {
        let layers: Result<_, _> = name.split('+').map(|name| Layer::open(state, name)).collect();
        Ok(Self { layers: layers? })
    }

    /// The file that a path stands for, if there is one.
    pub(super) fn file(&self, path: &[u8]) -> Option<PathBuf> {
        for layer in self.layers.iter().rev() {
            match &layer.contents {
                Some(contents) if contents.deleted.contains(path) => return None,
                Some(contents) if !contents.changed.contains(path) => {}
                Some(_) | None => return file_in(&layer.files, path),
            }
        }
        None
    }

    /// Whether there are files below a path that do not leave.
    pub(super) fn has_below(&self, path: &[u8], leaving: &BTreeSet<&[u8]>) -> bool {
        let stays = |found: &[u8]| !leaving.contains(found) && self.file(found).is_some();
        let mut start = path.to_vec();
        start.push(b'/');
        let upper = self.layers.iter().filter_map(|layer| layer.contents.as_ref());
        let listed = upper.flat_map(|contents| contents.changed.range(start.clone()..));
        let mut listed = listed.filter(|found| found.starts_with(&start));
        if listed.any(|found| stays(found)) {
            return true;
        }
        let base = self.layers.first().map(|layer| below(&layer.files, path));
        let walked = base.filter(|base| base.is_dir() && !base.is_symlink());
        let walked = walked.and_then(|base| walk(&base, &[], Locked::Leave).ok());
        walked.is_some_and(|walked| {
            let mut files = walked.files.iter();
            files.any(|found| stays(&[&start, found.path.as_slice()].concat()))
        })
    }

    /// Writes all files of the stack into a folder.
    pub(super) fn pour(&self, to: &Path) -> Result<(), Error> {
        fs::create_dir_all(to).map_err(Error::files("making", to))?;
        for layer in &self.layers {
            let Some(contents) = &layer.contents else {
                let walked = walk(&layer.files, &[], Locked::Leave);
                let walked = walked.map_err(Error::files("reading", &layer.files))?;
                for folder in &walked.folders {
                    let folder = below(to, folder);
                    fs::create_dir_all(&folder).map_err(Error::files("making", &folder))?;
                }
                for found in &walked.files {
                    copy::put(&below(&layer.files, &found.path), &below(to, &found.path))?;
                }
                continue;
            };
            for path in &contents.deleted {
                remove(to, path).map_err(Error::files("removing", &below(to, path)))?;
            }
            for path in &contents.changed {
                copy::put(&below(&layer.files, path), &below(to, path))?;
            }
        }
        Ok(())
    }
}

/// Removes a file, and the folders that are empty without it. No link is followed.
pub(in super::super) fn remove(top: &Path, path: &[u8]) -> io::Result<()> {
    match wary::remove_below(top, &below(Path::new(""), path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    prune(top, path);
    Ok(())
}

/// Removes the folders above a path that are empty.
pub(super) fn prune(top: &Path, path: &[u8]) {
    let mut at = below(Path::new(""), path);
    while at.pop() && at != Path::new("") && wary::remove_folder_below(top, &at).is_ok() {}
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() || found.is_symlink())
}

/// A file in a folder, reached without passing a link; whatever else is there is none.
pub(in super::super) fn file_in(top: &Path, path: &[u8]) -> Option<PathBuf> {
    let file = below(top, path);
    (!passes_link(top, path) && is_file(&file)).then_some(file)
}

/// Whether the way to a path leads over something that is no folder.
pub(in super::super) fn passes_link(top: &Path, path: &[u8]) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut ways = slashes.filter_map(|(at, _)| path.get(..at));
    ways.any(|way| fs::symlink_metadata(below(top, way)).is_ok_and(|found| !found.is_dir()))
}

/// Whether two files are the same in kind, executable bit and content.
pub(super) fn same(one: Option<&Path>, other: Option<&Path>) -> Result<bool, Error> {
    match (one, other) {
        (None, None) => Ok(true),
        (Some(one), Some(other)) => same_files(one, other).map_err(Error::files("reading", other)),
        (Some(_), None) | (None, Some(_)) => Ok(false),
    }
}

fn same_files(one: &Path, other: &Path) -> io::Result<bool> {
    let (first, second) = (fs::symlink_metadata(one)?, fs::symlink_metadata(other)?);
    if first.is_symlink() || second.is_symlink() {
        let both = first.is_symlink() && second.is_symlink();
        return Ok(both && fs::read_link(one)? == fs::read_link(other)?);
    }
    if (first.mode() ^ second.mode()) & 0o100 != 0 {
        return Ok(false);
    }
    same_content(one, other)
}

/// Whether two files hold the same. Links are followed.
pub(super) fn same_content(one: &Path, other: &Path) -> io::Result<bool> {
    if fs::metadata(one)?.len() != fs::metadata(other)?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        one.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}
