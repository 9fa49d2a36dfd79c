//! How files are called, where they lie and how they open.

use expect_test::expect;
use xtask::tidy::{goldens, layout};

use crate::sample::found;

#[test]
fn names_that_could_hold_anything_are_found_in_files_and_folders() {
    let files = [
        ("crates/core/src/utils.rs", ""),
        ("crates/core/src/common/budget.rs", ""),
        ("crates/core/tests/it/helpers.rs", ""),
        ("crates/core/src/commonality.rs", ""),
        ("docs/common.md", ""),
    ];
    expect![[r#"
        crates/core/src/common/budget.rs:1: [file-name] `common` could hold anything: name it after what it is about
        crates/core/src/utils.rs:1: [file-name] `utils` could hold anything: name it after what it is about
        crates/core/tests/it/helpers.rs:1: [file-name] `helpers` could hold anything: name it after what it is about
    "#]].assert_eq(&found(layout::no_banned_name, &files));
}

#[test]
fn a_module_that_does_not_open_with_its_purpose_is_found() {
    let files = [
        ("crates/core/src/silent.rs", "use std::fmt;\n//! Too late.\n"),
        ("crates/core/src/outer.rs", "/// About something else.\nfn a() {}\n"),
        ("crates/core/src/good.rs", "//! What it is.\n"),
        ("crates/core/tests/it/story.rs", "#[test]\nfn a() {}\n"),
    ];
    expect![[r#"
        crates/core/src/outer.rs:1: [module-doc] the module does not say what it is: open it with //! : what it is, and what it never does
        crates/core/src/silent.rs:1: [module-doc] the module does not say what it is: open it with //! : what it is, and what it never does
    "#]].assert_eq(&found(layout::modules_say_what_they_are, &files));
}

#[test]
fn what_tools_leave_behind_is_found() {
    let files = [("crates/cli/tests/it/.a.rs.pending-snap", ""), ("b.rs.orig", ""), ("c.rs", "")];
    expect![[r#"
        b.rs.orig:1: [stray] a tool left this behind: remove it
        crates/cli/tests/it/.a.rs.pending-snap:1: [stray] a tool left this behind: remove it
    "#]]
    .assert_eq(&found(layout::no_stray_file, &files));
}

#[test]
fn a_file_of_tests_that_nobody_names_is_found() {
    let files = [
        ("crates/core/tests/it/main.rs", "mod story;\n"),
        ("crates/core/tests/it/story.rs", "mod words;\n"),
        ("crates/core/tests/it/story/words.rs", ""),
        ("crates/core/tests/it/story/deeds.rs", ""),
        ("crates/core/tests/it/stories.rs", ""),
    ];
    expect![[r#"
        crates/core/tests/it/stories.rs:1: [stranded] no module above names it, so its tests never run: add it with `mod`, or remove it
        crates/core/tests/it/story/deeds.rs:1: [stranded] no module above names it, so its tests never run: add it with `mod`, or remove it
    "#]]
    .assert_eq(&found(layout::no_stranded_test, &files));
}

#[test]
fn a_second_test_binary_is_found() {
    let files = [
        ("crates/core/tests/budget.rs", ""),
        ("crates/core/tests/it/main.rs", ""),
        ("crates/core/tests/it/budget/ledger.rs", ""),
    ];
    expect![[r#"
        crates/core/tests/budget.rs:1: [test-binary] a second test binary: make it a module of tests/it/main.rs
    "#]].assert_eq(&found(layout::one_test_binary_per_crate, &files));
}

#[test]
fn paths_of_one_machine_are_found_and_other_paths_are_not() {
    let private = ["home", "Users", "root"].map(|folder| format!("see `/{folder}/ana/notes`"));
    for line in &private {
        assert!(
            found(layout::no_path_of_a_machine, &[("README.md", line)]).contains("README.md:1:"),
            "{line}"
        );
        assert_eq!(found(layout::no_path_of_a_machine, &[("a/fixtures/x.json", line)]), "");
    }
    for line in
        ["see https://example.org/home/ana", "in ~/home/x", "GET /home/", "/etc/passwd", "a/work/b"]
    {
        assert_eq!(found(layout::no_path_of_a_machine, &[("README.md", line)]), "", "{line}");
    }
}

#[test]
fn a_golden_file_that_nothing_is_called_after_is_found() {
    let files = [
        ("crates/core/src/event.rs", "enum Event { CancelRequested }"),
        ("crates/core/tests/it/golden.rs", "fn a() { check(\"started\"); }"),
        ("crates/runners/src/other.rs", "struct Gone;"),
        ("crates/core/tests/it/golden/events/cancel_requested.v1.json", "{}"),
        ("crates/core/tests/it/golden/events/cancel-requested.v2.json", "{}"),
        ("crates/core/tests/it/golden/events/started.json", "{}"),
        ("crates/core/tests/it/golden/events/gone.v1.json", "{}"),
    ];
    expect![[r#"
        crates/core/tests/it/golden/events/gone.v1.json:1: [golden] nothing in its crate is called `gone`: remove it, or name it after what it shows
    "#]].assert_eq(&found(goldens::none_is_orphaned, &files));
}
