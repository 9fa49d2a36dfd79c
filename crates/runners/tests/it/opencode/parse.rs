//! What it says, from recorded output.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use legation_runners::envoy::{End, FaultKind, Outcome};
use legation_runners::opencode::{OpenCode, Parser};

use crate::contract::hear;

fn check(output: &str, code: i32, expected: &Expect) {
    expected.assert_eq(&hear::<OpenCode>(output, code));
}

#[test]
fn a_turn_with_tools_is_told() {
    check(
        include_str!("fixtures/tools.jsonl"),
        0,
        &expect![[r#"
        calls it ses_e1f962a64ffeKyLHZX0mPJ6HRT
        uses shell: echo hi-from-shell; id -u
        a tool came back
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        uses mcp:legation/delegate_batch: parallel
        a tool came back
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        said "All done."
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        over
    "#]],
    );
}

#[test]
fn what_was_denied_is_told() {
    check(
        include_str!("fixtures/denied.jsonl"),
        0,
        &expect![[r#"
        calls it ses_e1f962a64ffeKyLHZX0mPJ6HRT
        uses shell: touch zz
        a tool came back
        denied shell: The user has specified a rule which prevents you from using 
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        uses web: http://a.b
        a tool came back
        denied web: Model tried to call unavailable tool 'invalid'. Available to
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        said "Done without."
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        over
    "#]],
    );
}

#[test]
fn a_run_that_ends_after_a_no_can_be_asked_again() {
    check(
        include_str!("fixtures/rejected.jsonl"),
        0,
        &expect![[r#"
        calls it ses_e1f962a64ffeKyLHZX0mPJ6HRT
        uses web: http://a.b
        a tool came back
        denied web: The user rejected permission to use this specific tool call.
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, $0.00 by some model
        1000 in its context
        over
    "#]],
    );
}

#[test]
fn what_the_provider_refused_is_told_with_when_to_come_back() {
    check(
        include_str!("fixtures/refused.jsonl"),
        1,
        &expect![[r#"
        calls it ses_e1f962a64ffeKyLHZX0mPJ6HRT
        broken, rate_limit, again after 17 s: stub error
    "#]],
    );
}

#[test]
fn a_model_without_a_price_costs_nobody_knows_what() {
    check(
        include_str!("fixtures/no-price.jsonl"),
        0,
        &expect![[r#"
        calls it ses_e1f962a64ffeKyLHZX0mPJ6HRT
        said "first"
        used 800 in, 43 out, 7 reasoning, 200 read, 0 written, unknown by some model
        1000 in its context
        over
    "#]],
    );
}

#[test]
fn errors_are_told_apart() {
    let mut shown = String::new();
    for error in [
        r#"{"name":"APIError","data":{"message":"no","statusCode":400}}"#,
        r#"{"name":"APIError","data":{"message":"no","statusCode":401}}"#,
        r#"{"name":"APIError","data":{"message":"no","statusCode":529,"responseHeaders":{"retry-after":"-3"}}}"#,
        r#"{"name":"ProviderAuthError","data":{"message":"no key"}}"#,
        r#"{"name":"MessageAbortedError","data":{"message":"stopped"}}"#,
        r#"{"name":"UnknownError","data":{}}"#,
    ] {
        let line = format!("{{\"type\":\"error\",\"error\":{error}}}\n");
        let heard = hear::<OpenCode>(&line, 1);
        shown.push_str(&heard);
    }
    expect![[r#"
        broken, provider: no
        broken, login: no
        broken, rate_limit: no
        broken, login: no key
        broken, cut_off: stopped
        broken, provider: UnknownError
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_turn_is_over_only_if_its_last_step_is() {
    let mut shown = String::new();
    for (reason, code) in [
        ("stop", 0),
        ("stop", 1),
        ("length", 0),
        ("other", 0),
        ("tool-calls", 0),
        ("content-filter", 0),
        ("error", 0),
        ("unknown", 0),
    ] {
        let line = format!("{{\"type\":\"step_finish\",\"part\":{{\"reason\":\"{reason}\"}}}}\n");
        let heard = hear::<OpenCode>(&line, code);
        let _ = write!(shown, "{reason}, {code}: {heard}");
    }
    expect![[r#"
        stop, 0: over
        stop, 1: broken, cut_off: OpenCode ended in the middle.
        length, 0: over
        other, 0: over
        tool-calls, 0: broken, cut_off: OpenCode ended in the middle.
        content-filter, 0: broken, provider: The provider ended the answer.
        error, 0: broken, provider: The provider ended the answer.
        unknown, 0: broken, cut_off: OpenCode ended in the middle.
    "#]]
    .assert_eq(&shown);
}

#[test]
fn steps_that_are_used_up_end_the_turn() {
    let tools = include_str!("fixtures/tools.jsonl");
    let mut shown = Vec::new();
    for (max, lines) in [(2, 3), (2, 6), (2, 9), (3, 9)] {
        let mut parser = Parser::default();
        parser.begin(Some(max));
        let output: String = tools.lines().take(lines).map(|line| format!("{line}\n")).collect();
        parser.push(output.as_bytes(), &mut Vec::new());
        let outcome = parser.end(&End { status: None, last_words: "" });
        let is_told = matches!(&outcome, Outcome::Broken(fault) if fault.kind == FaultKind::Turns);
        shown.push((parser.is_used_up(), is_told));
    }
    // One that comes to an end by itself has not used up anything.
    assert_eq!(shown, [(false, false), (true, true), (false, false), (false, false)]);
}
