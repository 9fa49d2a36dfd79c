//! Pointers to large files, as git LFS writes them.
//!
//! Filters are programs, and none is run for a workspace: what is a pointer in the base is
//! one there. A program inside may fetch what it points to; a file that has become just that
//! is as good as unchanged.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use legation_core::digest::Running;

use super::super::Error;
use super::super::changes::Changes;
use super::super::folders::Made;
use super::super::walk::below;
use super::Repository;

/// What marks files that are kept elsewhere.
const MARK: &str = "filter=lfs";
/// The first line of a pointer.
const POINTER: &str = "version https://git-lfs.github.com/spec/";
/// Bytes that a pointer has at most.
const MAX_POINTER_BYTES: u64 = 1024;
/// Bytes of a list of such marks that are read.
const MAX_MARKS_BYTES: u64 = 1 << 20;
/// Files that are looked at; more count as changed.
const MAX_LOOKED_AT: usize = 10_000;
/// Bytes that are read in one go.
const PIECE_BYTES: usize = 64 << 10;

/// What a pointer says of the file that it stands for.
#[derive(Debug, PartialEq, Eq)]
struct Pointer {
    sha256: String,
    bytes: u64,
}

impl Repository {
    /// Leaves out files that hold what their pointers in the base name.
    pub(super) fn without_fetched(
        &self,
        made: &Made,
        mut changes: Changes,
    ) -> Result<Changes, Error> {
        let root = &made.place.root;
        let marks = [root.join(".gitattributes"), self.user.common_dir.join("info/attributes")];
        if changes.modified.is_empty() || !marks.iter().any(|file| is_marking(file)) {
            return Ok(changes);
        }
        let looked_at = changes.modified.iter().take(MAX_LOOKED_AT);
        // One name a line goes in.
        let looked_at = looked_at.filter(|path| !path.contains(&b'\n'));
        let paths: Vec<Vec<u8>> = looked_at.cloned().collect();
        let mut fetched = Vec::new();
        for (path, text) in self.small_in(&made.place.base, paths)? {
            let pointer = pointer(&text);
            if pointer.is_some_and(|pointer| is_what(&below(root, &path), &pointer)) {
                fetched.push(path);
            }
        }
        changes.modified.retain(|path| !fetched.contains(path));
        Ok(changes)
    }

    /// What those of the files hold in a commit that are small enough for pointers.
    fn small_in(&self, commit: &str, paths: Vec<Vec<u8>>) -> Result<Vec<(Vec<u8>, String)>, Error> {
        let line = |path: &Vec<u8>| [commit.as_bytes(), b":", path, b"\n"].concat();
        let input = paths.iter().flat_map(line).collect();
        let call = self.on_objects("cat-file").args(["--batch-check=%(objectname) %(objectsize)"]);
        let said = String::from_utf8_lossy(&call.input(input).run()?).into_owned();
        let known = said.lines().map(|line| line.split_once(' '));
        let small = paths.into_iter().zip(known).filter_map(|(path, known)| {
            let (object, bytes) = known?;
            (bytes.parse::<u64>().ok()? <= MAX_POINTER_BYTES).then(|| (path, object.to_owned()))
        });
        let mut found = Vec::new();
        for (path, object) in small {
            let text = self.on_objects("cat-file").args(["blob", &object]).run()?;
            found.push((path, String::from_utf8_lossy(&text).into_owned()));
        }
        Ok(found)
    }
}

/// Whether a file says that others are kept elsewhere.
fn is_marking(file: &Path) -> bool {
    let is_small = |about: fs::Metadata| about.is_file() && about.len() <= MAX_MARKS_BYTES;
    fs::symlink_metadata(file).is_ok_and(is_small)
        && fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains(MARK))
}

fn pointer(text: &str) -> Option<Pointer> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with(POINTER))?;
    let value = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ').map(str::to_owned))
    };
    let sha256 = value("oid")?.strip_prefix("sha256:")?.to_owned();
    Some(Pointer { sha256, bytes: value("size")?.parse().ok()? })
}

/// Whether a file is what a pointer stands for.
fn is_what(file: &Path, pointer: &Pointer) -> bool {
    let is_sized = |about: fs::Metadata| about.is_file() && about.len() == pointer.bytes;
    fs::symlink_metadata(file).is_ok_and(is_sized)
        && sha256(file).is_ok_and(|hash| hash == pointer.sha256)
}

fn sha256(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let (mut hash, mut piece) = (Running::default(), vec![0; PIECE_BYTES]);
    loop {
        let count = file.read(&mut piece)?;
        match piece.get(..count).filter(|read| !read.is_empty()) {
            Some(read) => hash.add(read),
            None => return Ok(hash.hex()),
        }
    }
}
