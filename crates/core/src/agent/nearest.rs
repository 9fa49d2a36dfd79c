//! The name that was probably meant.

/// Words longer than this are not compared: nobody mistypes them, and comparing is quadratic.
const MAX_COMPARED_CHARS: usize = 64;

/// The candidate closest to the word, if it is close enough to be a slip of the pen.
/// Among equals the first is taken.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = letters(word)?;
    let limit = (word.len() / 3).max(1);
    let mut best = None;
    for candidate in candidates {
        let Some(other) = letters(candidate) else {
            continue;
        };
        if other.len().abs_diff(word.len()) > limit {
            continue;
        }
        let distance = edits(&word, &other);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = word
        .chars()
        .take(MAX_COMPARED_CHARS + 1)
        .flat_map(char::to_lowercase)
        .collect();
    (letters.len() <= MAX_COMPARED_CHARS).then_some(letters)
}

/// How many letters have to be added, taken away or changed.
fn edits(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(other) {
            let changed = diagonal + usize::from(letter != other);
            diagonal = *cell;
            left = changed.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
