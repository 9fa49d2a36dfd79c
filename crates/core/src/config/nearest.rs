//! The known name that a misspelt one was probably meant to be.

/// Longer words are no slips of the finger, and would only cost time.
const MAX_CHARS: usize = 64;

/// The name nearest to `word`, if one is near enough to be worth proposing.
pub(super) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    let far = word.len().div_ceil(3);
    names
        .into_iter()
        .filter_map(|name| Some((distance(&word, &folded(name)?), name)))
        .filter(|(steps, _)| *steps <= far)
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, name)| name)
}

/// Lower case without separators, so that `max_depth` is `maxDepth`; none for what is too long.
fn folded(word: &str) -> Option<Vec<char>> {
    let mut chars = word.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    let folded = chars.by_ref().take(MAX_CHARS);
    let folded = folded.flat_map(char::to_lowercase).collect();
    chars.next().is_none().then_some(folded)
}

/// Insertions, deletions, replacements and swaps of neighbours from one word to the other.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (row, &a) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        let mut last = None;
        for (column, &b) in right.iter().enumerate() {
            let at = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(MAX_CHARS);
            let replaced = at(&above, column) + usize::from(a != b);
            let mut steps = replaced.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            if last == Some(a) && previous == Some(b) {
                steps = steps.min(at(&before, column.wrapping_sub(1)) + 1);
            }
            line.push(steps);
            last = Some(b);
        }
        previous = Some(a);
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}
