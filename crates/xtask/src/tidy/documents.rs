//! The documents against the code they describe.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::lexer::{self, Token};
use super::tree::Tree;
use crate::commands;

/// Where the codes are.
const CODES: &str = "crates/core/src/code.rs";
/// Where each has a section.
const ERRORS: &str = "docs/errors.md";
/// Where each promise has its tests.
const COVERAGE: &str = "docs/coverage.md";
/// What a coding agent reads first.
const AGENTS: &str = "AGENTS.md";
/// Lines it may have.
const AGENTS_LINES: usize = 90;

/// Every error code has a section in `docs/errors.md`, and no section is about nothing.
pub fn every_code_is_documented(tree: &Tree) -> Vec<Finding> {
    let Some((_, tokens)) = tree.rust().find(|(path, _)| *path == CODES) else {
        return Vec::new();
    };
    let codes = codes(tokens);
    let sections = sections(tree.text(ERRORS).unwrap_or_default());
    let found = |path: &str, line, what, advice: &str| Finding {
        rule: "error-codes",
        path: path.into(),
        line,
        what,
        advice: advice.into(),
    };
    let mut findings = Vec::new();
    for (code, &line) in codes.iter().filter(|(code, _)| !sections.contains_key(*code)) {
        let what = format!("`{code}` has no section in {ERRORS}");
        findings.push(found(CODES, line, what, "write `## CODE` and what it means"));
    }
    for (section, &(line, length)) in &sections {
        if !codes.contains_key(section) {
            let what = format!("`{section}` is not a code in {CODES}");
            findings.push(found(ERRORS, line, what, "remove the section"));
        } else if length == 0 {
            let what = format!("the section `{section}` is empty");
            findings.push(found(ERRORS, line, what, "say what it means and what to do"));
        }
    }
    findings
}

/// The codes and their lines: literals that stand after a `=`.
fn codes(tokens: &[Token]) -> BTreeMap<String, usize> {
    let pairs = tokens.windows(2);
    pairs
        .filter_map(|pair| match pair {
            [sign, literal] if sign.text == "=" => {
                let code = literal.text.strip_prefix('"')?.strip_suffix('"')?;
                is_code(code).then(|| (code.to_owned(), literal.line))
            }
            _ => None,
        })
        .collect()
}

/// The sections, their lines, and how many lines of text each has.
fn sections(text: &str) -> BTreeMap<String, (usize, usize)> {
    let mut sections = BTreeMap::new();
    let mut current: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            let heading = heading.trim().trim_matches('`');
            current = is_code(heading).then(|| heading.to_owned());
            if let Some(code) = &current {
                sections.insert(code.clone(), (number + 1, 0));
            }
        } else if let Some(section) = current.as_ref().and_then(|code| sections.get_mut(code)) {
            section.1 += usize::from(!line.trim().is_empty());
        }
    }
    sections
}

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// What is read before every piece of work stays short.
pub fn agents_file_is_short(tree: &Tree) -> Vec<Finding> {
    let lines = tree.text(AGENTS).unwrap_or_default().lines().count();
    let finding = (lines > AGENTS_LINES).then(|| Finding {
        rule: "agents-size",
        path: AGENTS.into(),
        line: AGENTS_LINES + 1,
        what: format!("{lines} lines, {AGENTS_LINES} is the limit"),
        advice: "move what is not needed every time to another document".into(),
    });
    finding.into_iter().collect()
}

/// Every `cargo xtask …` that a document names exists.
pub fn commands_exist(tree: &Tree) -> Vec<Finding> {
    let known = commands::names();
    let documents = tree.files().filter(|(path, _)| path.ends_with(".md"));
    let mut findings = Vec::new();
    for (path, text) in documents {
        for (number, line) in text.lines().enumerate() {
            let named = line.split("cargo xtask ").skip(1).filter_map(first_word);
            let unknown = named.filter(|word| !known.iter().any(|chore| chore == word));
            findings.extend(unknown.map(|word| Finding {
                rule: "doc-command",
                path: path.to_owned(),
                line: number + 1,
                what: format!("there is no `cargo xtask {word}`"),
                advice: format!("there are {}", known.join(", ")),
            }));
        }
    }
    findings
}

/// The word a line goes on with, unless it goes on with an option or a placeholder.
fn first_word(rest: &str) -> Option<&str> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
    // An option is no chore.
    rest.get(..end).filter(|word| word.starts_with(|letter: char| letter.is_ascii_lowercase()))
}

/// Every test that `docs/coverage.md` names exists.
pub fn named_tests_exist(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(COVERAGE).unwrap_or_default();
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split('`').skip(1).step_by(2);
        let named = code.filter(|name| name.contains("::") && !test_exists(tree, name));
        // The line that explains the form names no test.
        let named = named.filter(|_| line.starts_with('|'));
        findings.extend(named.map(|name| Finding {
            rule: "test-name",
            path: COVERAGE.into(),
            line: number + 1,
            what: format!("there is no test `{name}`"),
            advice: "name the test that holds the promise, or write it".into(),
        }));
    }
    findings
}

/// Whether `crate::module` or `crate::module::test` is there.
fn test_exists(tree: &Tree, name: &str) -> bool {
    let Some((folder, rest)) = name.split_once("::") else {
        return false;
    };
    let module = |path: &str| format!("crates/{folder}/tests/it/{}.rs", path.replace("::", "/"));
    if tree.has(&module(rest)) {
        return true;
    }
    let (path, test) = rest.rsplit_once("::").unwrap_or(("main", rest));
    let path = module(path);
    let mut files = tree.rust().filter(|(file, _)| *file == path);
    files.any(|(_, tokens)| lexer::occurrences(tokens, &["fn", test]).next().is_some())
}
