//! Ids as names of folders and branches. Nothing that could lead elsewhere passes.

use super::Error;

/// The longest id that is used as the name of a folder or a branch.
const MAX_CHARS: usize = 200;

/// The id itself, if it may be a folder's and a branch's name.
pub(super) fn checked<'a>(what: &'static str, id: &'a str) -> Result<&'a str, Error> {
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let edges = !id.starts_with(['.', '-']) && !id.ends_with('.') && !id.ends_with(".lock");
    if plain && edges && !id.is_empty() && id.len() <= MAX_CHARS && !id.contains("..") {
        Ok(id)
    } else {
        Err(Error::Name { what, id: id.to_owned() })
    }
}

/// A subtask's id, which its plan may have chosen freely, as part of a branch name.
///
/// Two may become one; the attempt that follows it keeps branches apart.
pub(super) fn softened(subtask: &str) -> String {
    let letters = subtask.chars().take(MAX_CHARS / 4);
    let soft: String = letters
        .map(|letter| if letter.is_alphanumeric() || "_-".contains(letter) { letter } else { '-' })
        .collect();
    let soft = soft.trim_matches('-');
    if soft.is_empty() { "subtask".to_owned() } else { soft.to_owned() }
}
