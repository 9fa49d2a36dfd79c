//! Which crate may know which. A crate exists to forbid a dependency, and this
//! is the list of what is not forbidden.

use super::finding::Finding;
use crate::workspace::Package;

/// A crate and the crates of the workspace it may depend on.
struct Layer {
    package: &'static str,
    may_know: &'static [&'static str],
}

const CORE: &str = "legation-core";
const STORE: &str = "legation-store";
const RUNNERS: &str = "legation-runners";
const ENGINE: &str = "legation-engine";
const SERVER: &str = "legation-server";

const LAYERS: &[Layer] = &[
    Layer { package: CORE, may_know: &[] },
    // The store keeps events without knowing what they mean.
    Layer { package: STORE, may_know: &[] },
    Layer { package: RUNNERS, may_know: &[CORE] },
    Layer { package: ENGINE, may_know: &[CORE, STORE, RUNNERS] },
    Layer { package: SERVER, may_know: &[CORE, ENGINE] },
    Layer { package: "legation", may_know: &[CORE, RUNNERS, ENGINE, SERVER] },
    // The simulator puts a journal with faults under the engine.
    Layer { package: "legation-sim", may_know: &[CORE, STORE, ENGINE] },
    Layer { package: "xtask", may_know: &[] },
];

/// The crates from outside that `core` may use: forms, hashes and errors. `jiff`
/// writes instants as dates; that nobody asks it for the time is a rule of its own.
const CORE_MAY_USE: &[&str] = &[
    "jiff",
    "jsonschema",
    "memchr",
    "rustc-hash",
    "schemars",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
];

/// Finds dependencies that point the wrong way.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(|package| check_one(package, packages)).collect()
}

fn check_one(package: &Package, all: &[Package]) -> Vec<Finding> {
    let found = |what: String, advice: &str| Finding {
        rule: "crate-direction",
        path: format!("crates/{}/Cargo.toml", package.folder),
        line: 1,
        what,
        advice: advice.into(),
    };
    let Some(layer) = LAYERS.iter().find(|layer| layer.package == package.name) else {
        let what = format!("`{}` has no place among the crates", package.name);
        return vec![found(what, "give it a line in xtask's layers.rs, with its reason")];
    };
    let mut findings = Vec::new();
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let is_ours = all.iter().any(|package| package.name == name);
        if is_ours && !layer.may_know.contains(&name) {
            let what = format!("`{}` must not know `{name}`", package.name);
            findings.push(found(what, "move the code to where it may know both"));
        }
        let is_foreign = !is_ours && !dependency.dev && package.name == CORE;
        if is_foreign && !CORE_MAY_USE.contains(&name) {
            let what = format!("`{CORE}` must not use `{name}`");
            findings.push(found(what, "do it outside, and hand the result in"));
        }
    }
    findings
}
