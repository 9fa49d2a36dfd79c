//! Where a repository's names point, read from its files without a process.
//!
//! The child's repository is read like this too, and so nothing in it is believed:
//! links and pipes are not opened, sizes are bounded, and a name that is not
//! below `refs/` leads nowhere. Nothing is ever written here.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::string::FromUtf8Error;

use crate::wary;

/// The largest file that holds one name's value.
const MAX_LOOSE_BYTES: u64 = 4096;
/// The largest file that holds many.
const MAX_PACKED_BYTES: u64 = 64 * 1024 * 1024;
/// The longest name that is followed into folders.
const MAX_NAME_BYTES: usize = 1024;
/// Names that point to names.
const MAX_STEPS: usize = 5;

/// Where the repository's own folder and the one it shares with its worktrees are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    own: &'a Path,
    shared: &'a Path,
    /// Whether no link is followed on the way to any of them.
    is_childs: bool,
}

/// What a repository has checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// This commit; by way of this name unless it is detached.
    At { commit: String, name: Option<String> },
    /// A branch without a commit.
    Unborn { name: String },
    /// Nothing that could be understood.
    Unclear,
}

/// Whether a list of packed names is too long to be read here.
pub(super) fn is_too_long(packed: &Path) -> bool {
    fs::metadata(packed).is_ok_and(|found| found.len() > MAX_PACKED_BYTES)
}

impl<'a> Names<'a> {
    /// Those of a child's repository: a link in it could lead to names of somebody else.
    pub(super) fn of_child(folder: &'a Path) -> Self {
        Self { own: folder, shared: folder, is_childs: true }
    }

    /// Those of the user's.
    pub(super) fn of_user(own: &'a Path, shared: &'a Path) -> Self {
        Self { own, shared, is_childs: false }
    }

    /// What is in a file of its folder.
    fn read(&self, (folder, name): (&Path, &str), most_bytes: u64) -> Option<String> {
        let opened = match self.is_childs {
            true => wary::open_below(folder, Path::new(name)),
            false => wary::open(&folder.join(name)),
        };
        text_of(opened.ok()?, most_bytes)
    }

    /// What is checked out.
    pub(super) fn head(&self) -> Head {
        let Some(text) = self.read((self.own, "HEAD"), MAX_LOOSE_BYTES) else {
            return Head::Unclear;
        };
        match target(&text) {
            Target::Commit(commit) => Head::At { commit, name: None },
            Target::Name(name) => match self.resolve(&name) {
                Some(commit) => Head::At { commit, name: Some(name) },
                None => Head::Unborn { name },
            },
            Target::Nothing => Head::Unclear,
        }
    }

    /// The commit that a name points to.
    pub(super) fn resolve(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..MAX_STEPS {
            let Some(text) = self.read((self.shared, &name), MAX_LOOSE_BYTES) else {
                return self.packed(&name);
            };
            match target(&text) {
                Target::Commit(commit) => return Some(commit),
                Target::Name(next) => name = next,
                Target::Nothing => return None,
            }
        }
        None
    }

    /// All names below `refs/` that point to an object, at most so many, sorted.
    pub(super) fn all(&self, most: usize) -> BTreeMap<String, String> {
        self.those(most, |name| name.starts_with("refs/"))
    }

    /// The same of names, and of folders of names, that are meant.
    pub(super) fn those(
        &self,
        most: usize,
        is_meant: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![(String::from("refs"), self.shared.join("refs"))];
        let mut seen: usize = 0;
        while let Some((folder, path)) = folders.pop() {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                seen = seen.saturating_add(1);
                if seen > most {
                    folders.clear();
                    break;
                }
                let Ok(kind) = entry.file_type() else { continue };
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                if !is_meant(&name) {
                    continue;
                }
                if kind.is_dir() && name.len() < MAX_NAME_BYTES {
                    folders.push((name, entry.path()));
                } else if kind.is_file()
                    && let Some(text) = self.read((self.shared, &name), MAX_LOOSE_BYTES)
                    && let Target::Commit(id) = target(&text)
                {
                    found.insert(name, id);
                }
            }
        }
        // Afterwards, so that what is packed meanwhile is in one of the two.
        let packed = self.read((self.shared, "packed-refs"), MAX_PACKED_BYTES).unwrap_or_default();
        let packed = packed.lines().filter_map(|line| line.split_once(' '));
        for (id, name) in packed.filter(|(id, name)| is_id(id) && is_meant(name)).take(most) {
            found.entry(name.to_owned()).or_insert_with(|| id.to_owned());
        }
        found
    }

    /// What a name pointed to, the newest first, as far as its log tells.
    pub(super) fn earlier(&self, name: &str, most: usize) -> Vec<String> {
        let log = format!("logs/{name}");
        let text = self.read((self.shared, &log), MAX_PACKED_BYTES).unwrap_or_default();
        let ids = text.lines().rev().filter_map(|line| line.split(' ').nth(1));
        ids.filter(|id| is_id(id)).take(most).map(str::to_owned).collect()
    }

    fn packed(&self, name: &str) -> Option<String> {
        let text = self.read((self.shared, "packed-refs"), MAX_PACKED_BYTES)?;
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (commit, _) = lines.find(|(_, named)| *named == name)?;
        is_id(commit).then(|| commit.to_owned())
    }
}

enum Target {
    Commit(String),
    Name(String),
    Nothing,
}

fn target(text: &str) -> Target {
    let text = text.trim();
    if is_id(text) {
        return Target::Commit(text.to_owned());
    }
    let name = text.strip_prefix("ref:").map(str::trim);
    let inside =
        |name: &&str| name.starts_with("refs/") && !name.contains("..") && !name.contains('\0');
    name.filter(inside).map_or(Target::Nothing, |name| Target::Name(name.to_owned()))
}

/// Whether this is an object's name, in either of git's two lengths.
pub(super) fn is_id(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    matches!(text.len(), 40 | 64) && text.bytes().all(hex)
}

/// Whether git would have such a name, and it was read as it is.
pub(super) fn is_name(name: &str) -> bool {
    let barred = " ~^:?*[\\\u{FFFD}";
    let is_barred = |letter: char| letter.is_control() || barred.contains(letter);
    let is_step = |step: &str| {
        !step.is_empty()
            && !step.starts_with('.')
            && !step.ends_with('.')
            && !step.ends_with(".lock")
    };
    let is_odd = name.contains("..") || name.contains("@{") || name.contains(is_barred);
    !is_odd && name.split('/').all(is_step)
}

/// What is in a file that is not too large. What is no text in it, a name in an old encoding,
/// does not count: the rest does.
fn text_of(file: File, most_bytes: u64) -> Option<String> {
    if file.metadata().ok()?.len() > most_bytes {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most_bytes).read_to_end(&mut bytes).ok()?;
    let lossy = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Some(String::from_utf8(bytes).unwrap_or_else(lossy))
}
