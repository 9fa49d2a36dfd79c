//! Where an artifact may lie, as far as its path alone can tell.
//!
//! A path is brought into one form, and only that form is looked at and kept, so
//! that no two parts of the system read the same path differently.

use super::limits::MAX_PATH_BYTES;

/// Why a path cannot be an artifact's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// No path at all.
    #[error("is empty")]
    Empty,
    /// More bytes than a path may have.
    #[error("has {bytes} bytes; at most {MAX_PATH_BYTES} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A NUL or another control character.
    #[error("contains a control character")]
    Control,
    /// A backslash, which separates folders on some systems and not on others.
    #[error("contains a backslash; folders are separated by `/`")]
    Backslash,
    /// From the root of the file system, or of a drive.
    #[error("is absolute; paths are relative to the workspace")]
    Absolute,
    /// A step upwards, even one that would end up inside: where it leads depends on links
    /// on the way.
    #[error("has a `..` step, which could leave the workspace")]
    Upwards,
    /// `.` and the like.
    #[error("names the workspace itself; name a file or folder in it")]
    Workspace,
}

/// The one form of a path: relative, without `.`, empty steps or a final `/`.
pub fn normalise_path(path: &str) -> Result<String, BadPath> {
    if path.trim().is_empty() {
        return Err(BadPath::Empty);
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(BadPath::TooLong { bytes: path.len() });
    }
    if path.chars().any(char::is_control) {
        return Err(BadPath::Control);
    }
    if path.contains('\\') {
        return Err(BadPath::Backslash);
    }
    let mut start = path.bytes();
    let is_drive =
        start.next().is_some_and(|b| b.is_ascii_alphabetic()) && start.next() == Some(b':');
    if path.starts_with('/') || is_drive {
        return Err(BadPath::Absolute);
    }
    if path.split('/').any(|step| step == "..") {
        return Err(BadPath::Upwards);
    }
    let is_normal = |step: &&str| !matches!(*step, "" | ".");
    if path.split('/').all(|step| is_normal(&step)) {
        return Ok(path.to_owned());
    }
    let steps: Vec<&str> = path.split('/').filter(is_normal).collect();
    if steps.is_empty() {
        return Err(BadPath::Workspace);
    }
    Ok(steps.join("/"))
}
