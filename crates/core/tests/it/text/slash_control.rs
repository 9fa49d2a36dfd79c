use super::slash::read;

#[test]
fn every_action_is_understood() {
    let cases = [
        ("status", r#"{"command":"delegation","action":"status","id":null}"#),
        ("status del-1", r#"{"command":"delegation","action":"status","id":"del-1"}"#),
        ("pause del-1", r#"{"command":"delegation","action":"pause","id":"del-1","options":{}}"#),
        (
            "pause --now del-1",
            r#"{"command":"delegation","action":"pause","id":"del-1","options":{"now":true}}"#,
        ),
        ("resume del-1", r#"{"command":"delegation","action":"resume","id":"del-1"}"#),
        ("cancel del-1", r#"{"command":"delegation","action":"cancel","id":"del-1","options":{}}"#),
        (
            "cancel del-1 --reason late --rollback",
            r#"{"command":"delegation","action":"cancel","id":"del-1","options":{"reason":"late","rollback":true}}"#,
        ),
        (
            "cancel --rollback --reason=\"no longer needed\" del-1",
            r#"{"command":"delegation","action":"cancel","id":"del-1","options":{"reason":"no longer needed","rollback":true}}"#,
        ),
        (
            r"cancel del-1 --reason 'a \\ \' --rollback",
            r#"{"command":"delegation","action":"cancel","id":"del-1","options":{"reason":"a \\\\ \\","rollback":true}}"#,
        ),
        (
            "cancel del-1 --reason ' it''",
            "the quotation that begins with `' it''` does not end with a ' and a blank",
        ),
        (
            "cancel del-1 --reason \"a \\\"b\\\" \\\\ \\n\"",
            r#"{"command":"delegation","action":"cancel","id":"del-1","options":{"reason":"a \"b\" \\ \\n"}}"#,
        ),
        ("history", r#"{"command":"delegation","action":"history","options":{}}"#),
        (
            "history --limit=10",
            r#"{"command":"delegation","action":"history","options":{"limit":10}}"#,
        ),
        (
            "history --limit 1 --status failed --since 2d",
            r#"{"command":"delegation","action":"history","options":{"limit":1,"status":"failed","since":{"agoMs":172800000}}}"#,
        ),
        (
            "history --since 2025-12-28T00:00:00Z --status all",
            r#"{"command":"delegation","action":"history","options":{"status":"all","since":{"at":"2025-12-28T00:00:00Z"}}}"#,
        ),
        (
            "hint Build  it",
            r#"{"command":"delegation","action":"hint","options":{},"task":"Build  it"}"#,
        ),
        (
            "hint --text -- -x",
            r#"{"command":"delegation","action":"hint","options":{"text":true},"task":"-x"}"#,
        ),
        (
            "retry del-1 sub-2",
            r#"{"command":"delegation","action":"retry","id":"del-1","subtask":"sub-2","options":{}}"#,
        ),
        (
            "retry del-1 sub-2 --agent fixer --note 'try again'",
            r#"{"command":"delegation","action":"retry","id":"del-1","subtask":"sub-2","options":{"agent":"fixer","note":"try again"}}"#,
        ),
        (
            "retry del-1 \"my sub\"",
            r#"{"command":"delegation","action":"retry","id":"del-1","subtask":"my sub","options":{}}"#,
        ),
        (
            "retry -- del-1 -2",
            r#"{"command":"delegation","action":"retry","id":"del-1","subtask":"-2","options":{}}"#,
        ),
        (
            "skip del-1 sub-2 --reason x",
            r#"{"command":"delegation","action":"skip","id":"del-1","subtask":"sub-2","options":{"reason":"x"}}"#,
        ),
        (
            "approve del-1",
            r#"{"command":"delegation","action":"approve","id":"del-1","subtask":null,"options":{}}"#,
        ),
        (
            "approve del-1 sub-2 --reason ok",
            r#"{"command":"delegation","action":"approve","id":"del-1","subtask":"sub-2","options":{"reason":"ok"}}"#,
        ),
        (
            "reject del-1",
            r#"{"command":"delegation","action":"reject","id":"del-1","subtask":null,"options":{}}"#,
        ),
        (
            "reject del-1 sub-2 --reason no",
            r#"{"command":"delegation","action":"reject","id":"del-1","subtask":"sub-2","options":{"reason":"no"}}"#,
        ),
        ("tree del-1", r#"{"command":"delegation","action":"tree","id":"del-1"}"#),
        ("trace del-1", r#"{"command":"delegation","action":"trace","id":"del-1"}"#),
        ("cost del-1", r#"{"command":"delegation","action":"cost","id":"del-1"}"#),
    ];
    for (line, expected) in cases {
        assert_eq!(read(&format!("/delegation {line}")), expected, "{line}");
    }
}

#[test]
fn settings_are_json_or_words() {
    let cases = [
        ("", "[]"),
        ("--mode=suggest", r#"[{"key":"mode","value":"suggest"}]"#),
        ("--mode auto", r#"[{"key":"mode","value":"auto"}]"#),
        ("mode=smart", r#"[{"key":"mode","value":"smart"}]"#),
        ("limits.maxDepth=2", r#"[{"key":"limits.maxDepth","value":2}]"#),
        ("--limits.maxDepth=2", r#"[{"key":"limits.maxDepth","value":2}]"#),
        (
            "enabled=false limits.maxCostUsd=0.5",
            r#"[{"key":"enabled","value":false},{"key":"limits.maxCostUsd","value":0.5}]"#,
        ),
        ("a=-5 b=null", r#"[{"key":"a","value":-5},{"key":"b","value":null}]"#),
        (
            "a=word b=\"two words\" c='5'",
            r#"[{"key":"a","value":"word"},{"key":"b","value":"two words"},{"key":"c","value":"5"}]"#,
        ),
        (
            "a=[\"x y\", 2] b={\"k\": [1]} c=1",
            r#"[{"key":"a","value":["x y",2]},{"key":"b","value":{"k":[1]}},{"key":"c","value":1}]"#,
        ),
        ("a=1e999 b=x=y", r#"[{"key":"a","value":"1e999"},{"key":"b","value":"x=y"}]"#),
        ("a=\"\"", r#"[{"key":"a","value":""}]"#),
    ];
    for (line, expected) in cases {
        let expected =
            format!(r#"{{"command":"delegation","action":"config","settings":{expected}}}"#);
        assert_eq!(read(&format!("/delegation config {line}")), expected, "{line}");
    }
}

#[test]
fn bad_settings_are_refused() {
    let modes = "disabled, suggest, auto or smart";
    let cases = [
        ("--mode=waltz", format!("mode cannot be `waltz`; it takes {modes}")),
        ("mode=5", format!("mode cannot be `5`; it takes {modes}")),
        ("--mode", format!("mode needs a value: {modes}")),
        ("mode=", format!("mode needs a value: {modes}")),
        ("--mode=auto mode=smart", "mode is given twice".to_owned()),
        ("a=1 a=1", "a is given twice".to_owned()),
        (
            "limits.maxDepth",
            "`limits.maxDepth` is no setting; write it like limits.maxDepth=2".to_owned(),
        ),
        ("limits maxDepth=2", "`limits` is no setting; write it like limits.maxDepth=2".to_owned()),
        ("=5", "`` is no setting; write it like limits.maxDepth=2".to_owned()),
        (".a=5", "`.a` is no setting; write it like limits.maxDepth=2".to_owned()),
        ("a..b=5", "`a..b` is no setting; write it like limits.maxDepth=2".to_owned()),
        ("a/b=5", "`a/b` is no setting; write it like limits.maxDepth=2".to_owned()),
        ("--", "`--` is no setting; write it like limits.maxDepth=2".to_owned()),
        ("a=[1", "a cannot be `[1`; it takes a word, a \"…\" or JSON".to_owned()),
        ("a=[1]x", "a cannot be `[1]x`; it takes a word, a \"…\" or JSON".to_owned()),
        ("a= b=1", "a needs a value: a word, a \"…\" or JSON".to_owned()),
        (
            "a=\"x",
            "the quotation that begins with `\"x` does not end with a \" and a blank".to_owned(),
        ),
    ];
    for (line, message) in cases {
        assert_eq!(read(&format!("/delegation config {line}")), message, "{line}");
    }
    let many: Vec<String> = (0..101).map(|number| format!("k{number}=1")).collect();
    let message = read(&format!("/delegation config {}", many.join(" ")));
    assert_eq!(message, "at most 100 settings can be given at once");
}

#[test]
fn bad_actions_say_what_is_missing_or_too_much() {
    let known = "status, pause, resume, cancel, history, hint, config, retry, skip, approve, reject, tree, trace, cost";
    let remark = "1 to 500 characters, in \"…\" if there are blanks in it";
    let since =
        "a span of time such as 90m or 7d, or a date such as 2026-01-31 or 2026-01-31T09:00:00Z";
    let states = "pending, running, paused, completed, partial, failed, blocked, cancelled or all";
    let cases = [
        ("", format!("/delegation needs an action: {known}")),
        ("explode", format!("/delegation has no action `explode`; there are {known}")),
        ("cancle del-1", format!("/delegation has no action `cancle` (did you mean cancel?); there are {known}")),
        ("--mode=auto", format!("/delegation has no action `--mode=auto`; there are {known}")),
        ("status a b", "/delegation status does not know what to do with `b`; put a value of several words in \"…\"".to_owned()),
        ("status --all", "/delegation status has no option `--all`; it has none".to_owned()),
        ("pause", "/delegation pause needs the id of a delegation".to_owned()),
        ("resume", "/delegation resume needs the id of a delegation".to_owned()),
        ("cancel --rollback", "/delegation cancel needs the id of a delegation".to_owned()),
        ("cancel del-1 --reason no longer needed", "/delegation cancel does not know what to do with `longer`; put a value of several words in \"…\"".to_owned()),
        ("cancel del-1 --reason", format!("--reason needs a value: {remark}")),
        ("cancel del-1 --reason ' '", format!("--reason cannot be ` `; it takes {remark}")),
        ("cancel del-1 --rollback=no", "--rollback takes no value".to_owned()),
        ("cancel \"\"", "`` is no id: an id has 1 to 200 visible characters".to_owned()),
        ("cancel \" x\"", "` x` is no id: an id has 1 to 200 visible characters".to_owned()),
        ("cancel \"a\u{7}b\"", "`a\\u{7}b` is no id: an id has 1 to 200 visible characters".to_owned()),
        ("retry del-1", "/delegation retry needs the id of a subtask".to_owned()),
        ("retry", "/delegation retry needs the id of a delegation".to_owned()),
        ("retry del-1 sub --agent ''", "--agent cannot be ``; it takes the id of an agent".to_owned()),
        ("skip del-1", "/delegation skip needs the id of a subtask".to_owned()),
        ("approve", "/delegation approve needs the id of a delegation".to_owned()),
        ("approve a b c", "/delegation approve does not know what to do with `c`; put a value of several words in \"…\"".to_owned()),
        ("tree", "/delegation tree needs the id of a delegation".to_owned()),
        ("trace --json del-1", "/delegation trace has no option `--json`; it has none".to_owned()),
        ("cost a b", "/delegation cost does not know what to do with `b`; put a value of several words in \"…\"".to_owned()),
        ("history 5", "/delegation history does not know what to do with `5`; put a value of several words in \"…\"".to_owned()),
        ("history --limit 0", "--limit cannot be `0`; it takes a whole number from 1 to 10000".to_owned()),
        ("history --limit 10001", "--limit cannot be `10001`; it takes a whole number from 1 to 10000".to_owned()),
        ("history --status done", format!("--status cannot be `done`; it takes {states}")),
        ("history --since yesterday", format!("--since cannot be `yesterday`; it takes {since}")),
        ("history --since 5", format!("--since cannot be `5`; it takes {since}")),
        ("history --limt 5", "/delegation history has no option `--limt` (did you mean --limit?); it has --limit, --status, --since".to_owned()),
    ];
    for (line, message) in cases {
        assert_eq!(read(&format!("/delegation {line}")), message, "{line}");
    }
    let long = "x".repeat(501);
    let message = read(&format!("/delegation cancel del-1 --reason {long}"));
    assert!(message.starts_with("--reason cannot be `xxx"), "{message}");
    let message = read(&format!("/delegation cancel {}", "x".repeat(201)));
    assert!(message.ends_with("is no id: an id has 1 to 200 visible characters"), "{message}");
}

#[test]
fn since_takes_dates_that_exist_and_spans_with_a_unit() {
    let good = [
        "90m",
        "7d",
        "1h30m",
        "2026-01-31",
        "2024-02-29",
        "2000-02-29",
        "2026-01-31T09:00",
        "2026-01-31T09:00:00",
        "2026-01-31t09:00:00z",
        "2026-01-31T09:00:00.123456789Z",
        "2026-01-31T09:00:00+02:00",
        "2026-01-31T09:00:00.5-11:30",
    ];
    for since in good {
        let answer = read(&format!("/delegation history --since {since}"));
        assert!(answer.starts_with(r#"{"command":"delegation","action":"history""#), "{answer}");
    }
    let bad = [
        "90",
        "-1d",
        "2026-02-29",
        "1900-02-29",
        "2026-04-31",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-1-1",
        "26-01-01",
        "2026-01",
        "2026-01-01-01",
        "2026-01-31T",
        "2026-01-31T24:00",
        "2026-01-31T09:60",
        "2026-01-31T09:00:60",
        "2026-01-31T9:00",
        "2026-01-31T09",
        "2026-01-31T09:00:00:00",
        "2026-01-31T09:00.5",
        "2026-01-31T09:00:00.Z",
        "2026-01-31T09:00:00.1234567890",
        "2026-01-31T09:00:00+2",
        "2026-01-31T09:00:00+02:00:00",
        "+026-01-31",
        "２０２６-01-31",
    ];
    for since in bad {
        let answer = read(&format!("/delegation history --since {since}"));
        assert!(answer.starts_with("--since cannot be "), "{since}: {answer}");
    }
}
