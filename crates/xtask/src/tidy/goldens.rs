//! Golden files: the stored form of a thing, one file for each version of it.
//!
//! That each is fresh is a matter of the tests that compare it. Here it is
//! checked that none has outlived the thing it shows.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::tree::{Tree, is_rust, stem};

/// Each file below a `golden/` folder is named after a word in the code of its
/// crate: `cancel_requested.v1.json` after `CancelRequested`.
pub fn none_is_orphaned(tree: &Tree) -> Vec<Finding> {
    let goldens = tree.files().filter(|(path, _)| path.contains("/golden/"));
    let goldens = goldens.filter(|(path, _)| path.ends_with(".json"));
    let mut findings = Vec::new();
    for (path, _) in goldens {
        if !words_of_crate(tree, path).contains(&plain(stem(path))) {
            findings.push(Finding {
                rule: "golden",
                path: path.to_owned(),
                line: 1,
                what: format!("nothing in its crate is called `{}`", stem(path)),
                advice: "remove it, or name it after what it shows".into(),
            });
        }
    }
    findings
}

fn words_of_crate(tree: &Tree, path: &str) -> BTreeSet<String> {
    let folder = path.splitn(3, '/').take(2).collect::<Vec<_>>().join("/") + "/";
    let files = tree.rust().filter(|(path, _)| path.starts_with(&folder) && is_rust(path));
    let tokens = files.flat_map(|(_, tokens)| tokens);
    tokens.map(|token| plain(&token.text)).collect()
}

/// A name without case and joints, so that all ways to write it are one.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
