//! How files are called, where they lie and how they open.

use super::finding::Finding;
use super::tree::{Tree, file_name, is_rust, is_source, stem};

/// Names that say nothing about what is inside.
const BANNED_NAMES: &[&str] =
    &["utils", "util", "helpers", "helper", "common", "manager", "imp", "misc"];
/// Endings of files that a tool left behind.
const STRAY: &[&str] = &[".pending-snap", ".snap.new", ".orig", ".rej", ".profraw", ".swp", "~"];
/// Folders at the top of a machine below which people work.
const PRIVATE_FOLDERS: &[&str] = &["home", "Users", "root", "work"];

/// A module is named after what it is about.
pub fn no_banned_name(tree: &Tree) -> Vec<Finding> {
    let rust = tree.files().filter(|(path, _)| is_rust(path));
    let named = rust.filter_map(|(path, _)| {
        let mut names = path.split('/').map(stem);
        let banned = names.find(|name| BANNED_NAMES.contains(name))?;
        Some((path, banned))
    });
    named
        .map(|(path, banned)| Finding {
            rule: "file-name",
            path: path.to_owned(),
            line: 1,
            what: format!("`{banned}` could hold anything"),
            advice: "name it after what it is about".into(),
        })
        .collect()
}

/// Every module opens with `//!`.
pub fn modules_say_what_they_are(tree: &Tree) -> Vec<Finding> {
    let sources = tree.files().filter(|(path, _)| is_source(path));
    let silent = sources.filter(|(_, text)| !text.trim_start().starts_with("//!"));
    silent
        .map(|(path, _)| Finding {
            rule: "module-doc",
            path: path.to_owned(),
            line: 1,
            what: "the module does not say what it is".into(),
            advice: "open it with //! : what it is, and what it never does".into(),
        })
        .collect()
}

/// What a tool left behind is not committed.
pub fn no_stray_file(tree: &Tree) -> Vec<Finding> {
    let stray = tree.files().filter(|(path, _)| {
        let name = file_name(path);
        STRAY.iter().any(|ending| name.ends_with(ending))
    });
    stray
        .map(|(path, _)| Finding {
            rule: "stray",
            path: path.to_owned(),
            line: 1,
            what: "a tool left this behind".into(),
            advice: "remove it".into(),
        })
        .collect()
}

/// Every file of tests is a module of the one above it: one that nobody names is never
/// compiled, and its tests never fail.
pub fn no_stranded_test(tree: &Tree) -> Vec<Finding> {
    let tests = tree.files().filter(|(path, _)| is_rust(path) && path.contains("/tests/it/"));
    let stranded = tests.filter(|(path, _)| {
        let Some((folder, _)) = path.rsplit_once('/') else { return false };
        let above = [format!("{folder}.rs"), format!("{folder}/main.rs")];
        let named = format!("mod {};", stem(path));
        let names = |above: &String| tree.text(above).is_some_and(|text| text.contains(&named));
        file_name(path) != "main.rs" && !above.iter().any(names)
    });
    stranded
        .map(|(path, _)| Finding {
            rule: "stranded",
            path: path.to_owned(),
            line: 1,
            what: "no module above names it, so its tests never run".into(),
            advice: "add it with `mod`, or remove it".into(),
        })
        .collect()
}

/// All tests of a crate are modules of `tests/it/`: one binary to link, not twenty.
pub fn one_test_binary_per_crate(tree: &Tree) -> Vec<Finding> {
    let rust = tree.files().filter(|(path, _)| is_rust(path));
    let outside = rust.filter(|(path, _)| {
        let below = path.strip_prefix("crates/").and_then(|path| path.split_once("/tests/"));
        below.is_some_and(|(_, file)| !file.starts_with("it/"))
    });
    outside
        .map(|(path, _)| Finding {
            rule: "test-binary",
            path: path.to_owned(),
            line: 1,
            what: "a second test binary".into(),
            advice: "make it a module of tests/it/main.rs".into(),
        })
        .collect()
}

/// A path that exists on one machine only is no use on another. Recorded
/// fixtures are left alone.
pub fn no_path_of_a_machine(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        if path.contains("/fixtures/") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if let Some(folder) = PRIVATE_FOLDERS.iter().find(|folder| names(line, folder)) {
                findings.push(Finding {
                    rule: "machine-path",
                    path: path.to_owned(),
                    line: number + 1,
                    what: format!("a path below /{folder} of somebody's machine"),
                    advice: "make it relative".into(),
                });
            }
        }
    }
    findings
}

/// Whether the line has an absolute path to something below this folder.
fn names(line: &str, folder: &str) -> bool {
    let needle = format!("/{folder}/");
    line.match_indices(&needle).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line.get(at + needle.len()..).and_then(|after| after.chars().next());
        let is_absolute = before.is_none_or(|c| !is_of_a_path(c));
        is_absolute && after.is_some_and(char::is_alphanumeric)
    })
}

fn is_of_a_path(c: char) -> bool {
    c.is_alphanumeric() || "._-~/$}*>".contains(c)
}
