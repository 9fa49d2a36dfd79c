//! What a program says while it works.

use std::fmt::Write;

use expect_test::{Expect, expect};
use legation_core::returns::extract;
use legation_runners::command::{MAX_LINE_BYTES, MAX_NOTES, MAX_TEXT_BYTES, Parser, Report};
use proptest::collection::vec;
use proptest::prelude::*;

/// Everything that is told of an output that comes in one piece.
fn told(output: &[u8]) -> (Vec<Report>, Parser) {
    let mut parser = Parser::default();
    let mut reports = parser.push(output);
    reports.extend(parser.finish());
    (reports, parser)
}

fn check(output: &str, expected: &Expect) {
    let (reports, parser) = told(output.as_bytes());
    let mut shown = String::new();
    for report in reports {
        match report {
            Report::Usage(usage) => {
                let tokens = usage.tokens;
                let cost = usage.cost.map_or("unknown".to_owned(), |cost| format!("{cost}"));
                let _ = writeln!(
                    shown,
                    "used {} in, {} out, {} reasoning, {} read, {} written, {cost}",
                    tokens.input,
                    tokens.output,
                    tokens.reasoning,
                    tokens.cache_read,
                    tokens.cache_write
                );
            }
            Report::Progress(at) => {
                let _ = writeln!(shown, "at {}/{}: {}", at.current, at.total, at.last_action);
            }
            Report::Context(tokens) => {
                let _ = writeln!(shown, "{tokens} in its context");
            }
            Report::Stalled => shown.push_str("stalled\n"),
            Report::Ignored(why) => {
                let _ = writeln!(shown, "ignored: {why}");
            }
        }
    }
    let _ = write!(shown, "text: {:?}", parser.text());
    expected.assert_eq(&shown);
}

#[test]
fn usage_adds_up_and_progress_is_told() {
    check(
        r#"starting
{"usage":{"input":100,"output":20,"cacheRead":5,"cacheWrite":7,"costUsd":0.25}}
{"progress":{"current":1,"total":3},"lastAction":"read the plan"}
  {"usage":{"input":1,"reasoning":9,"costUsd":0.5}}
{"usage":{"output":2.0,"costUsd":null},"progress":{"current":2,"total":3},"note":"both"}
{"status":"completed","summary":"done"}"#,
        &expect![[r#"
            used 100 in, 20 out, 0 reasoning, 5 read, 7 written, $0.25
            at 1/3: read the plan
            used 101 in, 20 out, 9 reasoning, 5 read, 7 written, $0.75
            used 101 in, 22 out, 9 reasoning, 5 read, 7 written, $0.75
            at 2/3: 
            text: "starting\n{\"status\":\"completed\",\"summary\":\"done\"}""#]],
    );
}

#[test]
fn figures_that_cannot_be_are_ignored_with_all_of_their_line() {
    check(
        r#"{"usage":{"input":-5,"output":1000}}
{"usage":{"input":1e300}}
{"usage":{"input":0.5}}
{"usage":{"input":"many"}}
{"usage":{"input":99999999999999999999999}}
{"usage":{"input":10,"costUsd":-0.01}}
{"usage":{"input":10,"costUsd":1e12}}
{"usage":{"input":10},"progress":{"current":-1,"total":2}}
{"usage":{"input":7}}
"#,
        &expect![[r#"
            ignored: `input` is -5, which is not a whole number from 0 to 1000000000000; the line was ignored
            ignored: `input` is 1e+300, which is not a whole number from 0 to 1000000000000; the line was ignored
            ignored: `input` is 0.5, which is not a whole number from 0 to 1000000000000; the line was ignored
            ignored: `input` is "many", which is not a whole number from 0 to 1000000000000; the line was ignored
            ignored: `input` is 1e+23, which is not a whole number from 0 to 1000000000000; the line was ignored
            ignored: `costUsd` is -0.01, which is not an amount of US dollars; the line was ignored
            ignored: `costUsd` is 1000000000000.0, which is not an amount of US dollars; the line was ignored
            ignored: `current` is -1, which is not a whole number from 0 to 1000000000000; the line was ignored
            used 7 in, 0 out, 0 reasoning, 0 read, 0 written, unknown
            text: """#]],
    );
}

#[test]
fn what_only_resembles_a_report_is_text() {
    check(
        r#"{"status":"completed","summary":"s","usage":{"input":5}}
{"usage":5}
{"usage":{"input":5}
"usage": {"input": 5}
[{"usage":{"input":5}}]
x {"usage":{"input":5}}
{"data":{"usage":{"input":5}}}
"#,
        &expect![[
            r#"text: "{\"status\":\"completed\",\"summary\":\"s\",\"usage\":{\"input\":5}}\n{\"usage\":5}\n{\"usage\":{\"input\":5}\n\"usage\": {\"input\": 5}\n[{\"usage\":{\"input\":5}}]\nx {\"usage\":{\"input\":5}}\n{\"data\":{\"usage\":{\"input\":5}}}\n""#
        ]],
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let output =
        b"caf\xe9\n{\"progress\":{\"current\":1,\"total\":2},\"lastAction\":\"\xff\\u001b[31m\"}\n";
    let (reports, parser) = told(output);
    let [Report::Progress(progress)] = reports.as_slice() else { panic!("{reports:?}") };
    assert!(progress.last_action.starts_with('\u{fffd}'), "{:?}", progress.last_action);
    assert!(!progress.last_action.contains('\u{1b}'), "{:?}", progress.last_action);
    assert_eq!(parser.text(), "caf\u{fffd}\n");
}

#[test]
fn a_line_that_is_too_long_to_be_a_report_is_text() {
    let report = |blanks: usize| format!("{{\"usage\":{{\"input\":1}}{}}}\n", " ".repeat(blanks));
    let shortest = report(0).len() - 1;
    let fits = report(MAX_LINE_BYTES - shortest);
    assert_eq!(told(fits.as_bytes()).0.len(), 1);
    let (reports, parser) = told(report(MAX_LINE_BYTES - shortest + 1).as_bytes());
    assert_eq!((reports.len(), parser.usage().tokens.input), (0, 0));
    assert_eq!(parser.text().len(), MAX_LINE_BYTES + 2);
}

#[test]
fn bad_lines_without_end_are_counted_and_told_a_few_times() {
    let (reports, parser) = told("{\"usage\":{\"input\":-1}}\n".repeat(1_000).as_bytes());
    assert_eq!((reports.len() as u64, parser.ignored()), (MAX_NOTES, 1_000));
}

#[test]
fn of_much_text_the_newest_is_kept_and_the_return_is_found_in_it() {
    let mut parser = Parser::default();
    for _ in 0..100 {
        assert_eq!(parser.push(&[b'x'; 64 << 10]), []);
    }
    assert!(parser.is_cut());
    parser.push(b"\n{\"status\":\"completed\",\n\"summary\":\"all well\"}\n");
    parser.finish();
    let text = parser.text();
    assert_eq!(text.len(), MAX_TEXT_BYTES);
    assert_eq!(extract(&text).unwrap().value["summary"], "all well");
}

#[test]
fn text_that_just_fits_is_not_cut() {
    let (_, parser) = told(&vec![b'x'; MAX_TEXT_BYTES]);
    assert_eq!((parser.text().len(), parser.is_cut()), (MAX_TEXT_BYTES, false));
    let (_, parser) = told(&vec![b'x'; MAX_TEXT_BYTES + 1]);
    assert_eq!((parser.text().len(), parser.is_cut()), (MAX_TEXT_BYTES, true));
}

/// Lines as a program might write them, and as nobody would.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<(u32, i32)>().prop_map(|(input, output)| {
            format!("{{\"usage\":{{\"input\":{input},\"output\":{output}}}}}").into_bytes()
        }),
        any::<u8>().prop_map(|step| {
            format!(" {{\"progress\":{{\"current\":{step},\"total\":9}}}}\r").into_bytes()
        }),
        vec(any::<u8>(), 0..40),
        Just(b"{\"status\":\"completed\"}".to_vec()),
        Just(b"   ".to_vec()),
        (0..4_usize).prop_map(|extra| vec![b'{'; MAX_LINE_BYTES - 2 + extra]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_way_of_cutting_tells_the_same(
        lines in vec(line(), 0..12),
        cuts in vec(1..200_usize, 1..20),
    ) {
        let output = lines.join(&b'\n');
        let (whole, once) = told(&output);
        let mut parser = Parser::default();
        let mut pieces = Vec::new();
        let mut rest = output.as_slice();
        let mut cut = cuts.iter().cycle();
        while !rest.is_empty() {
            // Now and then a piece is as long as those from a pipe.
            let length = cut.next().map_or(1, |cut| if cut % 7 == 0 { cut * 500 } else { *cut });
            let (piece, left) = rest.split_at(length.min(rest.len()));
            pieces.extend(parser.push(piece));
            rest = left;
        }
        pieces.extend(parser.finish());
        prop_assert_eq!(whole, pieces);
        prop_assert_eq!(once.text(), parser.text());
        prop_assert_eq!(once.usage(), parser.usage());
        prop_assert_eq!(once.ignored(), parser.ignored());
    }

    #[test]
    fn usage_only_ever_grows(lines in vec(line(), 0..12)) {
        let mut parser = Parser::default();
        let mut before = parser.usage();
        for line in lines {
            parser.push(&line);
            parser.push(b"\n");
            let now = parser.usage();
            prop_assert_eq!(now.tokens, now.tokens.at_least(&before.tokens));
            prop_assert!(now.cost >= before.cost);
            before = now;
        }
    }
}
