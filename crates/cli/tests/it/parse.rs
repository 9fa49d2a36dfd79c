use expect_test::expect;

use crate::session::Session;

const ANSWER: &str = "Two parts will do:\n\n\
    [delegate:Issue and check session tokens:4]\n\
    and [delegate:Mend x: y in list[0], and while you are there bring every other caller of it up to date:2] too\n\
    [delegate:half:1.5]\n\
    ```\n[delegate:shown only:3]\n```\n\
    and `[delegate:inline:2]` is text\n";

#[test]
fn entries_are_listed_for_people() {
    let session = Session::new();
    session.write("answer.md", ANSWER);
    expect![[r#"
        2 delegations

        US-007-DEL-001  4 h, depth 1
          Issue and check session tokens

        US-007-DEL-002  2 h, depth 1
          Mend x: y in list[0], and while you are there bring every other caller of it
          up to date

        1 rejected

        Line 5: `1.5` is not a whole number of hours
          [delegate:half:1.5]
    "#]]
    .assert_eq(&session.run(&["parse", "--story", "US-007", "answer.md"]));
}

#[test]
fn entries_are_one_json_value_for_programs() {
    let session = Session::new();
    let text = "[delegate:Write tests:2]\n[delegate:zero:0]\n";
    expect![[r#"
        {
          "delegations": [
            {
              "description": "Write tests",
              "estimated_hours": 2,
              "parent_story_id": "US-007-DEL-001",
              "child_story_id": "US-007-DEL-001-DEL-001",
              "depth": 2
            }
          ],
          "rejected": [
            {
              "text": "[delegate:zero:0]",
              "reason": "the hours must be at least 1",
              "line": 2
            }
          ]
        }
    "#]]
    .assert_eq(&session.run_with(
        &["parse", "--json", "--story", "US-007-DEL-001", "--depth", "1", "-"],
        text.as_bytes(),
    ));
}

#[test]
fn without_a_story_entries_are_numbered_under_task() {
    let session = Session::new();
    expect![[r#"
        1 delegation

        TASK-DEL-001  1 h, depth 1
          a
    "#]]
    .assert_eq(&session.run_with(&["parse", "-"], b"[delegate:a:1]"));
    expect![[r#"
        No delegations.
    "#]]
    .assert_eq(&session.run_with(&["parse", "-"], b""));
}

#[test]
fn escape_sequences_of_an_agent_do_not_reach_the_terminal() {
    let session = Session::new();
    let text = "[delegate:a\u{1b}]0;title\u{7} b:1]\n[delegate:\u{202e}a:\u{1b}c]";
    expect![[r#"
        No delegations.

        2 rejected

        Line 1: the hours are missing: write [delegate:description:hours]
          [delegate:a\u{1b}]

        Line 2: `\u{1b}c` is not a whole number of hours
          [delegate:\u{202e}a:\u{1b}c]
    "#]]
    .assert_eq(&session.run_with(&["parse", "-"], text.as_bytes()));
    expect![[r#"
        1 delegation

        TASK-DEL-001  1 h, depth 1
          a\u{7} b
    "#]]
    .assert_eq(&session.run_with(&["parse", "-"], b"[delegate:a\x07 b:1]"));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let session = Session::new();
    expect![[r#"
        ! ERROR: cannot read missing.md: No such file or directory (os error 2)
        ! Suggestion: check the path, or write - to read from stdin
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["parse", "missing.md"]));
    expect![[r#"
        {
          "error": {
            "code": "FILE_NOT_FOUND",
            "message": "cannot read missing.md: No such file or directory (os error 2)",
            "hint": "check the path, or write - to read from stdin",
            "details": {
              "file": "missing.md"
            }
          }
        }
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["--json", "parse", "missing.md"]));
    expect![[r#"
        ! ERROR: cannot read .: Is a directory (os error 21)
        ! Suggestion: pass a file that you may read, or - for stdin
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["parse", "."]));
}

#[test]
fn bytes_that_are_not_text_are_named() {
    let session = Session::new();
    session.write("bad.md", b"[delegate:a:1]\n\xff\xfe");
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "bad.md is not UTF-8 text: byte 15 does not belong there",
            "hint": "convert it to UTF-8, for example with iconv",
            "details": {
              "byte": 15
            }
          }
        }
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["--json", "parse", "bad.md"]));
}

#[test]
fn more_than_sixteen_mebibytes_are_refused() {
    let session = Session::new();
    let most = 16 * 1024 * 1024;
    session.write("most.md", "\n".repeat(most));
    session.write("more.md", "\n".repeat(most + 1));
    expect![[r#"
        No delegations.
    "#]]
    .assert_eq(&session.run(&["parse", "most.md"]));
    expect![[r#"
        ! ERROR: more.md has more than 16777216 bytes
        ! Suggestion: split it, or pass only the part that matters
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["parse", "more.md"]));
}

#[test]
fn bad_options_are_usage_errors() {
    let session = Session::new();
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "invalid value 'US 7' for '--story <STORY>': `US 7` is no story id: ' ' is not one of A-Z, a-z, 0-9, `_`, `-` and `.`; write it like US-007",
            "hint": "`legation parse --help` tells what it takes",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json", "parse", "--story", "US 7", "-"]));
    expect![[r#"
        ! ERROR: invalid value '-1' for '--depth <N>': -1 is not in 0..=65535
        ! Suggestion: `legation parse --help` tells what it takes
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["parse", "--depth=-1", "-"]));
    expect![[r#"
        ! ERROR: the following required arguments were not provided: <FILE>
        ! Suggestion: write `legation parse <FILE>`; `legation parse --help` tells what it takes
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["parse"]));
}
