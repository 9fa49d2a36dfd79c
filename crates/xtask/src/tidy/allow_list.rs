//! Breaches that are known and waited for. The list only shrinks.
//!
//! A line is `rule path`. An entry that excuses nothing is itself a finding, so
//! that what was mended cannot come back unseen.

use super::finding::Finding;
use super::tree::Tree;

/// Where the list is.
pub const PATH: &str = "crates/xtask/tidy-allow.txt";
/// Entries there may be. Lower it when one goes; do not raise it.
pub const MOST_ENTRIES: usize = 0;

/// Takes away what the list excuses, and adds what is wrong with the list.
pub fn apply(tree: &Tree, findings: Vec<Finding>) -> Vec<Finding> {
    apply_with(tree, findings, MOST_ENTRIES)
}

/// As [`apply`], with a limit of one's own.
pub fn apply_with(tree: &Tree, findings: Vec<Finding>, most: usize) -> Vec<Finding> {
    let entries: Vec<(usize, &str)> = entries(tree.text(PATH).unwrap_or_default()).collect();
    let mut left = findings;
    let mut complaints = Vec::new();
    for &(line, entry) in &entries {
        let before = left.len();
        left.retain(|finding| format!("{} {}", finding.rule, finding.path) != entry);
        if left.len() == before {
            complaints.push(complaint(line, format!("`{entry}` excuses nothing"), "remove it"));
        }
    }
    if let Some(&(line, _)) = entries.get(most) {
        let what = format!("{} entries, {most} is the limit", entries.len());
        complaints.push(complaint(line, what, "mend what it excuses: the list only shrinks"));
    }
    left.append(&mut complaints);
    left
}

fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn complaint(line: usize, what: String, advice: &str) -> Finding {
    Finding { rule: "allow-list", path: PATH.into(), line, what, advice: advice.into() }
}
