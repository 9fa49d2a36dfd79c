//! Which tools will do.

use xtask::setup::{DENY, version};

#[test]
fn the_version_is_the_first_number_that_a_tool_prints() {
    let cases = [
        ("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143\n", Some((0, 9))),
        ("cargo-deny 0.20.2\n", Some((0, 20))),
        ("no such command\n", None),
        ("", None),
    ];
    for (said, expected) in cases {
        assert_eq!(version(said), expected, "{said}");
    }
}

#[test]
fn what_is_installed_is_new_enough() {
    assert!(version(DENY.pinned).is_some_and(|pinned| pinned >= DENY.at_least));
}
