use expect_test::expect;
use legation_core::text::slash::parse;

/// What a line means, as JSON without what was not given; or what is wrong with it.
pub(super) fn read(line: &str) -> String {
    let command = match parse(line) {
        Ok(command) => command,
        Err(error) => return error.to_string(),
    };
    let mut value = serde_json::to_value(&command).unwrap_or_default();
    if let Some(options) = value.get_mut("options").and_then(|value| value.as_object_mut()) {
        options.retain(|_, value| !value.is_null() && value != false);
    }
    value.to_string()
}

#[test]
fn a_command_has_every_option_and_its_task() {
    let command =
        parse("/delegate --pattern parallel -d 2 --agents=5 -b 9000 Mend the build").unwrap();
    expect![[r#"
        {
          "command": "delegate",
          "options": {
            "pattern": "parallel",
            "depth": 2,
            "agents": 5,
            "budget": 9000,
            "dryRun": false,
            "text": false
          },
          "task": "Mend the build"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&command).unwrap());
}

#[test]
fn options_end_where_the_text_begins() {
    let cases = [
        ("/delegate Fix it", r#"{"command":"delegate","options":{},"task":"Fix it"}"#),
        (
            "/delegate billing-phase-2",
            r#"{"command":"delegate","options":{},"task":"billing-phase-2"}"#,
        ),
        (
            "/delegate --dry-run -p debate Weigh plan-b",
            r#"{"command":"delegate","options":{"pattern":"debate","dryRun":true},"task":"Weigh plan-b"}"#,
        ),
        (
            "/delegate Compare --dry-run with -b 5",
            r#"{"command":"delegate","options":{},"task":"Compare --dry-run with -b 5"}"#,
        ),
        ("/delegate -d 1 -d is a flag", "--depth is given twice"),
        (
            "/delegate -d 1 the -d flag",
            r#"{"command":"delegate","options":{"depth":1},"task":"the -d flag"}"#,
        ),
        (
            "/delegate -- -d is a flag",
            r#"{"command":"delegate","options":{},"task":"-d is a flag"}"#,
        ),
        (
            "/delegate -d 1 -- --text",
            r#"{"command":"delegate","options":{"depth":1},"task":"--text"}"#,
        ),
        ("/delegate -- --", r#"{"command":"delegate","options":{},"task":"--"}"#),
        ("/delegate - one\n- two", r#"{"command":"delegate","options":{},"task":"- one\n- two"}"#),
        (
            "/delegate -p=review Write it",
            r#"{"command":"delegate","options":{"pattern":"review"},"task":"Write it"}"#,
        ),
        (
            "/delegate --pattern=parallel_streaming x",
            r#"{"command":"delegate","options":{"pattern":"parallel_streaming"},"task":"x"}"#,
        ),
        (
            "/delegate --pattern \"dag\" x",
            r#"{"command":"delegate","options":{"pattern":"dag"},"task":"x"}"#,
        ),
        (
            "/delegate --pattern='ensemble' x",
            r#"{"command":"delegate","options":{"pattern":"ensemble"},"task":"x"}"#,
        ),
        (
            "/delegate -p sequential x",
            r#"{"command":"delegate","options":{"pattern":"sequential"},"task":"x"}"#,
        ),
        (
            "/delegate -p direct x",
            r#"{"command":"delegate","options":{"pattern":"direct"},"task":"x"}"#,
        ),
        ("/delegate -b 0 x", r#"{"command":"delegate","options":{"budget":0},"task":"x"}"#),
        (
            "/delegate -b 18446744073709551615 x",
            r#"{"command":"delegate","options":{"budget":18446744073709551615},"task":"x"}"#,
        ),
        (
            "/delegate -a 1 -d 5 x",
            r#"{"command":"delegate","options":{"depth":5,"agents":1},"task":"x"}"#,
        ),
        (
            "/delegate --agents 100000 x",
            r#"{"command":"delegate","options":{"agents":100000},"task":"x"}"#,
        ),
        (
            "/delegate --text billing-phase-2",
            r#"{"command":"delegate","options":{"text":true},"task":"billing-phase-2"}"#,
        ),
        ("/delegate\t--depth\t3\tx", r#"{"command":"delegate","options":{"depth":3},"task":"x"}"#),
        ("/delegate 5 files", r#"{"command":"delegate","options":{},"task":"5 files"}"#),
        ("/delegate /direct it", r#"{"command":"delegate","options":{},"task":"/direct it"}"#),
        ("/delegate —depth 2", r#"{"command":"delegate","options":{},"task":"—depth 2"}"#),
        (
            "/direct Correct the spelling in NOTES.md",
            r#"{"command":"direct","options":{},"task":"Correct the spelling in NOTES.md"}"#,
        ),
        ("/direct --text x", r#"{"command":"direct","options":{"text":true},"task":"x"}"#),
        ("/direct x --text", r#"{"command":"direct","options":{},"task":"x --text"}"#),
        ("/direct -- -b", r#"{"command":"direct","options":{},"task":"-b"}"#),
    ];
    for (line, expected) in cases {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn the_text_is_kept_as_it_was_written() {
    let cases = [
        "two  blanks",
        "a \"quoted\" 'word'",
        "a\ttab",
        "several\n  lines\n\nof it",
        "back\\slash",
        "--",
        "\"",
        "naïve 日本 🦀",
        "trailing -",
    ];
    for text in cases {
        let command = parse(&format!(" \n/direct --text -- {text} \t\n")).unwrap();
        let value = serde_json::to_value(&command).unwrap();
        assert_eq!(value["task"], text);
    }
}

#[test]
fn bad_options_are_named_together_with_what_they_take() {
    let patterns =
        "parallel, parallel_streaming, sequential, dag, debate, review, ensemble or direct";
    let known = "it has --pattern, --depth, --agents, --budget, --dry-run, --text";
    let cases = [
        ("/delegate --pattern=waltz X", format!("--pattern cannot be `waltz`; it takes {patterns}")),
        ("/delegate -p Parallel X", format!("--pattern cannot be `Parallel`; it takes {patterns}")),
        ("/delegate --pattern --depth 2 X", format!("--pattern cannot be `--depth`; it takes {patterns}")),
        ("/delegate --pattern", format!("--pattern needs a value: {patterns}")),
        ("/delegate --pattern= X", format!("--pattern needs a value: {patterns}")),
        ("/delegate --pattern=\"\" X", format!("--pattern cannot be ``; it takes {patterns}")),
        ("/delegate --depth=abc X", "--depth cannot be `abc`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d 0 X", "--depth cannot be `0`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d 6 X", "--depth cannot be `6`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d -1 X", "--depth cannot be `-1`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d +1 X", "--depth cannot be `+1`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d 1.5 X", "--depth cannot be `1.5`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d 99999999999999999999 X", "--depth cannot be `99999999999999999999`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d Refactor it", "--depth cannot be `Refactor`; it takes a whole number from 1 to 5".to_owned()),
        ("/delegate -d", "--depth needs a value: a whole number from 1 to 5".to_owned()),
        ("/delegate -a 0 X", "--agents cannot be `0`; it takes a whole number from 1 to 100000".to_owned()),
        ("/delegate -a 100001 X", "--agents cannot be `100001`; it takes a whole number from 1 to 100000".to_owned()),
        ("/delegate --budget=10k X", "--budget cannot be `10k`; it takes a whole number of tokens, 0 or more".to_owned()),
        ("/delegate -b -1 X", "--budget cannot be `-1`; it takes a whole number of tokens, 0 or more".to_owned()),
        ("/delegate -b 18446744073709551616 X", "--budget cannot be `18446744073709551616`; it takes a whole number of tokens, 0 or more".to_owned()),
        ("/delegate --dry-run=yes X", "--dry-run takes no value".to_owned()),
        ("/delegate --dry-run --dry-run X", "--dry-run is given twice".to_owned()),
        ("/delegate -p debate --pattern=review X", "--pattern is given twice".to_owned()),
        ("/delegate --dept 2 X", format!("/delegate has no option `--dept` (did you mean --depth?); {known}")),
        ("/delegate --patern=debate X", format!("/delegate has no option `--patern` (did you mean --pattern?); {known}")),
        ("/delegate --zzz X", format!("/delegate has no option `--zzz`; {known}")),
        ("/delegate -x X", format!("/delegate has no option `-x`; {known}")),
        ("/delegate -d2 X", format!("/delegate has no option `-d2`; {known}")),
        ("/delegate --=x X", format!("/delegate has no option `--`; {known}")),
        ("/direct -b 5 X", "/direct has no option `-b`; it has --text".to_owned()),
        ("/direct --dry-run X", "/direct has no option `--dry-run`; it has --text".to_owned()),
        ("/delegate --pattern \"dag X", "the quotation that begins with `\"dag X` does not end with a \" and a blank".to_owned()),
        ("/delegate --pattern \"dag\"X", "the quotation that begins with `\"dag\"X` does not end with a \" and a blank".to_owned()),
        ("/delegate --depth=\u{1b}[2J X", "--depth cannot be `\\u{1b}[2J`; it takes a whole number from 1 to 5".to_owned()),
    ];
    for (line, message) in cases {
        assert_eq!(read(line), message, "{line}");
    }
}

#[test]
fn a_command_without_a_task_is_refused() {
    let cases = [
        ("/delegate", "/delegate needs a task: a text or the id of a task"),
        ("/delegate   \n", "/delegate needs a task: a text or the id of a task"),
        ("/delegate --dry-run", "/delegate needs a task: a text or the id of a task"),
        ("/delegate --", "/delegate needs a task: a text or the id of a task"),
        ("/delegate -p debate -- ", "/delegate needs a task: a text or the id of a task"),
        ("/direct", "/direct needs a task: a text or the id of a task"),
        ("/delegation hint", "/delegation hint needs a task: a text or the id of a task"),
    ];
    for (line, message) in cases {
        assert_eq!(read(line), message, "{line}");
    }
}

#[test]
fn what_is_no_command_is_refused_with_the_ones_there_are() {
    let all = "there are /delegate, /direct, /delegation";
    let cases = [
        ("", "there is no command: write /delegate [options] TASK, /direct TASK or /delegation ACTION".to_owned()),
        (" \n ", "there is no command: write /delegate [options] TASK, /direct TASK or /delegation ACTION".to_owned()),
        ("delegate x", format!("`delegate` is not a slash command (did you mean /delegate?); {all}")),
        ("/delgate x", format!("`/delgate` is not a slash command (did you mean /delegate?); {all}")),
        ("/Delegate x", format!("`/Delegate` is not a slash command (did you mean /delegate?); {all}")),
        ("/drect x", format!("`/drect` is not a slash command (did you mean /direct?); {all}")),
        ("/help", format!("`/help` is not a slash command; {all}")),
        ("/", format!("`/` is not a slash command; {all}")),
        ("Fix the bug", format!("`Fix` is not a slash command; {all}")),
    ];
    for (line, message) in cases {
        assert_eq!(read(line), message, "{line:?}");
    }
}

#[test]
fn an_error_says_how_the_command_is_written() {
    let cases = [
        ("", "/delegate [options] TASK, /direct TASK or /delegation ACTION"),
        (
            "/delegate -d 9 x",
            "/delegate [-p PATTERN] [-d DEPTH] [-a AGENTS] [-b TOKENS] [--dry-run] [--text] [--] TASK",
        ),
        ("/direct", "/direct [--text] [--] TASK"),
        (
            "/delegation explode",
            "/delegation status|pause|resume|cancel|history|hint|config|retry|skip|approve|reject|tree|trace|cost",
        ),
        ("/delegation retry del-1", "/delegation retry ID SUBTASK [--agent AGENT] [--note TEXT]"),
    ];
    for (line, usage) in cases {
        assert_eq!(parse(line).unwrap_err().usage(), usage, "{line}");
    }
}

#[test]
fn a_megabyte_of_anything_is_answered_at_once() {
    let cases = [
        ("/delegate ", "x ", ""),
        ("/delegate ", " ", "x"),
        ("/delegate ", "--dry-run ", ""),
        ("/delegate ", "-", ""),
        ("/delegate --pattern ", "\"", ""),
        ("/delegate --pattern \"", "\\\"", ""),
        ("/delegate --depth ", "9", " x"),
        ("/delegation cancel ", "del-1 ", ""),
        ("/delegation cancel ", "x", ""),
        ("/delegation ", "status", ""),
        ("/delegation config ", "a=[ ", ""),
        ("/delegation config ", "a=[[[[", ""),
        ("/delegation config ", "a=\"b\" ", ""),
        ("/delegation history --since ", "1h", ""),
        ("", "/", ""),
    ];
    for (start, piece, end) in cases {
        let line = format!("{start}{}{end}", piece.repeat(1_000_000 / piece.len()));
        let answer = read(&line);
        assert!(answer.len() < 1_100 || answer.starts_with('{'), "{start}{piece}: {answer}");
    }
}
