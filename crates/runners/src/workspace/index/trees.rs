//! The folders of what an index lists, and which of them git remembers as trees.

use std::collections::HashMap;

use super::{Listing, hex, word};

/// What git calls the part of an index that remembers trees.
const TREES: &[u8] = b"TREE";
/// Bytes before what such a part holds: its name and its length.
const PART_BYTES: usize = 8;

/// Something in a folder.
#[derive(Debug)]
pub(in super::super) enum Part<'a> {
    /// A file, a link, or another repository's place.
    File { mode: u32, object: String, name: &'a [u8] },
    Folder {
        /// From the top.
        path: &'a [u8],
        name: &'a [u8],
    },
}

impl Listing {
    /// The trees that git remembers, by their folders. Those in which something was changed
    /// since are not among them.
    pub(in super::super) fn trees(&self) -> HashMap<Vec<u8>, String> {
        let mut trees = HashMap::new();
        if let Some(bytes) = self.remembered() {
            // Whatever cannot be understood is not remembered.
            read(bytes, self.hash_bytes, (b"", &mut trees));
        }
        trees
    }

    fn remembered(&self) -> Option<&[u8]> {
        let mut rest = self.bytes().get(self.end..)?;
        loop {
            let length = usize::try_from(word(rest, 4)?).ok()?;
            let held = rest.get(PART_BYTES..)?.get(..length)?;
            if rest.starts_with(TREES) {
                return Some(held);
            }
            rest = rest.get(PART_BYTES.checked_add(length)?..)?;
        }
    }

    /// What is in a folder; all of it if that has no name.
    pub(in super::super) fn parts(&self, folder: &[u8]) -> Vec<Part<'_>> {
        let inside = if folder.is_empty() { Vec::new() } else { [folder, b"/"].concat() };
        let all = self.beginning(&inside, 0..self.len());
        let mut parts = Vec::new();
        let mut number = all.start;
        while number < all.end {
            let path = self.path(number);
            let rest = path.get(inside.len()..).unwrap_or_default();
            let Some(length) = memchr::memchr(b'/', rest) else {
                let (mode, object) = self.content(number);
                parts.push(Part::File { mode, object, name: rest });
                number = number.saturating_add(1);
                continue;
            };
            let (name, _) = rest.split_at(length);
            let (below, _) = path.split_at(inside.len().saturating_add(length).saturating_add(1));
            number = self.beginning(below, number..all.end).end;
            let path = below.strip_suffix(b"/").unwrap_or(below);
            parts.push(Part::Folder { path, name });
        }
        parts
    }
}

/// Reads a folder and all in it; says where that ends.
fn read<'a>(
    bytes: &'a [u8],
    hash_bytes: usize,
    (above, trees): (&[u8], &mut HashMap<Vec<u8>, String>),
) -> Option<&'a [u8]> {
    let (name, rest) = cut(bytes, 0)?;
    let (counts, mut rest) = cut(rest, b'\n')?;
    let (files, folders) = std::str::from_utf8(counts).ok()?.split_once(' ')?;
    let path = if above.is_empty() { name.to_vec() } else { [above, b"/", name].concat() };
    // A count below zero says that something in it was changed.
    if files.parse::<u32>().is_ok() {
        let (object, after) = rest.split_at_checked(hash_bytes)?;
        trees.insert(path.clone(), hex(object));
        rest = after;
    }
    for _ in 0..folders.parse::<u32>().ok()? {
        rest = read(rest, hash_bytes, (&path, trees))?;
    }
    Some(rest)
}

fn cut(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(at, bytes)?;
    Some((bytes.get(..end)?, bytes.get(end.checked_add(1)?..)?))
}
