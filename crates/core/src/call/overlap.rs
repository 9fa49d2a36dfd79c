//! Subtasks that may come into each other's way: what they say they will change is held
//! against each other before anything starts.
//!
//! It is a forecast. Nothing is refused for it, and what nobody declared is not foreseen.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::config::Pattern;
use crate::tree::command::{Delegate, Target};

/// Warnings that are given; the rest is a number.
const MAX_WARNINGS: usize = 10;
/// Pairs of subtasks that are looked at: a forecast is worth only so much time.
const MAX_PAIRS: usize = 2_000;
/// Parts of a path that are compared; beyond it two paths count as the same.
const MAX_PARTS: usize = 64;
/// Letters of a part of a path that are compared.
const MAX_LETTERS: usize = 255;

/// What to warn of, a line for each two subtasks that run side by side and declare the same
/// file. Patterns whose subtasks never run side by side, or of which one is chosen, have none.
pub fn overlaps(delegate: &Delegate) -> Vec<String> {
    match delegate.pattern {
        Pattern::Parallel | Pattern::ParallelStreaming | Pattern::Dag => {}
        Pattern::Sequential
        | Pattern::Direct
        | Pattern::Debate
        | Pattern::Review
        | Pattern::Ensemble => return Vec::new(),
    }
    let order = Order::of(&delegate.subtasks);
    let mut warnings = Vec::new();
    let mut more = 0usize;
    for (one, other, files) in pairs(&delegate.subtasks) {
        if order.is_before(one, other) || order.is_before(other, one) {
            continue;
        }
        let (Some(one), Some(other)) = (delegate.subtasks.get(one), delegate.subtasks.get(other))
        else {
            continue;
        };
        if warnings.len() < MAX_WARNINGS {
            warnings.push(format!(
                "`{}` and `{}` run side by side and both mean to change {files}; the second to \
                 end may conflict. Let one depend on the other.",
                one.id, other.id
            ));
        } else {
            more = more.saturating_add(1);
        }
    }
    if more > 0 {
        warnings.push(format!("{more} more pairs of subtasks mean to change the same files."));
    }
    warnings
}

/// Pairs of subtasks, by position, that declare something which may be the same file.
fn pairs(subtasks: &[Target]) -> Vec<(usize, usize, &str)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let with_files = subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.files.is_empty());
    let with_files: Vec<(usize, &Target)> = with_files.collect();
    let mut looked_at = 0usize;
    for (at, (one, first)) in with_files.iter().enumerate() {
        for (other, second) in with_files.iter().skip(at.saturating_add(1)) {
            looked_at = looked_at.saturating_add(1);
            if looked_at > MAX_PAIRS {
                return found;
            }
            if let Some(file) = shared(first, second)
                && seen.insert((*one, *other))
            {
                found.push((*one, *other, file));
            }
        }
    }
    found
}

/// The first file of the one that may be a file of the other.
fn shared<'a>(one: &'a Target, other: &Target) -> Option<&'a str> {
    let meets =
        |file: &&String| other.files.iter().take(MAX_PARTS).any(|theirs| meet(file, theirs));
    one.files.iter().take(MAX_PARTS).find(meets).map(String::as_str)
}

/// Whether two paths or patterns may name the same file, or a folder and something in it.
fn meet(one: &str, other: &str) -> bool {
    let letters = |text: &str| text.chars().take(MAX_LETTERS).collect::<Vec<char>>();
    let any_letter = |letter: &char| *letter == '*';
    let same_letter = |a: &char, b: &char| a == b || *a == '?' || *b == '?';
    let same_part = |a: &&str, b: &&str| reach((&letters(a), &letters(b)), any_letter, same_letter);
    reach((&parts(one), &parts(other)), |part| *part == "**", same_part)
}

/// The parts of a path. What has no ending may be a folder, and means all that is in it.
fn parts(path: &str) -> Vec<&str> {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    let mut parts: Vec<&str> = parts.take(MAX_PARTS).collect();
    if path.ends_with('/') || !parts.last().is_some_and(|last| last.contains('.')) {
        parts.push("**");
    }
    parts
}

/// Whether something fits both sequences, some items of which stand for any number of
/// others. Each pair of positions is looked at once.
fn reach<T>(
    (one, other): (&[T], &[T]),
    is_any: impl Fn(&T) -> bool,
    fits: impl Fn(&T, &T) -> bool,
) -> bool {
    let mut open = vec![(0usize, 0usize)];
    let mut seen = BTreeSet::new();
    while let Some((i, j)) = open.pop() {
        if !seen.insert((i, j)) {
            continue;
        }
        let (a, b) = (one.get(i), other.get(j));
        let (next_i, next_j) = (i.saturating_add(1), j.saturating_add(1));
        match (a, b) {
            (None, None) => return true,
            (Some(a), _) if is_any(a) => {
                open.push((next_i, j));
                if b.is_some() {
                    open.push((i, next_j));
                }
            }
            (_, Some(b)) if is_any(b) => {
                open.push((i, next_j));
                if a.is_some() {
                    open.push((next_i, j));
                }
            }
            (Some(a), Some(b)) if fits(a, b) => open.push((next_i, next_j)),
            (_, _) => {}
        }
    }
    false
}

/// What comes before what.
struct Order {
    needs: Vec<Vec<usize>>,
}

impl Order {
    fn of(subtasks: &[Target]) -> Self {
        let positions: FxHashMap<&str, usize> =
            subtasks.iter().enumerate().map(|(at, subtask)| (subtask.id.as_str(), at)).collect();
        let needs = |subtask: &Target| {
            let ids = subtask.depends_on.iter();
            ids.filter_map(|id| positions.get(id.as_str()).copied()).collect()
        };
        Self { needs: subtasks.iter().map(needs).collect() }
    }

    /// Whether the one has ended before the other begins.
    fn is_before(&self, one: usize, other: usize) -> bool {
        let mut open = vec![other];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            if at == one {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.needs.get(at).into_iter().flatten());
            }
        }
        false
    }
}
