//! Figures of real processes.

use xtask::bench::real::machine::{Used, least, middle};

#[test]
fn times_are_read_behind_the_name_of_the_program() {
    let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 9 0 0 12 3 40 5 20 0 1 0 99 1 1 1";
    assert_eq!(Used::from_stat(stat), Some(Used { own: 150.0, children: 450.0 }));
    assert_eq!(Used::from_stat("7 (a) S 1"), None);
    assert_eq!(Used::from_stat(""), None);
}

#[test]
fn this_process_has_used_something_and_no_process_nothing() {
    let before = Used::by("no process");
    assert_eq!(before, Used::default());
    assert_eq!(Used { own: 5.0, children: 3.0 }.since(Used { own: 1.0, children: 1.0 }).all(), 6.0);
}

#[test]
fn the_middle_does_not_care_for_the_order() {
    assert_eq!(middle(&[9.0, 1.0, 5.0]), 5.0);
    assert_eq!(least(&[9.0, 1.0, 5.0]), 1.0);
    assert!(middle(&[]).is_nan() && least(&[]).is_nan());
}
