//! A merge that is only tried: nothing moves, and no file is touched. Reads the structure of
//! what git answers, never its words.

use std::collections::{BTreeMap, BTreeSet};

use legation_core::tree::event::Clash;

use super::super::{Error, git};
use super::Repository;

/// What git calls the conflict of files that are no text. These names never change.
const NO_TEXT: &str = "CONFLICT (binary)";

/// How a merge would go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trial {
    Fits { tree: String },
    Conflict(Conflict),
}

/// What does not fit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) files: Vec<String>,
    /// What kind of conflict it is for those that are not a matter of lines.
    pub(super) kinds: BTreeMap<String, Clash>,
    /// It has what fits, and both sides between markers where nothing does.
    pub(super) tree: String,
}

/// A file of one of the three that a merge is made of.
struct Version<'a> {
    mode: &'a str,
    object: &'a str,
}

/// What both began with, and each side, of one file.
#[derive(Default)]
struct Versions<'a> {
    old: bool,
    ours: Option<Version<'a>>,
    theirs: Option<Version<'a>>,
    /// Whether a side was moved out of the way of something else of that name.
    is_moved: bool,
}

impl Repository {
    /// Merges two commits without touching any file.
    pub(super) fn trial(&self, ours: &str, theirs: &str) -> Result<Trial, Error> {
        let ask = |more: &[&str]| {
            let call = self.on_objects("merge-tree").args(["--write-tree", "-z"]).args(more);
            call.args(["--allow-unrelated-histories", ours, theirs]).ask()
        };
        let said = match ask(&[]) {
            // Of very many conflicts it says more than we listen to; their names alone will do.
            Err(Error::Git { .. }) => ask(&["--no-messages"])?,
            said => said?,
        };
        let text = String::from_utf8_lossy(&said.out).into_owned();
        let mut parts = text.split('\0');
        match (said.code, parts.next().filter(|tree| !tree.is_empty())) {
            (0, Some(tree)) => Ok(Trial::Fits { tree: tree.to_owned() }),
            (1, Some(tree)) => {
                let mut found = BTreeMap::<&str, Versions<'_>>::new();
                for entry in parts.by_ref().take_while(|part| !part.is_empty()) {
                    enter(&mut found, entry, [ours, theirs]);
                }
                let no_text = no_text(&mut parts);
                let kind = |(file, met): (&&str, &Versions<'_>)| {
                    Some(((*file).to_owned(), met.kind(no_text.contains(file))?))
                };
                let kinds = found.iter().filter_map(kind).collect();
                let files = found.keys().map(|file| (*file).to_owned()).collect();
                Ok(Trial::Conflict(Conflict { files, kinds, tree: tree.to_owned() }))
            }
            _ => Err(git::complaint("merge-tree", &said)),
        }
    }
}

/// Enters what git tells of a file: `<mode> <object> <stage>\t<file>`.
fn enter<'a>(found: &mut BTreeMap<&'a str, Versions<'a>>, entry: &'a str, sides: [&str; 2]) {
    let Some((facts, file)) = entry.split_once('\t') else { return };
    let mut facts = facts.split(' ');
    let (Some(mode), Some(object), Some(stage)) = (facts.next(), facts.next(), facts.next()) else {
        return;
    };
    let name = unmoved(file, sides);
    let versions = found.entry(name).or_default();
    versions.is_moved |= name != file;
    match stage {
        "2" => versions.ours = Some(Version { mode, object }),
        "3" => versions.theirs = Some(Version { mode, object }),
        _ => versions.old = true,
    }
}

/// The files that are no text, by what git tells behind the files in conflict: how many a
/// message is about, these, its kind and its words.
fn no_text<'a>(parts: &mut impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    while let Some(count) = parts.next().and_then(|count| count.parse().ok()) {
        let files: Vec<&str> = parts.by_ref().take(count).collect();
        let kind = parts.next();
        parts.next();
        if kind == Some(NO_TEXT) {
            found.extend(files);
        }
    }
    found
}

impl Versions<'_> {
    /// What kind of conflict it is; none if it is one of lines.
    fn kind(&self, is_no_text: bool) -> Option<Clash> {
        match (&self.ours, &self.theirs) {
            (Some(ours), Some(theirs)) => match (ours.sort(), theirs.sort()) {
                (one, other) if one != other => Some(Clash::Types),
                ("12", _) => Some(Clash::Link),
                ("16", _) => Some(Clash::Submodule),
                _ if ours.object == theirs.object => Some(Clash::Mode),
                _ => is_no_text.then_some(Clash::Binary),
            },
            // It had to make way for what the other side has of that name.
            (Some(_), None) | (None, Some(_)) if self.is_moved => Some(Clash::Folder),
            (None, Some(_)) if self.old => Some(Clash::FirstDeleted),
            (Some(_), None) if self.old => Some(Clash::SecondDeleted),
            (Some(_) | None, None) | (None, Some(_)) => Some(Clash::Moved),
        }
    }
}

impl Version<'_> {
    /// The part of the mode that says whether it is a file, a link or a submodule.
    fn sort(&self) -> &str {
        self.mode.get(..2).unwrap_or_default()
    }
}

/// The name of a file that a trial has moved out of the way of a folder: it puts the name of
/// the side behind it, and a number where there is such a file.
fn unmoved<'a>(file: &'a str, sides: [&str; 2]) -> &'a str {
    let moved = sides.into_iter().find_map(|side| {
        let (name, rest) = file.rsplit_once(&format!("~{side}"))?;
        let number = rest.strip_prefix('_').unwrap_or(rest);
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
    });
    moved.unwrap_or(file)
}
