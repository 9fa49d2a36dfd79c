//! What stands against what where two sides do not fit together: as lines, or as the kind of
//! conflict that has none. Says it in words, and decides nothing.

use serde::{Deserialize, Serialize};

/// Files in conflict that are named in a sentence.
const MAX_NAMED: usize = 50;

/// Lines that two sides changed in different ways, or a file that does not fit otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The file, a relative path.
    pub file: String,
    /// The line of the marked file where they begin; 0 where there is a `kind`.
    pub line: u64,
    /// Both sides between markers: first the result's, then the subtask's; empty where there
    /// is a `kind`.
    pub text: String,
    /// What kind of conflict it is, where it has no lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Clash>,
}

impl Hunk {
    /// A file that does not fit, without lines.
    pub fn without_lines(file: &str, kind: Clash) -> Self {
        Self { file: file.to_owned(), line: 0, text: String::new(), kind: Some(kind) }
    }
}

/// Why a file does not fit where that is not a matter of lines. The first side is what the
/// work is brought to, the second is the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clash {
    /// The first side has deleted it, the second has changed it.
    FirstDeleted,
    /// The second side has deleted it, the first has changed it.
    SecondDeleted,
    /// It is no text, or none that is merged by lines.
    Binary,
    /// A file on one side, a folder on the other.
    Folder,
    /// A link that leads elsewhere on each side.
    Link,
    /// A submodule at another commit on each side.
    Submodule,
    /// The same content, and not the same mode.
    Mode,
    /// Not the same on both sides: a file, a link, a submodule.
    Types,
    /// It was renamed or moved on one side in a way that does not fit the other.
    Moved,
    /// Both have changed it, and it is only taken whole.
    Whole,
    /// Something else stands in its place: no part of the work, and in no commit.
    InTheWay,
    /// Both have changed it, and its lines cannot be shown.
    Unshown,
}

impl Clash {
    /// The kind in words, as they stand behind the name of a file.
    pub fn words(self, [first, second]: [&str; 2]) -> String {
        let said = match self {
            Self::FirstDeleted => return format!("{first} deleted it, {second} changed it"),
            Self::SecondDeleted => return format!("{second} deleted it, {first} changed it"),
            Self::Binary => "both changed it, and it is no text",
            Self::Folder => "a file on one side, a folder on the other",
            Self::Link => "a link that leads elsewhere on each side",
            Self::Submodule => "a submodule at another commit on each side",
            Self::Mode => "the same content with another mode on each side",
            Self::Types => "a file, a link or a submodule, and not the same on both sides",
            Self::Moved => "renamed or moved in a way that does not fit the other side",
            Self::Whole => "both changed it, and without git a file is only taken whole",
            Self::InTheWay => "something else stands in its place",
            Self::Unshown => "both changed it, and its lines cannot be shown",
        };
        said.to_owned()
    }
}

/// Files in conflict by name, each that is not a matter of lines with what it is.
pub fn in_words(files: &[String], hunks: &[Hunk], sides: [&str; 2]) -> String {
    let named = |file: &String| {
        let kind = hunks.iter().find(|hunk| hunk.file == *file).and_then(|hunk| hunk.kind);
        kind.map_or_else(|| file.clone(), |kind| format!("{file} ({})", kind.words(sides)))
    };
    let named: Vec<String> = files.iter().take(MAX_NAMED).map(named).collect();
    match files.len().saturating_sub(MAX_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
