use expect_test::expect;
use legation_core::returns::{MAX_PATH_BYTES, normalise_path};
use proptest::prelude::*;

#[test]
fn a_path_has_one_form_or_a_reason_why_not() {
    let paths = [
        "out.txt",
        "./out.txt",
        "a/b.txt",
        "a//b.txt",
        "a/b/",
        "a/./b",
        "a/../b",
        "a/b/../../c",
        ".hidden",
        "...",
        "..a",
        "ordner/ä.txt",
        "a b.txt",
        "-rf",
        "~/x",
        "a:b/c",
        // Not paths in the workspace.
        "",
        "  ",
        ".",
        "./",
        "a/..",
        "..",
        "../x",
        "a/../../x",
        "a/../../workspace/x",
        "/",
        "/etc/passwd",
        "//host/share",
        "\\\\host\\share",
        "a\\..\\..\\x",
        "C:/x",
        "c:x",
        "C:\\x",
        "a\0b",
        "a\nb",
        "\u{7f}",
    ];
    let told: String = paths
        .iter()
        .map(|path| match normalise_path(path) {
            Ok(normal) => format!("{path:?} → {normal:?}\n"),
            Err(bad) => format!("{path:?} {bad}\n"),
        })
        .collect();
    expect![[r#"
        "out.txt" → "out.txt"
        "./out.txt" → "out.txt"
        "a/b.txt" → "a/b.txt"
        "a//b.txt" → "a/b.txt"
        "a/b/" → "a/b"
        "a/./b" → "a/b"
        "a/../b" has a `..` step, which could leave the workspace
        "a/b/../../c" has a `..` step, which could leave the workspace
        ".hidden" → ".hidden"
        "..." → "..."
        "..a" → "..a"
        "ordner/ä.txt" → "ordner/ä.txt"
        "a b.txt" → "a b.txt"
        "-rf" → "-rf"
        "~/x" → "~/x"
        "a:b/c" is absolute; paths are relative to the workspace
        "" is empty
        "  " is empty
        "." names the workspace itself; name a file or folder in it
        "./" names the workspace itself; name a file or folder in it
        "a/.." has a `..` step, which could leave the workspace
        ".." has a `..` step, which could leave the workspace
        "../x" has a `..` step, which could leave the workspace
        "a/../../x" has a `..` step, which could leave the workspace
        "a/../../workspace/x" has a `..` step, which could leave the workspace
        "/" is absolute; paths are relative to the workspace
        "/etc/passwd" is absolute; paths are relative to the workspace
        "//host/share" is absolute; paths are relative to the workspace
        "\\\\host\\share" contains a backslash; folders are separated by `/`
        "a\\..\\..\\x" contains a backslash; folders are separated by `/`
        "C:/x" is absolute; paths are relative to the workspace
        "c:x" is absolute; paths are relative to the workspace
        "C:\\x" contains a backslash; folders are separated by `/`
        "a\0b" contains a control character
        "a\nb" contains a control character
        "\u{7f}" contains a control character
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_path_may_have_so_many_bytes_and_no_more() {
    assert!(normalise_path(&"a".repeat(MAX_PATH_BYTES)).is_ok());
    let bad = normalise_path(&"a".repeat(MAX_PATH_BYTES + 1)).unwrap_err();
    assert_eq!(bad.to_string(), "has 4097 bytes; at most 4096 are allowed");
}

proptest! {
    #[test]
    fn a_normal_path_stays_inside_and_is_its_own_normal_form(path in "[a/.~ C:é\\\\-]{0,24}") {
        let inside = |normal: &str| normal.split('/').all(|step| !["", ".", ".."].contains(&step));
        // Leaving `./` out may bring a drive to the front; then it is no path at all.
        let stable = |normal: &str| normalise_path(normal).map_or(true, |again| again == normal);
        let outcome = normalise_path(&path);
        prop_assert!(outcome.as_deref().map_or(true, |n| inside(n) && stable(n)), "{:?}", outcome);
    }
}
