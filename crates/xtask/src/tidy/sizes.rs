//! Quality lives in the tail: the largest files and the longest functions.
//!
//! Tests are left alone, for what they expect is part of their text.

use super::finding::Finding;
use super::lexer;
use super::tree::{Tree, is_source};

/// Lines a source file may have.
pub const FILE_LINES: usize = 500;
/// Lines of code the body of a function may have.
pub const FUNCTION_LINES: usize = 70;
/// The lint whose expectation excuses a long function, reason and all.
const EXCUSE: &[&str] = &["expect", "(", "clippy", ":", ":", "too_many_lines"];

/// No source file is longer than [`FILE_LINES`].
pub fn files_are_short(tree: &Tree) -> Vec<Finding> {
    let sources = tree.files().filter(|(path, _)| is_source(path));
    let sizes = sources.map(|(path, text)| (path, text.lines().count()));
    sizes
        .filter(|&(_, lines)| lines > FILE_LINES)
        .map(|(path, lines)| Finding {
            rule: "file-size",
            path: path.to_owned(),
            line: FILE_LINES + 1,
            what: format!("{lines} lines, {FILE_LINES} is the limit"),
            advice: "split it by what it is about".into(),
        })
        .collect()
}

/// No function has more than [`FUNCTION_LINES`] lines of code in its body.
pub fn functions_are_short(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.rust().filter(|(path, _)| is_source(path)) {
        let excused: Vec<usize> = lexer::occurrences(tokens, EXCUSE).collect();
        let mut before = 0;
        for function in lexer::functions(tokens) {
            // An expectation belongs to the next function after it.
            let is_excused = excused.iter().any(|line| (before..function.line).contains(line));
            before = function.line;
            if function.code_lines > FUNCTION_LINES && !is_excused {
                findings.push(Finding {
                    rule: "function-size",
                    path: path.to_owned(),
                    line: function.line,
                    what: format!(
                        "`{}` has {} lines, {FUNCTION_LINES} is the limit",
                        function.name, function.code_lines
                    ),
                    advice: "give its parts names, or expect clippy::too_many_lines with a reason"
                        .into(),
                });
            }
        }
    }
    findings
}
