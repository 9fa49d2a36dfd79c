//! Figures in words, and how a refusal reads.

use expect_test::expect;
use legation_core::Code;
use legation_core::tree::Rejection;
use legation_core::tree::rejection::{Refusal, separated, thousands};
use serde_json::json;

#[test]
fn digits_stand_in_groups_of_three() {
    let cases = [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1_000, "1,000"),
        (85_000, "85,000"),
        (1_234_567, "1,234,567"),
        (u64::MAX, "18,446,744,073,709,551,615"),
    ];
    for (number, text) in cases {
        assert_eq!(separated(number), text);
    }
}

#[test]
fn whole_thousands_are_short_and_everything_else_is_written_out() {
    let cases = [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_001, "1,001"),
        (100_000, "100k"),
        (123_456, "123,456"),
        (2_000_000, "2,000k"),
    ];
    for (number, text) in cases {
        assert_eq!(thousands(number), text);
    }
}

#[test]
fn a_refusal_reads_first_line_figures_suggestion() {
    let refusal = Refusal::new(Code::Conflict, "It is too late.", "Come back tomorrow.");
    expect![[r#"
        It is too late.

        Suggestion: Come back tomorrow."#]]
    .assert_eq(&refusal.to_text());
    let refusal = refusal.with(json!({"hour": 25}), &["Hour: 25".to_owned()]);
    expect![[r#"
        It is too late.

        Hour: 25

        Suggestion: Come back tomorrow."#]]
    .assert_eq(&refusal.to_text());
    expect!["No."].assert_eq(&Refusal::new(Code::Conflict, "No.", "").to_text());
}

#[test]
fn a_refusal_in_json_has_code_message_hint_and_details() {
    let refusal = Refusal::new(Code::Conflict, "It is too late.", "Come back tomorrow.");
    let refusal = refusal.with(json!({"hour": 25}), &["Hour: 25".to_owned()]);
    expect![[r#"{"code":"CONFLICT","message":"It is too late.","hint":"Come back tomorrow.","details":{"hour":25}}"#]].assert_eq(&serde_json::to_string(&refusal).unwrap());
}

#[test]
fn what_is_missing_is_named_for_programs_too() {
    let Rejection::Refused(refusal) = Rejection::not_found("delegation", "del-x") else {
        panic!("it is a refusal")
    };
    assert_eq!(*refusal.details, json!({"missing": "delegation", "id": "del-x"}));
}

#[test]
fn numbers_of_a_tree_are_written_short() {
    use legation_core::tree::{AttemptNo, SubtaskNo};
    assert_eq!(format!("{:?} {:?}", SubtaskNo(3), AttemptNo(14)), "#3 #14");
    let state = legation_core::tree::State::default();
    assert_eq!(format!("{:?}", state.attempts), "[]");
    assert!(state.attempts.is_empty());
}
