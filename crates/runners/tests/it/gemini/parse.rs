//! What it says, from recorded output.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use legation_runners::gemini::Gemini;

use crate::contract::hear;

fn check(output: &str, code: i32, expected: &Expect) {
    expected.assert_eq(&hear::<Gemini>(output, code));
}

#[test]
fn a_turn_with_tools_is_told() {
    check(
        include_str!("fixtures/tools.jsonl"),
        0,
        &expect![[r#"
        calls it d80b0064-54f9-4601-8aa6-280643e49b4d
        uses shell: echo hi-from-shell; id -u
        a tool came back
        uses mcp:legation/delegate_batch: parallel
        a tool came back
        said "All done."
        used 2400 in, 150 out, 21 reasoning, 600 read, 0 written, unknown by gemini-2.5-flash
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
        calls it d80b0064-54f9-4601-8aa6-280643e49b4d
        uses shell: touch zz
        a tool came back
        denied shell: Tool execution denied by policy.
        uses web: http://a.b
        a tool came back
        denied web: Tool "web_fetch" not found. Did you mean one of: "read_file"
        said "Done without."
        used 2400 in, 150 out, 21 reasoning, 600 read, 0 written, unknown by gemini-2.5-flash
        over
    "#]],
    );
}

#[test]
fn the_status_of_the_provider_is_read_from_the_exit_code() {
    let refused = include_str!("fixtures/refused.jsonl");
    let mut shown = String::new();
    for code in [144, 145, 147, 173, 244, 247, 1, 41, 53, 130] {
        let heard = hear::<Gemini>(refused, code);
        let _ = write!(shown, "{code}: {heard}");
    }
    expect![[r#"
        144: broken, provider: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        145: broken, login: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        147: broken, login: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        173: broken, rate_limit: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        244: broken, provider: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        247: broken, provider: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        1: broken, provider: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        41: broken, login: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        53: broken, turn_limit: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
        130: broken, provider: [API Error: {"error":{"code":400,"message":"stub error","status":"UNAVAILABLE"}}]
    "#]].assert_eq(&shown.replace("calls it d80b0064-54f9-4601-8aa6-280643e49b4d\n", ""));
}

#[test]
fn turns_that_are_used_up_are_told_with_what_they_used() {
    check(
        include_str!("fixtures/turns.jsonl"),
        53,
        &expect![[r#"
        calls it d80b0064-54f9-4601-8aa6-280643e49b4d
        used 1600 in, 100 out, 14 reasoning, 400 read, 0 written, unknown by gemini-2.5-flash
        broken, turn_limit: Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.
    "#]],
    );
}

#[test]
fn an_end_without_a_result_is_told_by_its_exit_code() {
    let mut shown = String::new();
    for code in [0, 1, 41, 53] {
        let heard = hear::<Gemini>("", code);
        let _ = write!(shown, "{code}: {heard}");
    }
    expect![[r#"
        0: broken, cut_off: Gemini CLI ended without a result.
        1: broken, cut_off: Gemini CLI ended without a result.
        41: broken, login: 
        53: broken, turn_limit: 
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_message_in_pieces_is_one_until_something_else_is_done() {
    let output = r#"{"type":"message","role":"assistant","content":"{\"status\":","delta":true}
{"type":"message","role":"assistant","content":"\"completed\"}","delta":true}
{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{"limit":3,"deep":{"a":"b"},"list":["c"],"file_path":"README.md"}}
{"type":"message","role":"user","content":"a result of a tool, as it seems"}
{"type":"message","role":"assistant","content":"Bye."}
{"type":"result","status":"success","stats":{"total_tokens":10,"input_tokens":6,"output_tokens":3,"cached":2}}
"#;
    check(
        output,
        0,
        &expect![[r#"
        said "{\"status\":\"completed\"}"
        uses read: README.md
        said "Bye."
        used 4 in, 3 out, 1 reasoning, 2 read, 0 written, unknown by some model
        over
    "#]],
    );
}

#[test]
fn a_message_without_an_end_is_told_in_parts() {
    let piece = "x".repeat(1 << 20);
    let line = format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{piece}\"}}\n");
    let heard = hear::<Gemini>(&line.repeat(5), 0);
    assert_eq!(heard.matches("said \"x").count(), 3);
}

#[test]
fn what_was_said_before_it_was_cut_off_is_told() {
    let line = r#"{"type":"message","role":"assistant","content":"Half of","delta":true}"#;
    check(
        &format!("{line}\n"),
        0,
        &expect![[r#"
        said "Half of"
        broken, cut_off: Gemini CLI ended without a result.
    "#]],
    );
}
