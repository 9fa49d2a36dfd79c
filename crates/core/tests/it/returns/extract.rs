use expect_test::expect;
use legation_core::returns::extract;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::any_json;

/// The object that is found, or why there is none.
fn found(output: &str) -> String {
    match extract(output) {
        Ok(found) => found.value.to_string(),
        Err(absent) => absent.to_string(),
    }
}

#[test]
fn the_return_is_the_last_object_that_stands_on_its_own() {
    let cases = [
        // Bare, with blanks, a byte order mark, over several lines.
        r#"{"status":"a"}"#,
        "\u{feff}  \r\n {\"status\":\n\t\"a\"}\n\n",
        // Between fences of either kind, with or without a language.
        "Done.\n```json\n{\"status\":\"a\"}\n```\n",
        "~~~\n{\"status\":\"a\"}\n~~~",
        "```\n{\"status\":\"a\"}", // never closed
        "```json {\"status\":\"a\"} ```",
        // After prose and before it; the last one wins.
        r#"I am done: {"status":"a"} Thank you."#,
        r#"{"status":"draft"} and then {"status":"a"}"#,
        "```json\n{\"status\":\"example\"}\n```\n{\"status\":\"a\"}",
        // Objects without a status are only taken when there is nothing better.
        r#"{"status":"a"} println!("{}", {"level":"info"})"#,
        r#"{"x":1} {"y":2}"#,
        r#"{"x":{"status":"inner"}} {"status":"a"} {"x":{"status":"inner"}}"#,
        // Braces in prose and code.
        "fn main() { let x = {1}; } {\"status\":\"a\"}",
        "if (a[0]) { b[] } {\"status\":\"a\"} }}}]]]",
        "{{{{\"status\":\"a\"}",
        "[x] done, [ ] open, [1] cited {\"status\":\"a\"}",
        "[delegate:do it:2]\n{\"status\":\"a\"}",
        // Braces, quotes and backslashes inside strings.
        r#"{"status":"}{\"\\","k":"[{"}"#,
        r#"He said "{" and {"status":"a"}"#,
        r#"It starts with "[" or "{" {"status":"a"}"#,
        r#"use {"x or ["y" then {"status":"a"}"#,
        // A line that began like JSON and broke off.
        "{\"status\":\"broken off here\n{\"status\":\"a\"}",
        "{\"status\": \"x\", {\"status\":\"a\"}",
        "{\"status\": [1, 2, ...], \"n\": 1}\n{\"status\":\"a\"}",
        "{'status': 'python'} {\"status\":\"a\"}",
    ];
    let told: String =
        cases.iter().map(|output| format!("{output:?}\n  {}\n", found(output))).collect();
    expect![[r#"
        "{\"status\":\"a\"}"
          {"status":"a"}
        "\u{feff}  \r\n {\"status\":\n\t\"a\"}\n\n"
          {"status":"a"}
        "Done.\n```json\n{\"status\":\"a\"}\n```\n"
          {"status":"a"}
        "~~~\n{\"status\":\"a\"}\n~~~"
          {"status":"a"}
        "```\n{\"status\":\"a\"}"
          {"status":"a"}
        "```json {\"status\":\"a\"} ```"
          {"status":"a"}
        "I am done: {\"status\":\"a\"} Thank you."
          {"status":"a"}
        "{\"status\":\"draft\"} and then {\"status\":\"a\"}"
          {"status":"a"}
        "```json\n{\"status\":\"example\"}\n```\n{\"status\":\"a\"}"
          {"status":"a"}
        "{\"status\":\"a\"} println!(\"{}\", {\"level\":\"info\"})"
          {"status":"a"}
        "{\"x\":1} {\"y\":2}"
          {"y":2}
        "{\"x\":{\"status\":\"inner\"}} {\"status\":\"a\"} {\"x\":{\"status\":\"inner\"}}"
          {"status":"a"}
        "fn main() { let x = {1}; } {\"status\":\"a\"}"
          {"status":"a"}
        "if (a[0]) { b[] } {\"status\":\"a\"} }}}]]]"
          {"status":"a"}
        "{{{{\"status\":\"a\"}"
          {"status":"a"}
        "[x] done, [ ] open, [1] cited {\"status\":\"a\"}"
          {"status":"a"}
        "[delegate:do it:2]\n{\"status\":\"a\"}"
          {"status":"a"}
        "{\"status\":\"}{\\\"\\\\\",\"k\":\"[{\"}"
          {"status":"}{\"\\","k":"[{"}
        "He said \"{\" and {\"status\":\"a\"}"
          {"status":"a"}
        "It starts with \"[\" or \"{\" {\"status\":\"a\"}"
          {"status":"a"}
        "use {\"x or [\"y\" then {\"status\":\"a\"}"
          {"status":"a"}
        "{\"status\":\"broken off here\n{\"status\":\"a\"}"
          {"status":"a"}
        "{\"status\": \"x\", {\"status\":\"a\"}"
          {"status":"a"}
        "{\"status\": [1, 2, ...], \"n\": 1}\n{\"status\":\"a\"}"
          {"status":"a"}
        "{'status': 'python'} {\"status\":\"a\"}"
          {"status":"a"}
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_is_not_an_object_of_its_own_is_no_return() {
    let cases = [
        "",
        "   \n",
        "not json",
        "[1]",
        "null",
        "\"text\"",
        "17",
        "[{\"status\":\"in a list\"}]",
        "```json\n[{\"status\":\"in a list\"}]\n```",
        "\"{\\\"status\\\":\\\"in a string\\\"}\"",
        "{",
        "}",
        "{]",
        "{}",
        "{x}",
        "Code: { let x = 1; }",
        "{\"status\"",
        "{\"status\":",
        "{\"status\":\"compl",
        "{\"status\":\"a\",}",
        "{\"status\" \"a\"}",
        "{\"status\":\"a\" \"b\":1}",
        "{\"status\":tru}",
        "line one\n{\"status\":\"a\", \"artifacts\":[{\"type\":\"x\",\"path\":\"y\"}",
        "{\"a\":1}\n{\"status\":\"a\",\n  \"summary\": oops}",
        "{\"a\":1} {\"b\":[1,{\"c\":2}",
        "{\"status\":\"\\ud800\"}",
        "{\"status\":\"\\x\"}",
        "{\"status\":01}",
        "{\"status\":1e999}",
        "text\n{\"status\":\n -}",
    ];
    let told: String =
        cases.iter().map(|output| format!("{output:?}\n  {}\n", found(output))).collect();
    expect![[r#"
        ""
          there is no JSON object in the output
        "   \n"
          there is no JSON object in the output
        "not json"
          there is no JSON object in the output
        "[1]"
          the output has a JSON list where an object is needed
        "null"
          there is no JSON object in the output
        "\"text\""
          there is no JSON object in the output
        "17"
          there is no JSON object in the output
        "[{\"status\":\"in a list\"}]"
          the output has a JSON list where an object is needed
        "```json\n[{\"status\":\"in a list\"}]\n```"
          the output has a JSON list where an object is needed
        "\"{\\\"status\\\":\\\"in a string\\\"}\""
          there is no JSON object in the output
        "{"
          there is no JSON object in the output
        "}"
          there is no JSON object in the output
        "{]"
          there is no JSON object in the output
        "{}"
          {}
        "{x}"
          there is no JSON object in the output
        "Code: { let x = 1; }"
          there is no JSON object in the output
        "{\"status\""
          line 1, column 10: the output ends inside the object
        "{\"status\":"
          line 1, column 11: the output ends inside the object
        "{\"status\":\"compl"
          line 1, column 17: the output ends inside a string
        "{\"status\":\"a\",}"
          line 1, column 15: expected a key in quotes
        "{\"status\" \"a\"}"
          line 1, column 11: expected `:` after the key
        "{\"status\":\"a\" \"b\":1}"
          line 1, column 15: expected `,` or the closing bracket
        "{\"status\":tru}"
          line 1, column 11: expected a value
        "line one\n{\"status\":\"a\", \"artifacts\":[{\"type\":\"x\",\"path\":\"y\"}"
          line 2, column 52: the output ends inside the object
        "{\"a\":1}\n{\"status\":\"a\",\n  \"summary\": oops}"
          line 3, column 14: expected a value
        "{\"a\":1} {\"b\":[1,{\"c\":2}"
          line 1, column 24: the output ends inside the object
        "{\"status\":\"\\ud800\"}"
          line 1, column 18: unexpected end of hex escape
        "{\"status\":\"\\x\"}"
          line 1, column 13: invalid escape
        "{\"status\":01}"
          line 1, column 12: invalid number
        "{\"status\":1e999}"
          line 1, column 15: number out of range
        "text\n{\"status\":\n -}"
          line 3, column 3: invalid number
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_raw_text_is_the_slice_itself() {
    let output = "before\n { \"status\" : 1.50 }\nafter";
    let found = extract(output).unwrap();
    assert_eq!(found.raw, "{ \"status\" : 1.50 }");
}

proptest! {
    #[test]
    fn any_object_is_found_in_any_prose(
        members in prop::collection::vec((".{0,6}", any_json()), 0..5),
        before in "[^{\\[]{0,40}",
        after in "[^{\\[]{0,40}",
        pretty in any::<bool>(),
    ) {
        let object = Value::from(members.into_iter().collect::<Map<_, _>>());
        let text = if pretty { format!("{object:#}") } else { object.to_string() };
        let output = format!("{before}{text}{after}");
        let found = extract(&output).unwrap();
        prop_assert_eq!(found.raw, text);
        prop_assert_eq!(found.value, object);
    }

    #[test]
    fn any_text_has_an_answer(output in "[ \\n{}\\[\\]\",:a1\\\\é-]{0,60}") {
        let found = extract(&output).ok().map(|found| (found.raw, found.value));
        let read = found.as_ref().map(|(raw, _)| (*raw, serde_json::from_str(raw).unwrap()));
        prop_assert_eq!(&found, &read);
        prop_assert!(found.is_none_or(|(raw, _)| output.contains(raw)));
    }

    #[test]
    fn what_the_parser_reads_as_an_object_is_found_whole(output in "[ {}\\[\\]\",:a1\\\\-]{0,40}") {
        let parsed = serde_json::from_str::<Value>(&output);
        let object = parsed.ok().filter(Value::is_object);
        let found = extract(&output).ok().map(|found| found.value);
        prop_assert!(object.is_none() || found == object);
    }
}

#[test]
fn a_list_before_a_return_does_not_hide_it() {
    let output = "[1, 2] and [\"a\"] then {\"status\": \"a\"} and [3]";
    assert_eq!(extract(output).unwrap().value, json!({"status": "a"}));
}
