//! How a workspace differs from its base, told by the folder that its overlay writes to.
//!
//! Whatever was changed lies there and nothing else does, so that looking costs what was
//! changed and not what the base holds. A folder that was moved only says where it came
//! from: who meets one has to look at all files, as who may not read it has to.

use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::lgetxattr;
use rustix::io::Errno;

use super::changes::{Changes, is_below};
use super::folders::Moment;
use super::index::{Listing, Verdict};
use super::overlay::is_namespaced;
use super::walk::{Locked, MAX_PATH_BYTES, Walked, below, walk};
use crate::fence::may_mount;

/// Bytes of an attribute that are looked at.
const ATTRIBUTE_BYTES: usize = 64;

/// What an overlay has noted about a folder it writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// What the base has at its place is seen through it.
    Nothing,
    /// What the base has there is gone.
    Opaque,
    /// It shows another folder of the base.
    Moved,
}

/// Compares what an overlay wrote with the base. `None` if that does not tell all.
///
/// What it lies over may be another commit than the base: then what only the base has was written
/// to the overlay as well, and leaves no mark there when it is deleted. What lies in the shared
/// folders, named from the top, is not looked at.
pub(super) fn compare_written(
    upper: &Path,
    (index, lower): (&Listing, Option<&Listing>),
    (settled, shared): (Moment, &[String]),
) -> io::Result<Option<Changes>> {
    let attributes = match (is_namespaced(), may_mount()) {
        (true, _) => "user.overlay",
        (false, true) => "trusted.overlay",
        // They are there, and not to be seen.
        (false, false) => return Ok(None),
    };
    let shared: Vec<PathBuf> = shared.iter().map(|name| upper.join(name)).collect();
    let written = walk(upper, &shared, Locked::Leave)?;
    // What has no path there may have one seen from the top.
    let is_far = |folder: &Vec<u8>| folder.len() > MAX_PATH_BYTES;
    if written.incomplete || written.folders.iter().any(is_far) {
        return Ok(None);
    }
    let covered = lower.map(|lower| index.not_in(lower)).unwrap_or_default();
    let mut look = Look { index, seen: HashSet::new(), covered };
    for folder in &written.folders {
        match noted(&below(upper, folder), attributes)? {
            Noted::Moved => return Ok(None),
            Noted::Opaque => look.cover_below(folder),
            Noted::Nothing => {}
        }
        look.folder(folder);
    }
    Ok(Some(look.compare(written, settled)))
}

/// What an overlay has noted about a folder.
fn noted(folder: &Path, attributes: &str) -> io::Result<Noted> {
    let mut value = [0_u8; ATTRIBUTE_BYTES];
    let mut has = |name: &str| match lgetxattr(folder, format!("{attributes}.{name}"), &mut value) {
        // It is there, and longer than what is looked at.
        Ok(_) | Err(Errno::RANGE) => Ok(true),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(io::Error::from(error)),
    };
    Ok(match (has("redirect")?, has("opaque")?) {
        (true, _) => Noted::Moved,
        (false, true) => Noted::Opaque,
        (false, false) => Noted::Nothing,
    })
}

/// Whether this only says that what the base has there was deleted. Nobody can make one
/// through the overlay.
fn is_mark(found: &Metadata) -> bool {
    found.file_type().is_char_device() && found.rdev() == 0
}

/// What is known of the base's files while one looks.
struct Look<'a> {
    index: &'a Listing,
    /// Those that are still there, changed or not.
    seen: HashSet<usize>,
    /// Those that cannot be seen through what lies over them, if they were not met there.
    covered: Vec<Range<usize>>,
}

impl Look<'_> {
    fn find(&self, path: &[u8]) -> Option<usize> {
        self.index.find(path, 0..self.index.len())
    }

    fn cover_below(&mut self, path: &[u8]) {
        let inside = [path, b"/"].concat();
        self.covered.push(self.index.beginning(&inside, 0..self.index.len()));
    }

    /// A folder leaves room for another repository; a file of that name is gone.
    fn folder(&mut self, path: &[u8]) {
        let Some(number) = self.find(path) else { return };
        if self.index.is_link_to_repository(number) {
            self.seen.insert(number);
        } else {
            self.covered.push(number..number.saturating_add(1));
        }
    }

    fn compare(mut self, written: Walked, settled: Moment) -> Changes {
        let mut changes = Changes::default();
        let foreign = self.index.links_to_repositories();
        for found in written.files {
            self.cover_below(&found.path);
            let Some(number) = self.find(&found.path) else {
                let theirs = foreign.iter().any(|top| is_below(&found.path, top));
                let list = if theirs { &mut changes.foreign } else { &mut changes.added };
                list.push(found.path);
                continue;
            };
            self.seen.insert(number);
            match self.index.verdict(number, &found.metadata, settled) {
                Verdict::Same => {}
                Verdict::Different => changes.modified.push(found.path),
                Verdict::Unsure => {
                    let (_, object) = self.index.content(number);
                    changes.unsure.push((found.path, object));
                }
            }
        }
        // A mark that something was deleted, or a pipe in its place.
        for other in &written.others {
            self.cover_below(&other.path);
            let number = self.find(&other.path);
            self.covered.extend(number.map(|number| number..number.saturating_add(1)));
        }
        let others = written.others.into_iter().filter(|other| !is_mark(&other.metadata));
        changes.others = others.map(|other| other.path).collect();
        let covered: BTreeSet<usize> = self.covered.into_iter().flatten().collect();
        let gone =
            covered.difference(&self.seen.into_iter().collect()).copied().collect::<Vec<_>>();
        let gone = gone.into_iter().filter_map(|number| self.index.expected(number));
        changes.leave_out(gone);
        changes.set_aside(written.beyond);
        changes
    }
}
