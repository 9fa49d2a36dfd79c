//! The conflicting lines of files that two sides changed, outside any repository; where there
//! are none, what kind of conflict it is.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use legation_core::tree::event::{Clash, Hunk};

use super::super::git::Trust;
use super::super::hunks::{Collector, MERGED};
use super::Plain;
use super::layer::{Stack, same_content};

/// Files that are looked into.
const MAX_FILES: usize = 20;
/// As high as git counts the conflicts of one file.
const MAX_CONFLICTS: i32 = 127;
/// As much of a file as git looks at to see whether it is text.
const MAX_BEGINNING: u64 = 8000;

/// What there is of a path: ours, what both began with, and theirs.
pub(super) struct Met {
    pub(super) sides: [Option<PathBuf>; 3],
    /// Whether a folder stands against a file there.
    pub(super) is_folder: bool,
}

impl Met {
    /// What three stacks have of a path. Nothing leaves them.
    pub(super) fn of(path: &[u8], stacks: [&Stack; 3]) -> Self {
        let stays = BTreeSet::new();
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let above: Vec<&[u8]> = slashes.filter_map(|(at, _)| path.get(..at)).collect();
        let [ours, _, theirs] = stacks;
        let is_folder = [ours, theirs].into_iter().any(|side| {
            side.has_below(path, &stays) || above.iter().any(|way| side.file(way).is_some())
        });
        Self { sides: stacks.map(|stack| stack.file(path)), is_folder }
    }

    /// What kind of conflict it is; none if it may be one of lines.
    fn kind(&self) -> Option<Clash> {
        let [ours, old, theirs] = &self.sides;
        if self.is_folder {
            return Some(Clash::Folder);
        }
        let (ours, theirs) = match (ours, theirs) {
            (Some(ours), Some(theirs)) => (ours, theirs),
            (None, Some(_)) if old.is_some() => return Some(Clash::FirstDeleted),
            (Some(_), None) if old.is_some() => return Some(Clash::SecondDeleted),
            (Some(_), None) | (None, Some(_) | None) => return Some(Clash::InTheWay),
        };
        match (ours.is_symlink(), theirs.is_symlink()) {
            (true, true) => Some(Clash::Link),
            (true, false) | (false, true) => Some(Clash::Types),
            // Where they are the same, and yet not, it is for their mode.
            (false, false) => {
                same_content(ours, theirs).is_ok_and(|same| same).then_some(Clash::Mode)
            }
        }
    }

    /// What kind of conflict it is of which no lines were found.
    fn without_lines(&self, is_merged: bool) -> Clash {
        let [ours, _, theirs] = &self.sides;
        let is_binary = |side: &Option<PathBuf>| {
            side.as_ref().is_some_and(|side| is_binary(side).unwrap_or_default())
        };
        match is_merged {
            _ if is_binary(ours) || is_binary(theirs) => Clash::Binary,
            true => Clash::Whole,
            false => Clash::Unshown,
        }
    }
}

impl Plain {
    /// What stands against what in these files, and how the sides are called. Without git on
    /// this machine no lines can be shown.
    pub(super) fn hunks(
        &self,
        paths: &BTreeSet<Vec<u8>>,
        met: impl Fn(&[u8]) -> Met,
        called: [&'static str; 2],
    ) -> Vec<Hunk> {
        let mut found = Collector::new(called);
        let mut read = 0;
        for path in paths {
            let (name, met) = (String::from_utf8_lossy(path), met(path));
            if let Some(kind) = met.kind() {
                found.note(&name, kind);
                continue;
            }
            if read == MAX_FILES || !found.has_room() {
                continue;
            }
            read += 1;
            let marked = self.marked(met.sides.each_ref().map(Option::as_deref));
            let text = marked.as_deref().map(String::from_utf8_lossy);
            if !text.is_some_and(|text| found.take(&name, &text, MERGED)) {
                found.note(&name, met.without_lines(marked.is_some()));
            }
        }
        found.finish()
    }

    /// A file of the result, of what both began with and of the work, with both sides between
    /// markers. What only one side has, links, and what is no text cannot be shown so.
    pub(super) fn marked(&self, [ours, old, theirs]: [Option<&Path>; 3]) -> Option<Vec<u8>> {
        let (ours, theirs) = (ours?, theirs?);
        // Where both sides made the file, they began with nothing.
        let old = old.unwrap_or(Path::new("/dev/null"));
        if [ours, old, theirs].iter().any(|file| file.is_symlink()) {
            return None;
        }
        let [result, subtask] = MERGED;
        let call = self.git.call("merge-file", Trust::Repository).within(&self.folders.state);
        let call = call.args(["-p", "-q", "-L", result, "-L", "", "-L", subtask]);
        let said = call.arg(ours).arg(old).arg(theirs).ask().ok()?;
        // It answers with the number of conflicts, and with a large one where it gives up.
        (said.code <= MAX_CONFLICTS).then_some(said.out)
    }
}

/// Whether a file is no text, as git sees it.
fn is_binary(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    File::open(path)?.take(MAX_BEGINNING).read_to_end(&mut beginning)?;
    Ok(beginning.contains(&0))
}
