//! Words that must not stand in the source.

use super::finding::Finding;
use super::lexer;
use super::tree::{Tree, is_source};

/// What `core` must not name: clocks, randomness, files, processes, threads.
/// The traits of `std::io` are no input or output by themselves.
const IMPURE: &[&[&str]] = &[
    &["std", ":", ":", "fs"],
    &["std", ":", ":", "env"],
    &["std", ":", ":", "net"],
    &["std", ":", ":", "process"],
    &["std", ":", ":", "thread"],
    &["io", ":", ":", "stdin"],
    &["io", ":", ":", "stdout"],
    &["io", ":", ":", "stderr"],
    &[":", ":", "now", "("],
    &["SystemTime"],
    &["Instant"],
    // The standard hasher draws a random seed, so its order differs from run to run.
    &["std", ":", ":", "collections", ":", ":", "HashMap"],
    &["std", ":", ":", "collections", ":", ":", "HashSet"],
    &["RandomState"],
    &["async"],
    &["await"],
];

/// One row of words, where it is banned, and what to do instead.
struct Ban {
    rule: &'static str,
    row: &'static [&'static str],
    advice: &'static str,
}

/// Every Rust file can be read as Rust.
pub fn files_can_be_read(tree: &Tree) -> Vec<Finding> {
    let unreadable = tree.unreadable();
    unreadable
        .map(|(path, line)| Finding {
            rule: "syntax",
            path: path.to_owned(),
            line,
            what: "this is not Rust".into(),
            advice: "close what was opened".into(),
        })
        .collect()
}

/// A lint is expected with a reason, never allowed.
pub fn no_allow_attribute(tree: &Tree) -> Vec<Finding> {
    let advice = "use #[expect(…, reason = \"…\")], or mend what the lint found";
    let rows: [&[&str]; 3] =
        [&["#", "[", "allow", "("], &["#", "!", "[", "allow", "("], &[",", "allow", "(", "clippy"]];
    let bans = rows.map(|row| Ban { rule: "attribute", row, advice });
    banned(tree, &bans, |_| true)
}

/// Nothing is left for later in the code.
pub fn nothing_unfinished(tree: &Tree) -> Vec<Finding> {
    let advice = "finish it, or leave it out";
    let rows: [&[&str]; 2] = [&["todo", "!"], &["unimplemented", "!"]];
    let bans = rows.map(|row| Ban { rule: "unfinished", row, advice });
    banned(tree, &bans, |_| true)
}

/// A test that does not run proves nothing.
pub fn no_ignored_test(tree: &Tree) -> Vec<Finding> {
    let advice = "make it run, or remove it";
    let row = &["#", "[", "ignore"];
    banned(tree, &[Ban { rule: "ignored-test", row, advice }], |_| true)
}

/// Tests wait for what they test, not for time to pass.
pub fn no_sleep_in_tests(tree: &Tree) -> Vec<Finding> {
    let advice = "wait for the thing itself: a message, a file, an exit";
    let rows: [&[&str]; 2] = [&["thread", ":", ":", "sleep"], &["time", ":", ":", "sleep"]];
    let bans = rows.map(|row| Ban { rule: "sleep", row, advice });
    banned(tree, &bans, |path| !is_source(path))
}

/// Tests live in `tests/it/`, where they see what a user of the crate sees.
pub fn no_inline_test(tree: &Tree) -> Vec<Finding> {
    let advice = "move the tests to a module of the crate's tests/it/";
    let row = &["cfg", "(", "test", ")"];
    banned(tree, &[Ban { rule: "inline-test", row, advice }], is_source)
}

/// `core` knows no clock, no randomness, no files, no processes and no async.
pub fn core_is_pure(tree: &Tree) -> Vec<Finding> {
    let advice = "let the fact come in with the question, and use rustc-hash for maps";
    let bans: Vec<Ban> = IMPURE.iter().map(|row| Ban { rule: "pure-core", row, advice }).collect();
    banned(tree, &bans, |path| path.starts_with("crates/core/src/"))
}

fn banned(tree: &Tree, bans: &[Ban], applies: fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.rust().filter(|(path, _)| applies(path)) {
        for ban in bans {
            let lines = lexer::occurrences(tokens, ban.row);
            findings.extend(lines.map(|line| Finding {
                rule: ban.rule,
                path: path.to_owned(),
                line,
                what: format!("`{}`", ban.row.concat()),
                advice: ban.advice.into(),
            }));
        }
    }
    findings
}
