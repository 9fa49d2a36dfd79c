//! Words that must not stand in the source.

use expect_test::expect;
use xtask::tidy::finding::Finding;
use xtask::tidy::tree::Tree;
use xtask::tidy::words;

use crate::sample::found;

type Check = fn(&Tree) -> Vec<Finding>;

#[test]
fn each_banned_word_is_found_where_it_stands() {
    let cases: &[(Check, &str, &str, usize)] = &[
        (words::no_allow_attribute, "crates/core/src/a.rs", "\n#[allow(dead_code)]\nfn a() {}", 2),
        (words::no_allow_attribute, "crates/core/tests/it/a.rs", "#![allow(missing_docs)]", 1),
        (words::no_allow_attribute, "crates/core/src/a.rs", "#[cfg_attr(x, allow(clippy::y))]", 1),
        (words::nothing_unfinished, "crates/cli/src/a.rs", "fn a() {\n    todo!()\n}", 2),
        (words::nothing_unfinished, "crates/cli/src/a.rs", "fn a() { unimplemented!(\"x\") }", 1),
        (
            words::no_ignored_test,
            "crates/cli/tests/it/a.rs",
            "#[test]\n#[ignore = \"slow\"]\nfn a() {}",
            2,
        ),
        (
            words::no_sleep_in_tests,
            "crates/cli/tests/it/a.rs",
            "fn a() { std::thread::sleep(x) }",
            1,
        ),
        (words::no_sleep_in_tests, "crates/cli/tests/it/a.rs", "use tokio::time::sleep;", 1),
        (words::no_inline_test, "crates/core/src/a.rs", "#[cfg(test)]\nmod tests {}", 1),
        (words::core_is_pure, "crates/core/src/a.rs", "use std::fs::read;", 1),
        (words::core_is_pure, "crates/core/src/a.rs", "fn a() { let t = Timestamp::now(); }", 1),
        (words::core_is_pure, "crates/core/src/a.rs", "use std::collections::HashMap;", 1),
        (words::core_is_pure, "crates/core/src/a.rs", "async fn a() {}", 1),
        (words::files_can_be_read, "crates/core/src/a.rs", "fn a() {\n    (\n}\n", 3),
    ];
    for (check, path, source, line) in cases {
        let findings = check(&Tree::new([(*path, *source)]));
        let lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [*line], "{source}");
    }
}

#[test]
fn what_is_allowed_where_it_stands_is_left_alone() {
    let cases: &[(Check, &str, &str)] = &[
        (
            words::no_allow_attribute,
            "crates/core/src/a.rs",
            "#[expect(dead_code, reason = \"x\")]\nfn allow() {}",
        ),
        (
            words::nothing_unfinished,
            "crates/core/src/a.rs",
            "// todo!() is banned\nconst A: &str = \"todo!()\";",
        ),
        (words::no_ignored_test, "crates/core/tests/it/a.rs", "/// #[ignore]\nfn ignore() {}"),
        (words::no_sleep_in_tests, "crates/runners/src/a.rs", "fn a() { std::thread::sleep(x) }"),
        (words::no_inline_test, "crates/core/tests/it/a.rs", "#[cfg(test)]\nmod tests {}"),
        (words::core_is_pure, "crates/runners/src/a.rs", "use std::fs::read;"),
        (words::core_is_pure, "crates/core/tests/it/a.rs", "use std::fs::read;"),
        (
            words::core_is_pure,
            "crates/core/src/a.rs",
            "use std::collections::BTreeMap; use rustc_hash::FxHashMap;",
        ),
        (words::files_can_be_read, "crates/core/src/a.rs", "fn a() { ('x', b\"y\", r#\"z\"#); }"),
    ];
    for (check, path, source) in cases {
        assert_eq!(found(*check, &[(path, source)]), "", "{source}");
    }
}

#[test]
fn a_finding_says_what_to_do() {
    expect![[r#"
        crates/core/src/a.rs:1: [pure-core] `std::env`: let the fact come in with the question, and use rustc-hash for maps
    "#]].assert_eq(&found(words::core_is_pure, &[("crates/core/src/a.rs", "use std::env;")]));
}
