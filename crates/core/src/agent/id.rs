//! What an agent may be called.

/// Characters an agent's id may have at most.
pub const MAX_ID_CHARS: usize = 64;

/// Words that stand for something else wherever an agent's id could stand.
pub const RESERVED_IDS: [&str; 3] = ["user", "global", "call"];

/// Whether the text is an id: words of a–z and 0–9 joined by single hyphens,
/// not too long, and not one of the reserved words.
pub fn is_valid_id(text: &str) -> bool {
    let plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.len() <= MAX_ID_CHARS && !RESERVED_IDS.contains(&text) && text.split('-').all(plain)
}

/// A name for people turned into an id: `Code Reviewer` and `CodeReviewer` become
/// `code-reviewer`. `None` where letters would be lost or what is left is no id.
pub fn kebab_case(name: &str) -> Option<String> {
    let name = name.trim();
    if name.len() > 4 * MAX_ID_CHARS {
        return None;
    }
    let mut id = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() {
            if letter.is_alphanumeric() {
                return None;
            }
            after_small = false;
            if !id.is_empty() && !id.ends_with('-') {
                id.push('-');
            }
            continue;
        }
        if letter.is_ascii_uppercase() && after_small {
            id.push('-');
        }
        after_small = !letter.is_ascii_uppercase();
        id.push(letter.to_ascii_lowercase());
    }
    let id = id.trim_end_matches('-');
    is_valid_id(id).then(|| id.to_owned())
}
