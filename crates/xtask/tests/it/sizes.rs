//! Files and functions that have grown too long.

use expect_test::expect;
use xtask::tidy::sizes::{files_are_short, functions_are_short};

use crate::sample::found;

fn lines(count: usize) -> String {
    "    step();\n".repeat(count)
}

#[test]
fn a_source_file_of_500_lines_passes_and_one_of_501_does_not() {
    let (fits, too_long) = ("\n".repeat(500), "\n".repeat(501));
    let files =
        [("crates/core/src/fits.rs", fits.as_str()), ("crates/core/src/long.rs", &too_long)];
    expect![[r#"
        crates/core/src/long.rs:501: [file-size] 501 lines, 500 is the limit: split it by what it is about
    "#]].assert_eq(&found(files_are_short, &files));
}

#[test]
fn a_long_test_file_or_document_is_left_alone() {
    let long = "\n".repeat(900);
    let files = [("crates/core/tests/it/story.rs", long.as_str()), ("README.md", &long)];
    assert_eq!(found(files_are_short, &files), "");
}

#[test]
fn a_function_of_70_lines_passes_and_one_of_71_does_not() {
    let source = format!("fn fits() {{\n{}}}\n\nfn long() {{\n{}}}\n", lines(70), lines(71));
    expect![[r#"
        crates/core/src/a.rs:74: [function-size] `long` has 71 lines, 70 is the limit: give its parts names, or expect clippy::too_many_lines with a reason
    "#]].assert_eq(&found(functions_are_short, &[("crates/core/src/a.rs", &source)]));
}

#[test]
fn comments_and_blank_lines_are_not_counted() {
    let quiet = "    // why\n\n    /// what\n    let x = 1;\n".repeat(40);
    let source = format!("fn quiet() {{\n{quiet}}}\n");
    assert_eq!(found(functions_are_short, &[("crates/core/src/a.rs", &source)]), "");
}

#[test]
fn every_line_of_a_long_string_counts() {
    let source = format!("fn text() -> &'static str {{\n    \"{}\"\n}}\n", "line\n".repeat(71));
    let said = found(functions_are_short, &[("crates/core/src/a.rs", &source)]);
    assert!(said.contains("`text` has 72 lines"), "{said}");
}

#[test]
fn methods_and_functions_in_macros_count_but_signatures_alone_do_not() {
    let body = lines(80);
    let source = format!(
        "impl A {{\n    fn method(&self) -> [u8; 3] {{\n{body}    }}\n}}\n\
         make! {{ fn made() {{\n{body}    }} }}\n\
         trait T {{ fn declared(&self, f: fn(u8) -> u8); }}\n"
    );
    let said = found(functions_are_short, &[("crates/core/src/a.rs", &source)]);
    let names: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
    assert_eq!(names, ["method", "made"]);
}

#[test]
fn an_expected_lint_excuses_the_next_function_only() {
    let body = lines(80);
    let source = format!(
        "#[expect(clippy::too_many_lines, reason = \"flat\")]\nfn first() {{\n{body}}}\n\
         fn second() {{\n{body}}}\n"
    );
    let said = found(functions_are_short, &[("crates/core/src/a.rs", &source)]);
    let names: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
    assert_eq!(names, ["second"]);
}
