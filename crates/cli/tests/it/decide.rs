//! `legation decide`, as a user types it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::session::Session;

const BILLING: &str = r#"{
  "id": "billing",
  "title": "Build the billing api",
  "description": "Build the complete billing on a distributed database.\n1. Design the schema\n2. Then write the endpoints\n3. Add security checks",
  "acceptanceCriteria": ["invoices are right", "nothing is lost"],
  "effort": "16h"
}"#;

/// The answer without its time, which is never the same.
fn timeless(seen: &str) -> String {
    let lines = seen.lines().filter(|line| !line.contains("\"timestamp\""));
    lines.map(|line| format!("{line}\n")).collect()
}

/// An agent that could delegate.
const LEAD: &str = "---\nid: lead\ndescription: leads\n---\nLead.\n";

fn check(args: &[&str], expect: &Expect) {
    let session = Session::new();
    session.write("billing.json", BILLING);
    session.write(".legation/agents/lead.md", LEAD);
    expect.assert_eq(&timeless(&session.run(args)));
}

/// The files of the cache.
fn kept(session: &Session) -> Vec<PathBuf> {
    let folder = session.dir().join("../home/.cache/legation/decisions");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_task_file_is_decided_and_explained() {
    check(
        &["decide", "--task-file", "billing.json"],
        &expect![[r#"
            DELEGATE: suggested, to be confirmed
              Build the billing api

            Score        77  (needed 60)
            Confidence   50  (of 90 within reach; unasked from 76.5)
            Pattern     parallel

            Factor                  value   points
              complexity               49   29.4 of 30  ####################
              context utilisation      50   13.3 of 20  #############.......
              subtasks                  3   15.0 of 15  ####################
              agent confidence         75    9.4 of 15  #############.......
              agent load                0    0.0 of 10  ....................
              depth remaining           3   10.0 of 10  ####################

            Subtasks, from the numbered lines of its description
                                                                  complexity   time  after
               1  Design the schema                                        5  5h20m
               2  Then write the endpoints                                 8  5h20m  1
               3  Add security checks                                     13  5h20m  2

            Why
              - Delegate: the score of 77 reaches 60.
              - Complexity 49 (full at 50) gives 29.4 of 30 points. It is the sum of 5 for
                146 characters, 20 for technical words (api database distributed security),
                5 for scope words (complete), 4 for acceptance criteria (2), 15 for 16 h of
                effort.
              - Context utilisation 50 (not known, so assumed; full at 75) gives 13.33 of 20
                points.
              - Subtasks 3 (estimated; full at 3) give 15 of 15 points.
              - Agent confidence 75 (not known, so assumed; full at 60 and below) gives 9.38
                of 15 points.
              - Agent load 0 (not known, so assumed; full at 100) gives 0 of 10 points.
              - Depth remaining 3 of 3 gives 10 of 10 points.
              - Together 77.11 points: score 77.
              - Confidence 50 of the 90 within reach: 50.
              - Mode suggest: the decision is shown and somebody asked.
              - Pattern parallel: parallel 3 (3 or more subtasks and no dependencies 3);
                sequential 2 (then 2); review 2 (write 2).
              - Subtasks: 3 found in the numbered lines of its description.

            Hints
              - Some subtasks wait for others: the pattern dag keeps that order, parallel
                does not.
        "#]],
    );
}

#[test]
fn a_plain_text_is_a_title_and_a_description() {
    check(
        &["decide", "Fix the typo in README.md"],
        &expect![[r#"
            DIRECT: do not delegate
              Fix the typo in README.md

            Score        36  (needed 60)
            Confidence   75  (of 90 within reach; unasked from 76.5)
            Pattern     direct
            Veto        it lists no subtasks, and delegating needs at least 2

            Factor                  value   points
              complexity                5    3.0 of 30  ##..................
              context utilisation      50   13.3 of 20  #############.......
              subtasks                  0    0.0 of 15  ....................
              agent confidence         75    9.4 of 15  #############.......
              agent load                0    0.0 of 10  ....................
              depth remaining           3   10.0 of 10  ####################

            Why
              - Do it directly, whatever the score of 36 says: it lists no subtasks, and
                delegating needs at least 2.
              - Complexity 5 (full at 50) gives 3 of 30 points. It is the sum of 5 for an
                unknown effort, counted as 2 h.
              - Context utilisation 50 (not known, so assumed; full at 75) gives 13.33 of 20
                points.
              - Subtasks 0 (estimated; full at 3) give 0 of 15 points.
              - Agent confidence 75 (not known, so assumed; full at 60 and below) gives 9.38
                of 15 points.
              - Agent load 0 (not known, so assumed; full at 100) gives 0 of 10 points.
              - Depth remaining 3 of 3 gives 10 of 10 points.
              - Together 35.71 points: score 36.
              - Confidence 75 of the 90 within reach: 50, 15 for a clear complexity, 10 for
                a clear number of subtasks.
              - Its pattern would be parallel: the default; nothing speaks for any.

            Hints
              - Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance
                criteria.
        "#]],
    );
    check(
        &[
            "decide",
            "--no-reasoning",
            "Ship it\n- tag all of it, after the tests\n- run tests\n- tell\u{1b}[31m everyone who has been waiting for this release for so very long",
        ],
        &expect![[r#"
            DIRECT: do not delegate
              Ship it

            Score        57  (needed 60)
            Confidence   65  (of 90 within reach; unasked from 76.5)
            Pattern     direct

            Factor                  value   points
              complexity               15    9.0 of 30  ######..............
              context utilisation      50   13.3 of 20  #############.......
              subtasks                  3   15.0 of 15  ####################
              agent confidence         75    9.4 of 15  #############.......
              agent load                0    0.0 of 10  ....................
              depth remaining           3   10.0 of 10  ####################

            Subtasks, from the bulleted lines of its description
                                                                  complexity   time  after
               1  tag all of it, after the tests                          13     1h  2
               2  run tests                                                5     1h
               3  tell\u{1b}[31m everyone who has been waiting…           10     1h

            Hints
              - 3 points short: context utilisation and the agent's confidence could change
                that, if known.
        "#]],
    );
}

#[test]
fn json_has_every_field_of_a_decision() {
    check(
        &[
            "decide",
            "--json",
            "--task-file",
            "billing.json",
            "--agent",
            "lead",
            "--no-reasoning",
            "--context-utilization",
            "90",
        ],
        &expect![[r#"
            {
              "shouldDelegate": true,
              "confidence": 75,
              "score": 84,
              "factors": {
                "complexity": 49,
                "contextUtilization": 90,
                "subtaskCount": 3,
                "agentConfidence": 75,
                "agentLoad": 0,
                "depthRemaining": 3
              },
              "factorContributions": {
                "complexity": 29.4,
                "contextUtilization": 20,
                "subtaskCount": 15,
                "confidence": 9.375,
                "agentLoad": 0,
                "depthRemaining": 10
              },
              "suggestedPattern": "parallel",
              "reasoning": "",
              "hints": [
                "Some subtasks wait for others: the pattern dag keeps that order, parallel does not."
              ],
              "subtasks": [
                {
                  "id": "billing-sub-1",
                  "title": "Design the schema",
                  "complexity": 5,
                  "estimatedDuration": 19200000,
                  "dependencies": []
                },
                {
                  "id": "billing-sub-2",
                  "title": "Then write the endpoints",
                  "complexity": 8,
                  "estimatedDuration": 19200000,
                  "dependencies": [
                    "billing-sub-1"
                  ]
                },
                {
                  "id": "billing-sub-3",
                  "title": "Add security checks",
                  "complexity": 13,
                  "estimatedDuration": 19200000,
                  "dependencies": [
                    "billing-sub-2"
                  ]
                }
              ],
              "subtaskSource": "numberedLines",
              "vetoes": [],
              "mode": "suggest",
              "action": "suggest",
              "reachableConfidence": 100,
              "requiredConfidence": 85,
              "correction": 0,
              "metadata": {
                "taskId": "billing",
                "agentId": "lead",
                "configVersion": "d457c4378fbe",
                "thresholds": {
                  "delegationScore": 60,
                  "autoAcceptConfidence": 85,
                  "complexityTrigger": 50,
                  "minSubtasks": 3,
                  "effortHours": 4.0,
                  "contextUtilization": 75
                }
              }
            }
        "#]],
    );
}

#[test]
fn parts_of_the_answer_can_be_left_out() {
    let session = Session::new();
    let seen =
        session.run(&["decide", "--json", "--no-subtasks", "--no-reasoning", "Do it\n- a\n- b"]);
    let answer: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(answer["reasoning"], "");
    assert_eq!(answer.get("subtasks"), None);
    assert_eq!(answer["factors"]["subtaskCount"], 2);
}

#[test]
fn known_inputs_are_clamped_and_that_is_said() {
    let session = Session::new();
    let seen = session.run(&[
        "decide",
        "--json",
        "--no-reasoning",
        "--context-utilization",
        "150",
        "--agent-confidence",
        "-20",
        "--agent-load",
        "1e9",
        "--depth",
        "-1",
        "--max-depth",
        "2",
        "--child-agents",
        "-3",
        "Do it",
    ]);
    let answer: Value = serde_json::from_str(&seen).unwrap();
    expect![[r#"
        {
          "complexity": 5,
          "contextUtilization": 100,
          "subtaskCount": 0,
          "agentConfidence": 0,
          "agentLoad": 100,
          "depthRemaining": 2
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&answer["factors"]).unwrap());
    expect![[r#"
        [
          "Context utilisation 150 was taken as 100: it goes from 0 to 100.",
          "Agent confidence -20 was taken as 0: it goes from 0 to 100.",
          "Agent load 1000000000 was taken as 100: it goes from 0 to 100.",
          "Depth -1 was taken as 0.",
          "The number of child agents -3 was taken as 0.",
          "Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria."
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&answer["hints"]).unwrap());
}

#[test]
fn the_task_may_come_from_stdin() {
    let session = Session::new();
    let file = session.run_with(&["decide", "--json", "--task-file", "-"], BILLING.as_bytes());
    let answer: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(answer["metadata"]["taskId"], "billing");
    let text = session.run_with(&["decide", "--json", "-"], b"Ship it\n- a\n- b\n");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["subtasks"][1]["title"], "b");
    let with_mark = format!("\u{feff}{BILLING}");
    session.write("mark.json", with_mark);
    assert!(session.run(&["decide", "--task-file", "mark.json"]).starts_with("DELEGATE"));
}

#[test]
fn an_equal_question_gets_the_same_answer_for_a_minute() {
    let session = Session::new();
    let ask = |args: &[&str]| -> Value { serde_json::from_str(&session.run(args)).unwrap() };
    let first = ask(&["decide", "--json", "Ship it"]);
    assert_eq!(first["metadata"].get("cached"), None);
    let again = ask(&["decide", "--json", "Ship it"]);
    assert_eq!(again["metadata"]["cached"], true);
    assert_eq!(again["metadata"]["timestamp"], first["metadata"]["timestamp"]);
    assert_eq!(again["reasoning"], first["reasoning"]);
    assert!(session.run(&["decide", "Ship it"]).contains("Cached      answer of 2"));
    for other in [
        &["decide", "--json", "Ship it now"][..],
        &["decide", "--json", "Ship it", "--agent-load", "1"],
        &["decide", "--json", "Ship it", "--no-subtasks"],
        &["decide", "--json", "Ship it", "--agent", "general-purpose"],
        &["decide", "--json", "Ship it", "--no-cache"],
    ] {
        assert_eq!(ask(other)["metadata"].get("cached"), None, "{other:?}");
    }
    let files = kept(&session);
    assert_eq!(files.len(), 5, "one for each question but the last");
    for file in &files {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let folder = files[0].parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn no_cache_neither_reads_nor_writes() {
    let session = Session::new();
    session.run(&["decide", "--no-cache", "Ship it"]);
    assert!(kept(&session).is_empty());
    session.run(&["decide", "Ship it"]);
    let seen = session.run(&["decide", "--json", "--no-cache", "Ship it"]);
    assert!(!seen.contains("cached"));
}

#[test]
fn an_old_broken_or_future_answer_is_no_answer() {
    let session = Session::new();
    session.run(&["decide", "Ship it"]);
    let file = kept(&session).pop().unwrap();
    let good = fs::read_to_string(&file).unwrap();
    let answer: Value = serde_json::from_str(&good).unwrap();
    let made = answer["metadata"]["timestamp"].as_str().unwrap();
    for bad in [
        good.replace(made, "2020-01-01T00:00:00Z"),
        good.replace(made, "2120-01-01T00:00:00Z"),
        good.replace(made, "yesterday"),
        "{".to_owned(),
        String::new(),
    ] {
        fs::write(&file, bad).unwrap();
        assert!(!session.run(&["decide", "Ship it"]).contains("Cached"));
        assert!(session.run(&["decide", "Ship it"]).contains("Cached"), "it was written anew");
    }
}

#[test]
fn old_answers_are_cleared_away_and_there_are_never_too_many() {
    let session = Session::new();
    session.run(&["decide", "Ship it"]);
    let first = kept(&session).pop().unwrap();
    let folder = first.parent().unwrap().to_owned();
    let old = SystemTime::now() - Duration::from_secs(61);
    fs::File::options().write(true).open(&first).unwrap().set_modified(old).unwrap();
    for n in 0..300 {
        fs::write(folder.join(format!("{n}.json")), "").unwrap();
    }
    session.run(&["decide", "Ship something else"]);
    assert!(!first.exists());
    assert_eq!(kept(&session).len(), 256);
}

#[test]
fn a_cache_that_cannot_be_had_is_done_without() {
    let session = Session::new();
    fs::write(session.dir().join("../home/.cache"), "a file").unwrap();
    for _ in 0..2 {
        let seen = session.run(&["decide", "Ship it"]);
        assert!(seen.starts_with("DIRECT") && !seen.contains("Cached") && !seen.contains('!'));
    }
}

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
fn exactly_one_of_text_and_file_is_needed() {
    let session = Session::new();
    assert!(session.run(&["decide"]).ends_with("[exit 2]\n"));
    assert!(session.run(&["decide", "--task-file", "a", "text"]).ends_with("[exit 2]\n"));
    assert!(session.run(&["decide", "--depth", "deep", "text"]).ends_with("[exit 2]\n"));
}

#[test]
fn an_agent_that_does_not_exist_delegates_nothing() {
    let session = Session::new();
    session.write(".legation/agents/lead.md", LEAD);
    let mut seen = session.run(&["decide", "--agent", "laed", "Ship it"]);
    seen.push_str(&session.run(&["--json", "decide", "--agent", "nobody", "Ship it"]));
    expect![[r#"
        ! ERROR: There is no agent `laed`.
        ! Suggestion: did you mean `lead`? `legation agents list` shows them all
        [exit 1]
        {
          "error": {
            "code": "AGENT_NOT_FOUND",
            "message": "There is no agent `nobody`.",
            "hint": "`legation agents list` shows all agents",
            "details": null
          }
        }
        [exit 1]
    "#]]
    .assert_eq(&seen);
    assert!(session.run(&["decide", "--agent", "lead", "Ship it"]).starts_with("DIRECT"));
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
