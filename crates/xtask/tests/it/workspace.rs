//! The repository itself.

use xtask::tidy::{self, tree::Tree};
use xtask::workspace;

#[test]
fn the_crates_are_those_that_cargo_knows() {
    let packages = workspace::packages().unwrap();
    let core = packages.iter().find(|package| package.name == "legation-core").unwrap();
    assert_eq!(core.folder, "core");
    assert!(core.dependencies.iter().any(|it| it.name == "serde" && !it.dev));
    assert!(core.dependencies.iter().any(|it| it.name == "proptest" && it.dev));
}

#[test]
fn the_tree_has_the_sources_and_nothing_that_was_built() {
    let tree = Tree::load(&workspace::root()).unwrap();
    assert!(tree.text("crates/core/src/lib.rs").unwrap().starts_with("//!"));
    assert!(
        tree.has("crates/core") && tree.has("docs/") && !tree.has("target") && !tree.has(".git")
    );
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<&str> = tidy::RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), tidy::RULES.len());
}
