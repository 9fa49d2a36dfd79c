//! Whether files tell one workspace from another: by its path, its name or its ports.

use std::fs;

use memchr::memmem;

use super::super::super::Place;
use super::super::super::walk::below;

/// Files that are searched for ports; in a larger one such a number means nothing.
const MAX_PORT_BYTES: u64 = 16 * 1024;
/// Files that are searched at all; in a larger one nobody notes where it is.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Whether any of these files of a workspace speaks of that workspace.
pub(super) fn is_its_own(place: &Place, files: &[Vec<u8>]) -> bool {
    let root = place.root.as_os_str().as_encoded_bytes();
    let names: Vec<memmem::Finder<'_>> = place
        .env
        .iter()
        .filter(|(_, value)| value.parse::<u16>().is_err())
        .map(|(_, value)| value.as_bytes())
        .chain([root])
        .map(memmem::Finder::new)
        .collect();
    let ports: Vec<String> = place.ports().iter().map(u16::to_string).collect();
    files.iter().any(|path| {
        let path = below(&place.root, path);
        let Ok(found) = fs::symlink_metadata(&path) else { return false };
        if found.is_symlink() {
            let target = fs::read_link(&path).unwrap_or_default();
            return target.starts_with(&place.root);
        }
        if !found.is_file() || found.len() > MAX_BYTES {
            return false;
        }
        let bytes = fs::read(&path).unwrap_or_default();
        names.iter().any(|name| name.find(&bytes).is_some())
            || (found.len() <= MAX_PORT_BYTES && ports.iter().any(|port| has(&bytes, port)))
    })
}

/// Whether a number stands there, and not as a part of another.
fn has(bytes: &[u8], number: &str) -> bool {
    let is_digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    memmem::find_iter(bytes, number).any(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = at.checked_add(number.len()).and_then(|after| bytes.get(after));
        !is_digit(before) && !is_digit(after)
    })
}
