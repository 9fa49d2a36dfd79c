//! The list of known breaches.

use expect_test::expect;
use xtask::tidy::allow_list::{PATH, apply_with};
use xtask::tidy::finding::Finding;
use xtask::tidy::tree::Tree;

use crate::sample::text;

fn breach(path: &str) -> Finding {
    Finding {
        rule: "file-size",
        path: path.into(),
        line: 501,
        what: "too long".into(),
        advice: "split it".into(),
    }
}

fn after(list: &str, most: usize) -> String {
    let tree = Tree::new([(PATH, list)]);
    text(&apply_with(&tree, vec![breach("a.rs"), breach("b.rs")], most))
}

#[test]
fn an_entry_excuses_one_rule_in_one_file() {
    expect![[r#"
        b.rs:501: [file-size] too long: split it
    "#]]
    .assert_eq(&after("# known\n\nfile-size a.rs\n", 1));
}

#[test]
fn an_entry_that_excuses_nothing_is_a_finding() {
    expect![[r#"
        a.rs:501: [file-size] too long: split it
        b.rs:501: [file-size] too long: split it
        crates/xtask/tidy-allow.txt:1: [allow-list] `function-size a.rs` excuses nothing: remove it
    "#]]
    .assert_eq(&after("function-size a.rs\n", 1));
}

#[test]
fn more_entries_than_the_limit_are_a_finding() {
    expect![[r#"
        crates/xtask/tidy-allow.txt:2: [allow-list] 2 entries, 1 is the limit: mend what it excuses: the list only shrinks
    "#]].assert_eq(&after("file-size a.rs\nfile-size b.rs\n", 1));
}
