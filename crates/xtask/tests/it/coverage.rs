//! Counts per line as a table.

use expect_test::expect;
use xtask::coverage::report::{Report, files};

const LCOV: &str = "\
SF:/x/core/src/b.rs
DA:1,3
DA:2,0
DA:3,0
DA:5,0
DA:6,1
DA:9,0
end_of_record
SF:/x/registry/other.rs
DA:1,0
end_of_record
SF:/x/core/src/a/deep.rs
DA:1,1
DA:2,1
end_of_record
";

#[test]
fn files_outside_the_folder_do_not_count_and_gaps_are_joined() {
    let report = Report::new(files(LCOV, "/x/core/src/"));
    expect![[r#"
        file                                  lines  covered  not covered
        a/deep.rs                                 2  100.0 %
        b.rs                                      6   33.3 %  2-5 9
        all                                       8   50.0 %"#]]
    .assert_eq(&report.to_string());
    assert_eq!(report.percent(), 50.0);
}

#[test]
fn many_gaps_are_cut_short() {
    let lines: String = (1..=30).map(|n| format!("DA:{n},{}\n", n % 2)).collect();
    let report = Report::new(files(&format!("SF:/x/a.rs\n{lines}"), "/x/"));
    let text = report.to_string();
    assert!(text.contains("2 4 6 8 10 12 14 16 and 7 more"), "{text}");
}

#[test]
fn nothing_to_run_is_covered_and_odd_lines_are_passed_over() {
    assert_eq!(Report::new(files("", "/x/")).percent(), 100.0);
    assert_eq!(Report::new(files("DA:1,0\nSF:/x/a.rs\nDA:one,2\nDA:3\n", "/x/")).percent(), 100.0);
}
