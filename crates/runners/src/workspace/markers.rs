//! Conflict markers that somebody has left in a file.

use std::collections::HashSet;

use super::Error;

/// What the lines around the sides of a conflict begin with.
const EDGES: [&[u8]; 3] = [b"<<<<<<<", b"|||||||", b">>>>>>>"];
/// The line between its sides.
const BETWEEN: &[u8] = b"=======";

/// Whether a file has markers that neither side has: those they have are text. The sides are
/// only asked for if there is anything to compare with them.
pub(super) fn left(
    file: &[u8],
    sides: impl FnOnce() -> Result<[Vec<u8>; 2], Error>,
) -> Result<bool, Error> {
    let mut found = markers(file).peekable();
    if found.peek().is_none() {
        return Ok(false);
    }
    let sides = sides()?;
    let text: HashSet<&[u8]> = sides.iter().flat_map(|side| markers(side)).collect();
    Ok(found.any(|line| !text.contains(line)))
}

fn markers(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = file.split(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| is_marker(line))
}

fn is_marker(line: &[u8]) -> bool {
    let edge = |edge: &&[u8]| {
        let rest = line.strip_prefix(*edge);
        rest.is_some_and(|rest| rest.first().is_none_or(|next| *next == b' '))
    };
    line == BETWEEN || EDGES.iter().any(edge)
}
