//! The house rules that no compiler checks.
//!
//! Each rule is a pure function from the files of the repository to what it
//! found, so that each is tested on a few lines of sample. No rule writes.

pub mod allow_list;
pub mod documents;
pub mod finding;
pub mod goldens;
pub mod layers;
pub mod layout;
pub mod lexer;
pub mod links;
pub mod sizes;
pub mod tree;
pub mod words;

use anyhow::{Result, bail};

use crate::process::{complain, say};
use crate::workspace;
use finding::Finding;
use tree::Tree;

/// Checks the house rules that no compiler checks.
#[derive(clap::Args)]
pub struct Args {}

/// A rule: what it looks at and what it finds.
pub struct Rule {
    /// Its name in findings and in the allow-list.
    pub name: &'static str,
    /// What it finds.
    pub check: fn(&Tree) -> Vec<Finding>,
}

/// Every rule that looks at files; the one about crates is in [`layers`].
pub const RULES: &[Rule] = &[
    Rule { name: "agents-size", check: documents::agents_file_is_short },
    Rule { name: "attribute", check: words::no_allow_attribute },
    Rule { name: "doc-command", check: documents::commands_exist },
    Rule { name: "error-codes", check: documents::every_code_is_documented },
    Rule { name: "file-name", check: layout::no_banned_name },
    Rule { name: "file-size", check: sizes::files_are_short },
    Rule { name: "function-size", check: sizes::functions_are_short },
    Rule { name: "golden", check: goldens::none_is_orphaned },
    Rule { name: "ignored-test", check: words::no_ignored_test },
    Rule { name: "inline-test", check: words::no_inline_test },
    Rule { name: "link", check: links::links_resolve },
    Rule { name: "machine-path", check: layout::no_path_of_a_machine },
    Rule { name: "module-doc", check: layout::modules_say_what_they_are },
    Rule { name: "pure-core", check: words::core_is_pure },
    Rule { name: "sleep", check: words::no_sleep_in_tests },
    Rule { name: "stranded", check: layout::no_stranded_test },
    Rule { name: "stray", check: layout::no_stray_file },
    Rule { name: "syntax", check: words::files_can_be_read },
    Rule { name: "test-binary", check: layout::one_test_binary_per_crate },
    Rule { name: "test-name", check: documents::named_tests_exist },
    Rule { name: "unfinished", check: words::nothing_unfinished },
];

/// Checks the workspace.
pub fn run(_args: &Args) -> Result<()> {
    let tree = Tree::load(&workspace::root())?;
    let mut findings = layers::check(&workspace::packages()?);
    findings.extend(RULES.iter().flat_map(|rule| (rule.check)(&tree)));
    let findings = allow_list::apply(&tree, findings);
    if findings.is_empty() {
        say(&format!("tidy: {} rules, {} files, nothing found", RULES.len() + 1, tree.len()));
        return Ok(());
    }
    for finding in &findings {
        complain(&finding.to_string());
    }
    bail!("tidy found {} things", findings.len());
}
