//! Which crate may know which.

use expect_test::expect;
use xtask::tidy::layers;
use xtask::workspace::{Dependency, Package};

use crate::sample::text;

/// A crate from a line such as `legation-core: serde, proptest (dev)`.
fn package(line: &str) -> Package {
    let (name, dependencies) = line.split_once(':').unwrap();
    let dependencies = dependencies.split(',').map(str::trim).filter(|name| !name.is_empty());
    let dependencies = dependencies.map(|text| Dependency {
        name: text.trim_end_matches(" (dev)").to_owned(),
        dev: text.ends_with(" (dev)"),
    });
    Package {
        name: name.to_owned(),
        folder: name.trim_start_matches("legation-").to_owned(),
        dependencies: dependencies.collect(),
    }
}

fn found(lines: &[&str]) -> String {
    let packages: Vec<Package> = lines.iter().map(|line| package(line)).collect();
    text(&layers::check(&packages))
}

#[test]
fn dependencies_that_point_down_are_left_alone() {
    let lines = [
        "legation-core: serde, sha2, proptest (dev), criterion (dev)",
        "legation-runners: legation-core, toml",
        "legation-store: rusqlite",
        "legation-engine: legation-core, legation-store, legation-runners, tokio",
        "legation: legation-core, legation-engine, clap",
        "xtask: anyhow",
    ];
    assert_eq!(found(&lines), "");
}

#[test]
fn dependencies_that_point_up_are_found_in_tests_too() {
    let lines = [
        "legation-core: legation-runners",
        "legation-store: legation-core",
        "legation-runners: legation-core, legation-store (dev)",
    ];
    expect![[r#"
        crates/core/Cargo.toml:1: [crate-direction] `legation-core` must not know `legation-runners`: move the code to where it may know both
        crates/store/Cargo.toml:1: [crate-direction] `legation-store` must not know `legation-core`: move the code to where it may know both
        crates/runners/Cargo.toml:1: [crate-direction] `legation-runners` must not know `legation-store`: move the code to where it may know both
    "#]].assert_eq(&found(&lines));
}

#[test]
fn core_uses_only_what_it_may_use() {
    expect![[r#"
        crates/core/Cargo.toml:1: [crate-direction] `legation-core` must not use `tokio`: do it outside, and hand the result in
    "#]].assert_eq(&found(&["legation-core: serde, tokio, proptest (dev)"]));
}

#[test]
fn a_crate_without_a_place_is_found() {
    expect![[r#"
        crates/extra/Cargo.toml:1: [crate-direction] `legation-extra` has no place among the crates: give it a line in xtask's layers.rs, with its reason
    "#]].assert_eq(&found(&["legation-extra:"]));
}
