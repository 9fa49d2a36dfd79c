//! From what is hidden to what is shown: Landlock knows only the latter.
//!
//! A folder with something hidden below it is not shown as a whole, but entry by entry.
//! Such a folder can be passed through and not listed: whoever could list it could list
//! everything below it. What is made in it later is not shown, either.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::Fence;
use crate::folder;

/// Entries of a folder that are shown one by one; a folder with more stays closed.
pub(super) const MAX_ENTRIES: usize = 4_096;

/// What may be done with a path and all below it. The larger one counts for more where
/// a path is named twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Hidden,
    Readable,
    Writable,
}

/// A path that is opened as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) is_writable: bool,
}

/// Everything that is opened, and what stays more closed than the fence says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) opened: Vec<Opened>,
    pub(super) closed: Vec<String>,
}

/// The marks of a fence by their paths, compared byte by byte and not part by part, so
/// that everything below a path is one range.
struct Marks(BTreeMap<Vec<u8>, Mark>);

impl Marks {
    fn of(fence: &Fence) -> Self {
        let mut marks = BTreeMap::from([(key(Path::new("/")), Mark::Readable)]);
        let lists = [
            (&fence.hidden, Mark::Hidden),
            (&fence.readable, Mark::Readable),
            (&fence.writable, Mark::Writable),
        ];
        for (paths, mark) in lists {
            for path in paths.iter().filter(|path| path.is_absolute()) {
                let known = marks.entry(key(path)).or_insert(mark);
                *known = mark.max(*known);
            }
        }
        let all = Self(marks);
        // What is writable by its folder is not made less so by being named as readable.
        let is_moot = |path: &[u8], mark: Mark| {
            mark == Mark::Readable && all.above(path) == Some(Mark::Writable)
        };
        let kept = all.0.iter().filter(|(path, mark)| !is_moot(path, **mark));
        Self(kept.map(|(path, mark)| (path.clone(), *mark)).collect())
    }

    /// The nearest mark above a path.
    fn above(&self, path: &[u8]) -> Option<Mark> {
        let path = Path::new(OsStr::from_bytes(path));
        path.ancestors().skip(1).find_map(|above| self.at(above))
    }

    fn at(&self, path: &Path) -> Option<Mark> {
        self.0.get(&key(path)).copied()
    }

    /// Whether anything below a path is hidden.
    fn hides_below(&self, path: &Path) -> bool {
        let above = key(path);
        let below = self.0.range(above.clone()..).skip_while(|(path, _)| **path == above);
        let mut below = below.take_while(|(path, _)| path.starts_with(&above));
        below.any(|(_, mark)| *mark == Mark::Hidden)
    }
}

/// A path such that what begins with it is below it.
fn key(path: &Path) -> Vec<u8> {
    let mut bytes = path.as_os_str().as_bytes().to_vec();
    if !bytes.ends_with(b"/") {
        bytes.push(b'/');
    }
    bytes
}

/// What has to be opened so that a fence holds.
pub(super) fn shown(fence: &Fence) -> Shown {
    let marks = Marks::of(fence);
    let mut shown = Shown::default();
    for (path, mark) in &marks.0 {
        let path = path.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(b"/");
        open(&marks, Path::new(OsStr::from_bytes(path)), *mark, &mut shown);
    }
    shown
}

/// Opens a path as it is marked, up to those below it that are marked themselves.
fn open(marks: &Marks, path: &Path, mark: Mark, shown: &mut Shown) {
    if mark == Mark::Hidden {
        return;
    }
    if !marks.hides_below(path) {
        let is_writable = mark == Mark::Writable;
        shown.opened.push(Opened { path: path.to_owned(), is_writable });
        return;
    }
    let mut names = Vec::new();
    let read = folder::each(path, |name, kind| {
        let below = path.join(OsStr::from_bytes(name));
        // Where a link leads is open or not by itself; opening the link would open that.
        let is_link = if kind == FileType::Unknown {
            // What cannot be looked at is not opened, either.
            fs::symlink_metadata(&below).map_or(true, |about| about.is_symlink())
        } else {
            kind.is_symlink()
        };
        names.extend((!is_link).then_some(below));
        if names.len() > MAX_ENTRIES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if read.is_err() {
        return;
    }
    if names.len() > MAX_ENTRIES {
        let folder = path.display();
        shown.closed.push(format!("{folder} has more than {MAX_ENTRIES} entries: not shown"));
        return;
    }
    if mark == Mark::Writable {
        let folder = path.display();
        shown.closed.push(format!("{folder} has closed folders in it: nothing new directly in it"));
    }
    for path in names.iter().filter(|path| marks.at(path).is_none()) {
        open(marks, path, mark, shown);
    }
}
