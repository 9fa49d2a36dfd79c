//! The name somebody probably meant.

/// Longer words are not compared: nobody mistypes a name of that length.
pub const WORD_MAX_CHARS: usize = 64;

/// The shortest beginning of a name that stands for it.
const PREFIX_MIN_CHARS: usize = 3;

/// The candidate that differs least from `word`, if it differs little enough
/// to be a slip of the keys; or the only one that begins with `word`.
///
/// Upper and lower case are the same; of equals the first wins. An answer is a
/// suggestion for a message, never to be acted on.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    // One slip in three characters still looks like the same word.
    let tolerated = (word.len() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    let mut longer: Option<&str> = None;
    let mut several_longer = false;
    for candidate in candidates {
        let Some(name) = folded(candidate) else {
            continue;
        };
        if word.len() >= PREFIX_MIN_CHARS && name.starts_with(&word) {
            several_longer = longer.replace(candidate).is_some();
        }
        if name.len().abs_diff(word.len()) > tolerated {
            continue;
        }
        let slips = distance(&word, &name);
        // A word with nothing in common is no slip, however short.
        if slips <= tolerated && slips < name.len() && best.is_none_or(|(least, _)| slips < least) {
            best = Some((slips, candidate));
        }
    }
    let only_longer = longer.filter(|_| !several_longer);
    best.map(|(_, candidate)| candidate).or(only_longer)
}

/// The characters in lower case, or `None` if there are none or too many.
fn folded(word: &str) -> Option<Vec<char>> {
    let chars: Vec<char> =
        word.chars().take(WORD_MAX_CHARS + 1).flat_map(char::to_lowercase).collect();
    (1..=WORD_MAX_CHARS).contains(&chars.len()).then_some(chars)
}

/// How many characters must be added, dropped, replaced or swapped with their
/// neighbour to get from one word to the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let cell = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
    let mut two_up: Vec<usize> = Vec::new();
    let mut one_up: Vec<usize> = (0..=to.len()).collect();
    let mut above = None;
    for (row, &left) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut before = None;
        for (column, &right) in to.iter().enumerate() {
            let replaced = cell(&one_up, column) + usize::from(left != right);
            let dropped = cell(&one_up, column + 1) + 1;
            let added = cell(&current, column) + 1;
            let mut least = replaced.min(dropped).min(added);
            if above == Some(right) && before == Some(left) && column > 0 {
                least = least.min(cell(&two_up, column - 1) + 1);
            }
            current.push(least);
            before = Some(right);
        }
        above = Some(left);
        two_up = std::mem::replace(&mut one_up, current);
    }
    cell(&one_up, to.len())
}
