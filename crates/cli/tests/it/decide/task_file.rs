//! Tasks in files, good and bad.

use expect_test::expect;

use crate::session::Session;

#[test]
fn unknown_keys_are_warned_about_and_the_rest_is_decided() {
    let session = Session::new();
    session.write(
        "task.json",
        r#"{"title": "t", "acceptance_criteria": ["a"], "efort": "4h", "zzz": {"deep": [1]}, "id": "T",
            "subtasks": [{"title": "a", "dependOn": []}, {"title": "b", "depends_on": [], "dependOn": []}],
            "delegationConfig": {"maxDeep": 2}}"#,
    );
    let seen = session.run(&["decide", "--json", "--task-file", "task.json"]);
    let warnings: String =
        seen.lines().filter(|line| line.starts_with('!')).map(|line| format!("{line}\n")).collect();
    expect![[r#"
        ! warning: task.json: unknown key `acceptance_criteria` is ignored; did you mean `acceptanceCriteria`?
        ! warning: task.json: unknown key `efort` is ignored; did you mean `effort`?
        ! warning: task.json: unknown key `zzz` is ignored
        ! warning: task.json: unknown key `delegationConfig.maxDeep` is ignored
        ! warning: task.json: unknown key `subtasks[].dependOn` is ignored; did you mean `dependsOn`?
    "#]].assert_eq(&warnings);
    assert!(!seen.contains("[exit"));
    let many: Vec<String> = (0..30).map(|n| format!(r#""unheard{n}": 1"#)).collect();
    session.write("many.json", format!(r#"{{"title": "t", {}}}"#, many.join(",")));
    let seen = session.run(&["decide", "--task-file", "many.json"]);
    assert_eq!(seen.lines().filter(|line| line.starts_with('!')).count(), 11);
    assert!(seen.contains("! warning: many.json: and 20 more unknown keys"));
}

#[test]
fn a_bad_task_file_is_a_named_error_with_its_place() {
    let session = Session::new();
    let mut seen = String::new();
    for (name, content) in [
        ("cut.json", r#"{"title": "t","#),
        ("type.json", "{\n  \"title\": \"t\",\n  \"effort\": 4\n}"),
        ("list.json", "[]"),
        ("parts.json", r#"{"title": "t", "subtasks": [["a", "b"]]}"#),
        ("config.json", r#"{"title": "t", "delegationConfig": ["auto"]}"#),
        ("twice.json", r#"{"title": "a", "title": "b"}"#),
        ("empty.json", ""),
        ("nothing.json", r#"{"title": " ", "description": ""}"#),
        ("mode.json", r#"{"title": "t", "delegationConfig": {"mode": "always"}}"#),
    ] {
        session.write(name, content);
        seen.push_str(&session.run(&["decide", "--task-file", name]));
    }
    session.write("latin.json", b"{\"title\": \"caf\xe9\"}");
    seen.push_str(&session.run(&["decide", "--task-file", "latin.json"]));
    seen.push_str(&session.run(&["decide", "--task-file", "missing.json"]));
    seen.push_str(&session.run(&["decide", "--task-file", "."]));
    seen.push_str(&session.run(&["decide", ""]));
    expect![[r#"
        ! ERROR: cut.json:1:14: EOF while parsing a value
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: type.json:3:13: invalid type: integer `4`, expected a string
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: list.json:1:0: invalid type: sequence, expected a map
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: parts.json:1:28: invalid type: sequence, expected a map
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: config.json:1:35: invalid type: sequence, expected a map
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: twice.json:1:22: duplicate field `title`
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: empty.json:1:0: EOF while parsing a value
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: nothing.json: the task has no title and no description
        ! Suggestion: say what is to be done, for example: legation decide "Fix the bug"
        [exit 2]
        ! ERROR: mode.json:1:52: unknown variant `always`, expected one of `disabled`, `suggest`, `auto`, `smart`
        ! Suggestion: a task is a JSON object such as {"title": "…", "description": "…", "acceptanceCriteria": ["…"], "effort": "4h"}
        [exit 2]
        ! ERROR: latin.json is not UTF-8 text: byte 14 does not belong there
        ! Suggestion: convert it to UTF-8, for example with iconv
        [exit 1]
        ! ERROR: cannot read missing.json: No such file or directory (os error 2)
        ! Suggestion: check the path, or write - to read from stdin
        [exit 1]
        ! ERROR: cannot read .: Is a directory (os error 21)
        ! Suggestion: pass a file that you may read, or - for stdin
        [exit 1]
        ! ERROR: TEXT: the task has no title and no description
        ! Suggestion: say what is to be done, for example: legation decide "Fix the bug"
        [exit 2]
    "#]].assert_eq(&seen);
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let session = Session::new();
    session.write("cut.json", "{");
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "cut.json:1:1: EOF while parsing an object",
            "hint": "a task is a JSON object such as {\"title\": \"…\", \"description\": \"…\", \"acceptanceCriteria\": [\"…\"], \"effort\": \"4h\"}",
            "details": {
              "file": "cut.json",
              "line": 1,
              "column": 1
            }
          }
        }
        [exit 2]
    "#]].assert_eq(&session.run(&["decide", "--json", "--task-file", "cut.json"]));
}

#[test]
fn deep_and_huge_task_files_are_refused_or_read_but_never_a_crash() {
    let session = Session::new();
    let deep = |count: usize| format!(r#"{{"title": {}{}}}"#, "[".repeat(count), "]".repeat(count));
    session.write("deep.json", deep(100_000));
    assert!(session.run(&["decide", "--task-file", "deep.json"]).ends_with("[exit 2]\n"));
    let unknown =
        format!(r#"{{"title": "t", "x": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    session.write("unknown.json", unknown);
    let seen = session.run(&["decide", "--task-file", "unknown.json"]);
    assert!(seen.contains("unknown key `x` is ignored") && !seen.contains("[exit"));
    let huge = format!(r#"{{"title": "{}"}}"#, "x".repeat(17 << 20));
    session.write("huge.json", huge);
    let seen = session.run(&["decide", "--task-file", "huge.json"]);
    assert!(seen.contains("has more than 16777216 bytes") && seen.ends_with("[exit 1]\n"));
}

#[test]
fn a_task_that_contradicts_itself_is_refused_by_field() {
    let session = Session::new();
    let tasks = [
        r#"{"title": "t", "delegationConfig": {"maxDepth": 0}}"#,
        r#"{"title": "t", "delegationConfig": {"qualityThreshold": 500}}"#,
        r#"{"title": "t", "subtasks": [{"id": "a", "title": "A", "dependsOn": ["b"]}, {"id": "b", "title": "B", "dependsOn": ["a"]}]}"#,
        r#"{"title": "t", "subtasks": [{"id": "build", "title": "A"}, {"title": "B", "dependsOn": ["biuld"]}]}"#,
        r#"{"title": "t", "subtasks": [{"id": "a", "title": "A"}, {"id": " a", "title": "B"}]}"#,
    ];
    let mut seen = String::new();
    for task in tasks {
        session.write("task.json", task);
        seen.push_str(&session.run(&["decide", "--task-file", "task.json"]));
    }
    seen.push_str(&session.run(&["--json", "decide", "--task-file", "task.json"]));
    expect![[r#"
        ! ERROR: task.json: `delegationConfig.maxDepth` is 0
        ! Suggestion: it takes a whole number from 1 to 5
        [exit 2]
        ! ERROR: task.json: `delegationConfig.qualityThreshold` is 500
        ! Suggestion: it takes a whole number from 0 to 100
        [exit 2]
        ! ERROR: task.json: `subtasks[].dependencies` cannot be put in order. The plan goes round in a circle: a → b → a.
        ! Suggestion: Take out one of these dependencies.
        [exit 2]
        ! ERROR: task.json: `subtasks[1].dependencies` names `biuld`, which is not among the subtasks
        ! Suggestion: did you mean `build`?
        [exit 2]
        ! ERROR: task.json: `subtasks[1].id` is `a`, like that of subtasks[0]
        ! Suggestion: give each subtask an id of its own
        [exit 2]
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "task.json: `subtasks[1].id` is `a`, like that of subtasks[0]",
            "hint": "give each subtask an id of its own",
            "details": {
              "file": "task.json",
              "field": "subtasks[1].id"
            }
          }
        }
        [exit 2]
    "#]].assert_eq(&seen);
}
