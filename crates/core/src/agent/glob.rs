//! Patterns in which `*` stands for any run of characters, the empty one included.
//!
//! Every question is answered in one pass over its input: a pattern of a thousand
//! stars costs no more than a name of a thousand letters.

use memchr::memmem;

/// Whether the text has a star in it, and so may stand for more than one name.
pub fn is_pattern(text: &str) -> bool {
    memchr::memchr(b'*', text.as_bytes()).is_some()
}

/// Whether the pattern matches the whole name.
///
/// A star in `name` is an ordinary character. Nothing in a pattern but a star of
/// its own can match it, so a pattern that matches `mcp:git/*` matches every name
/// which that stands for.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(name) = name.strip_prefix(head).and_then(|name| name.strip_suffix(tail)) else {
        return false;
    };
    // Taking the leftmost place for each piece leaves the most room for the next.
    let mut left = name.as_bytes();
    middle.split('*').all(|piece| {
        let Some(at) = memmem::find(left, piece.as_bytes()) else {
            return false;
        };
        left = left.get(at + piece.len()..).unwrap_or_default();
        true
    })
}

/// Whether some name is matched by both patterns.
pub fn overlap(one: &str, other: &str) -> bool {
    match (one.split_once('*'), other.split_once('*')) {
        (Some((one_head, one_rest)), Some((other_head, other_rest))) => {
            // What lies between the first and the last star of each can be laid one
            // after the other, so only the two ends can be at odds.
            let heads = one_head.starts_with(other_head) || other_head.starts_with(one_head);
            let one_tail = one_rest.rsplit_once('*').map_or(one_rest, |(_, tail)| tail);
            let other_tail = other_rest.rsplit_once('*').map_or(other_rest, |(_, tail)| tail);
            heads && (one_tail.ends_with(other_tail) || other_tail.ends_with(one_tail))
        }
        (Some(_), None) => matches(one, other),
        (None, Some(_)) => matches(other, one),
        (None, None) => one == other,
    }
}
