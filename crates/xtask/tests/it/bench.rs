//! Figures beside the limits they are meant to keep.

use expect_test::expect;
use xtask::bench::counts::collected;
use xtask::bench::peers::{self, Figures, Goal};
use xtask::bench::table::{Case, Measured, judged, text};

fn measured(line: &str, instructions: f64, nanos: Option<f64>) -> (Case, Measured) {
    (Case::from_json(line).unwrap(), Measured { instructions, nanos })
}

#[test]
fn a_limit_that_is_missed_is_marked() {
    let rows = judged(vec![
        measured(r#"{"name":"decide","rounds":9,"nanos":20000}"#, 51_234.4, Some(12_345.0)),
        measured(r#"{"name":"check","rounds":9,"nanos":2000}"#, 900.0, Some(2_500.0)),
        measured(r#"{"name":"parse","rounds":9,"things":1000000,"perSecond":5e8}"#, 2e6, Some(1e6)),
        measured(r#"{"name":"check-large","rounds":9,"flatWith":"check"}"#, 2_700.0, None),
        measured(r#"{"name":"evolve","rounds":9,"nanos":1000}"#, 800.0, None),
        measured(r#"{"name":"replay","rounds":9,"things":10,"perSecond":2e5}"#, 70.0, None),
    ]);
    expect![[r#"
        case                           instructions       time          got  wanted
        decide                               51,234   12.35 µs     12.35 µs  ≤ 20.00 µs
        check                                   900    2.50 µs      2.50 µs  ≤ 2.00 µs  MISSED
        parse                             2,000,000    1.00 ms      1.0 G/s  ≥ 500.0 M/s
        check-large                           2,700                  × 3.00  as check  MISSED
        evolve                                  800                          ≤ 1.00 µs  not measured
        replay                                   70                          ≥ 200.0 k/s  not measured"#]].assert_eq(&text(&rows));
    let missed: Vec<bool> = rows.iter().map(|row| row.is_missed()).collect();
    assert_eq!(missed, [false, true, false, true, false, false]);
}

#[test]
fn a_case_without_a_limit_is_refused() {
    let error = Case::from_json(r#"{"name":"x","rounds":1}"#).unwrap_err();
    assert_eq!(error.to_string(), "the case `x` has no limit");
}

#[test]
fn the_count_is_read_from_what_valgrind_says() {
    let said = "==7== Callgrind\n==7== Events    : Ir\n==7== Collected : 123456\n==7==\n";
    assert_eq!(collected(said), Some(123_456));
    assert_eq!(collected("==7== Callgrind\n"), None);
}

fn figures(text: &str) -> Figures {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_middle_of_several_runs_counts() {
    let runs = [
        r#"{"mode":"seq","wall_s":3.5}"#,
        r#"{"mode":"seq","wall_s":1.5}"#,
        r#"{"mode":"seq","wall_s":2.5}"#,
    ];
    let medians = peers::medians(&runs.map(figures));
    assert_eq!(serde_json::to_string(&medians).unwrap(), r#"{"mode":"seq","wall_s":2.5,"runs":3}"#);
}

#[test]
fn peers_stand_below_the_engine_with_their_ratios() {
    let found = [
        r#"{"peer":"legation","variant":"","mode":"seq","n":10,"cpu_ms_per_deleg":0.05}"#,
        r#"{"peer":"slow","variant":"","mode":"seq","n":10,"cpu_ms_per_deleg":5.5}"#,
        r#"{"peer":"slow","variant":"raw","mode":"seq","n":10,"cpu_ms_per_deleg":1.0}"#,
        r#"{"peer":"other","variant":"","mode":"seq","n":11,"cpu_ms_per_deleg":1.0}"#,
        r#"{"peer":"legation","variant":"","mode":"trees","n":5,"events_per_s_wall":40000.0}"#,
    ];
    let goals = [
        Goal::at_most("seq", 10, "cpu_ms_per_deleg", 0.1),
        Goal::at_least("trees", 5, "events_per_s_wall", 50_000.0),
        Goal::shown("fan", 5, "wall_s"),
    ];
    let found = found.map(figures);
    expect![[r#"
                                               legation       wanted
        seq 10: cpu_ms_per_deleg                 0.0500     ≤ 0.1000
            slow (raw)                             1.00       × 20.0
            slow                                   5.50        × 110
        trees 5: events_per_s_wall                40000      ≥ 50000  MISSED"#]]
    .assert_eq(&peers::table(&goals, &found));
    assert_eq!(goals.map(|goal| goal.is_missed(&found)), [false, true, false]);
}
