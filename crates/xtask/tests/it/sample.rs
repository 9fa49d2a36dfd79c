//! Samples of a repository, and what a rule says about them.

use xtask::tidy::finding::Finding;
use xtask::tidy::tree::Tree;

/// What a rule finds in these files, one finding a line.
pub(crate) fn found(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> String {
    text(&rule(&Tree::new(files.iter().copied())))
}

/// Findings as they are printed.
pub(crate) fn text(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
