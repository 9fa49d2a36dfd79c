//! The documents against the code they describe, and their links.

use expect_test::expect;
use xtask::tidy::documents::{
    agents_file_is_short, commands_exist, every_code_is_documented, named_tests_exist,
};
use xtask::tidy::links::links_resolve;

use crate::sample::found;

const CODES: &str = "codes! {\n    Timeout = \"TIMEOUT\";\n    Conflict = \"CONFLICT\";\n}\n";

#[test]
fn codes_and_sections_are_matched_both_ways() {
    let errors = "# Errors\n\n## TIMEOUT\n\n## GONE\n\nIt went.\n\n## Exit codes\n\nThese.\n";
    let files = [("crates/core/src/code.rs", CODES), ("docs/errors.md", errors)];
    expect![[r#"
        crates/core/src/code.rs:3: [error-codes] `CONFLICT` has no section in docs/errors.md: write `## CODE` and what it means
        docs/errors.md:5: [error-codes] `GONE` is not a code in crates/core/src/code.rs: remove the section
        docs/errors.md:3: [error-codes] the section `TIMEOUT` is empty: say what it means and what to do
    "#]].assert_eq(&found(every_code_is_documented, &files));
}

#[test]
fn documented_codes_are_left_alone() {
    let errors = "## TIMEOUT\n\nToo late.\n\n## `CONFLICT`\n\nWrong state.\n";
    let files = [("crates/core/src/code.rs", CODES), ("docs/errors.md", errors)];
    assert_eq!(found(every_code_is_documented, &files), "");
}

#[test]
fn an_agents_file_of_90_lines_passes_and_one_of_91_does_not() {
    assert_eq!(found(agents_file_is_short, &[("AGENTS.md", &"x\n".repeat(90))]), "");
    expect![[r#"
        AGENTS.md:91: [agents-size] 91 lines, 90 is the limit: move what is not needed every time to another document
    "#]].assert_eq(&found(agents_file_is_short, &[("AGENTS.md", &"x\n".repeat(91))]));
}

#[test]
fn a_chore_that_does_not_exist_is_found() {
    let good = "Run `cargo xtask ci`, `cargo xtask ci --list`, or `cargo xtask --help`.";
    assert_eq!(found(commands_exist, &[("README.md", good)]), "");
    expect![[r#"
        README.md:2: [doc-command] there is no `cargo xtask polish`: there are ci, tidy, setup, conformance, coverage, bench, fuzz, soak, real-agents
    "#]].assert_eq(&found(commands_exist, &[("README.md", "\n$ cargo xtask polish --all\n")]));
}

#[test]
fn broken_links_are_found() {
    let readme =
        "[a](docs/gone.md) and [b](docs/errors.md#nowhere)\n\n[c](../out.md)\n[d](#missing)\n";
    let files = [("README.md", readme), ("docs/errors.md", "# Errors\n")];
    expect![[r#"
        README.md:1: [link] `docs/gone.md` is not there: mend the link, or write what it should lead to
        README.md:1: [link] `docs/errors.md` has no heading `#nowhere`: mend the link, or write what it should lead to
        README.md:3: [link] `../out.md` leads out of the repository: mend the link, or write what it should lead to
        README.md:4: [link] `README.md` has no heading `#missing`: mend the link, or write what it should lead to
    "#]].assert_eq(&found(links_resolve, &files));
}

#[test]
fn links_that_lead_somewhere_and_links_in_code_are_left_alone() {
    let readme = "# Legation: what?\n\
        [a](docs/errors.md) [b](docs/errors.md#max_depth_exceeded) [c](docs) [d](#legation-what)\n\
        [e](https://example.org/x) `[f](gone.md)`\n```\n[g](gone.md)\n```\n[h](./docs/../LICENSE-MIT \"text\")\n";
    let files = [
        ("README.md", readme),
        ("LICENSE-MIT", ""),
        ("docs/errors.md", "## `MAX_DEPTH_EXCEEDED`\n[up](../README.md)\n"),
    ];
    assert_eq!(found(links_resolve, &files), "");
}

#[test]
fn tests_that_do_not_exist_are_found() {
    let table = "As `crate::module`.\n\n| x | `core::money::sums_are_exact`, `core::money` |\n\
        | y | `core::money::gone`, `core::budget`, `core::bounds::depth::stops` |\n";
    let files = [
        ("docs/coverage.md", table),
        ("crates/core/tests/it/money.rs", "#[test]\nfn sums_are_exact() {}\n"),
        ("crates/core/tests/it/bounds/depth.rs", "#[test]\nfn stops() {}\n"),
    ];
    expect![[r#"
        docs/coverage.md:4: [test-name] there is no test `core::money::gone`: name the test that holds the promise, or write it
        docs/coverage.md:4: [test-name] there is no test `core::budget`: name the test that holds the promise, or write it
    "#]].assert_eq(&found(named_tests_exist, &files));
}
