//! The figures of the suite.

use xtask::conformance::Tally;

#[test]
fn the_figures_are_read_from_the_end_of_what_the_suite_prints() {
    let printed = "=== SUMMARY ===\n✓ ping: 1 passed, 0 failed\n✗ sampling: 0 passed, 1 failed\n\n\
                   Total: 24 passed, 2 failed\n\n\
                   Expected failures (in baseline):\n  ~ sampling\n  ~ elicitation\n";
    assert_eq!(Tally::of(printed), Tally { passed: 24, failed: 2, expected: 2 });
    assert_eq!(Tally::of("it crashed"), Tally::default());
}
