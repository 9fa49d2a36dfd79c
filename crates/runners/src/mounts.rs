//! The kernel's table of mounts, as a process or a thread sees it. Nothing is mounted here.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Where it lies.
    pub(crate) target: PathBuf,
    /// How, in the kernel's words: `rw,nosuid,relatime`.
    pub(crate) options: String,
    /// What kind of file system it is.
    pub(crate) kind: String,
    /// What it was made of.
    pub(crate) source: String,
}

/// The table of a process, or of the calling thread (`thread-self`). It is empty where it
/// may not be looked at.
pub(crate) fn seen_by(process: &str) -> Vec<Mount> {
    let table = fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    table.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (place, rest) = line.split_once(" - ")?;
    let (mut place, mut rest) = (place.split(' ').skip(4), rest.split(' '));
    Some(Mount {
        target: plain(place.next()?),
        options: place.next()?.to_owned(),
        kind: rest.next()?.to_owned(),
        source: rest.next()?.to_owned(),
    })
}

/// A path without the kernel's way to write blanks: a backslash and three digits.
fn plain(written: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let (byte, taken) = match digits.and_then(|text| u8::from_str_radix(text, 8).ok()) {
            Some(byte) => (byte, 4),
            None => (*first, 1),
        };
        bytes.push(byte);
        rest = rest.get(taken..).unwrap_or_default();
    }
    PathBuf::from(OsString::from_vec(bytes))
}
