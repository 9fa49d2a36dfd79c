//! What is refused or only shown, before any engine is needed.

use expect_test::expect;
use serde_json::{Value, json};

use crate::session::Session;

#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    let session = Session::new();
    session.write("bad.json", "{\"pattern\": \"dag\", \"subtasks\": [{\"id\": 7}]}");
    for (name, timeout) in [("short", "0"), ("part", "1.5"), ("gone", "-1"), ("none", "\"0s\"")] {
        let plan = format!("{{\"subtasks\": [{{\"id\": \"a\", \"timeout\": {timeout}}}]}}");
        session.write(format!("{name}.json"), plan);
    }
    session.write("list.json", "[\"parallel\", null, null, [{\"id\": \"a\"}]]");
    session.write("row.json", "{\"subtasks\": [[\"a\", \"A title\"]]}");
    session.write("round.json", "{\"rounds\": 0, \"subtasks\": [{\"id\": \"a\"}]}");
    session.write("odd.json", "{\"pattern\": \"dag\", \"subtask\": []}");
    let cases: &[&[&str]] = &[
        &["delegate"],
        &["delegate", " "],
        &["delegate", "-p", "waltz", "Fix it"],
        &["delegate", "-d", "9", "Fix it"],
        &["delegate", "--depth", "0", "Fix it"],
        &["delegate", "-d", "-1", "Fix it"],
        &["delegate", "-a", "9999999", "Fix it"],
        &["delegate", "-a", "0", "Fix it"],
        &["delegate", "--rounds", "0", "Fix it"],
        &["delegate", "--rounds", "11", "Fix it"],
        &["delegate", "--rounds", "+1", "Fix it"],
        &["delegate", "-b", "-5", "Fix it"],
        &["delegate", "-b", "2.5", "Fix it"],
        &["delegate", "-b", "99999999999999999999", "Fix it"],
        &["delegate", "--max-cost", "-1", "Fix it"],
        &["delegate", "--max-cost", "NaN", "Fix it"],
        &["delegate", "--max-cost", "1e300", "Fix it"],
        &["delegate", "--timeout", "0", "Fix it"],
        &["delegate", "--timeout", "-5", "Fix it"],
        &["delegate", "--timeout", "soon", "Fix it"],
        &["delegate", "--aggregate", "dice", "Fix it"],
        &["delegate", "--plan", "bad.json", "Fix it"],
        &["delegate", "--plan", "odd.json", "Fix it"],
        &["delegate", "--plan", "-", "-"],
        &["delegate", "--dry-run", "--detach", "Fix it"],
        &["delegate", "--plan", "short.json", "Fix it"],
        &["delegate", "--plan", "part.json", "Fix it"],
        &["delegate", "--plan", "gone.json", "Fix it"],
        &["delegate", "--dry-run", "--plan", "none.json", "Fix it"],
        &["delegate", "--plan", "list.json", "Fix it"],
        &["delegate", "--plan", "row.json", "Fix it"],
        &["delegate", "--plan", "round.json", "Fix it"],
        &["delegate", "--dry-run", "--rounds", "2", "Fix it"],
        &["delegate", "--dry-run", "-p", "review", "--aggregate", "vote", "Fix it"],
        &["direct"],
        &["direct", "-b", "-5", "Fix it"],
    ];
    let before = session.files();
    let mut seen = String::new();
    for case in cases {
        let full: Vec<&str> = ["--json"].into_iter().chain(case.iter().copied()).collect();
        let all = session.run(&full);
        let (json, exit) = all.rsplit_once("[exit ").unwrap();
        let json: Value = serde_json::from_str(json).unwrap();
        let message = json["error"]["message"].as_str().unwrap();
        seen +=
            &format!("{} {}: {message}\n", exit.trim_end().trim_end_matches(']'), case.join(" "));
    }
    expect![[r#"
        2 delegate: the following required arguments were not provided: <TASK>
        2 delegate  : the task is empty
        2 delegate -p waltz Fix it: invalid value 'waltz' for '--pattern <PATTERN>': expected one of parallel, parallel_streaming, sequential, dag, debate, review, ensemble, direct
        2 delegate -d 9 Fix it: invalid value '9' for '--depth <N>': expected a whole number from 1 to 5
        2 delegate --depth 0 Fix it: invalid value '0' for '--depth <N>': expected a whole number from 1 to 5
        2 delegate -d -1 Fix it: invalid value '-1' for '--depth <N>': expected a whole number from 1 to 5
        2 delegate -a 9999999 Fix it: invalid value '9999999' for '--agents <N>': expected a whole number from 1 to 100000
        2 delegate -a 0 Fix it: invalid value '0' for '--agents <N>': expected a whole number from 1 to 100000
        2 delegate --rounds 0 Fix it: invalid value '0' for '--rounds <N>': expected a whole number from 1 to 10
        2 delegate --rounds 11 Fix it: invalid value '11' for '--rounds <N>': expected a whole number from 1 to 10
        2 delegate --rounds +1 Fix it: invalid value '+1' for '--rounds <N>': expected a whole number from 1 to 10
        2 delegate -b -5 Fix it: invalid value '-5' for '--budget <TOKENS>': expected a whole number from 0 to 1000000000000
        2 delegate -b 2.5 Fix it: invalid value '2.5' for '--budget <TOKENS>': expected a whole number from 0 to 1000000000000
        2 delegate -b 99999999999999999999 Fix it: invalid value '99999999999999999999' for '--budget <TOKENS>': expected a whole number from 0 to 1000000000000
        2 delegate --max-cost -1 Fix it: invalid value '-1' for '--max-cost <USD>': expected dollars from 0 to 1000000, such as 0.50
        2 delegate --max-cost NaN Fix it: invalid value 'NaN' for '--max-cost <USD>': expected dollars from 0 to 1000000, such as 0.50
        2 delegate --max-cost 1e300 Fix it: invalid value '1e300' for '--max-cost <USD>': expected dollars from 0 to 1000000, such as 0.50
        2 delegate --timeout 0 Fix it: invalid value '0' for '--timeout <SPAN>': expected more than no time, such as 90s, 30m or 2h
        2 delegate --timeout -5 Fix it: invalid value '-5' for '--timeout <SPAN>': `-5` is no span of time: it is negative; write it like 90m, 1.5h, 2d, 1h30m or 2 hours
        2 delegate --timeout soon Fix it: invalid value 'soon' for '--timeout <SPAN>': `soon` is no span of time: a number is missing before `soon`; write it like 90m, 1.5h, 2d, 1h30m or 2 hours
        2 delegate --aggregate dice Fix it: invalid value 'dice' for '--aggregate <HOW>': expected one of vote, best, merge
        2 delegate --plan bad.json Fix it: bad.json:1:40: invalid type: integer `7`, expected a string
        2 delegate --plan odd.json Fix it: odd.json:1:28: unknown field `subtask`, expected one of `mode`, `pattern`, `rounds`, `aggregate`, `subtasks`
        2 delegate --plan - -: --plan and TASK cannot both read stdin
        2 delegate --dry-run --detach Fix it: the argument '--dry-run' cannot be used with '--detach'
        2 delegate --plan short.json Fix it: short.json:1:38: invalid value: integer `0`, expected `timeout` in whole seconds from 1, or in quotes such as "30m" or "90s"
        2 delegate --plan part.json Fix it: part.json:1:40: invalid type: floating point `1.5`, expected `timeout` in whole seconds from 1, or in quotes such as "30m" or "90s"
        2 delegate --plan gone.json Fix it: gone.json:1:39: invalid type: integer `-1`, expected `timeout` in whole seconds from 1, or in quotes such as "30m" or "90s"
        2 delegate --dry-run --plan none.json Fix it: Subtask `a` has a bad timeout `0s`: it is no time at all.
        2 delegate --plan list.json Fix it: list.json:1:0: invalid type: sequence, expected a plan as an object with `subtasks`
        2 delegate --plan row.json Fix it: row.json:1:14: invalid type: sequence, expected a subtask as an object with `id`
        2 delegate --plan round.json Fix it: round.json: "rounds" is 0, and takes 1 to 10
        2 delegate --dry-run --rounds 2 Fix it: `--rounds` goes with the pattern debate or review; this one is parallel.
        2 delegate --dry-run -p review --aggregate vote Fix it: `--aggregate` goes with the pattern ensemble; this one is review.
        2 direct: the following required arguments were not provided: <TASK>
        2 direct -b -5 Fix it: invalid value '-5' for '--budget <TOKENS>': expected a whole number from 0 to 1000000000000
    "#]].assert_eq(&seen);
    assert_eq!(session.files(), before);
}

#[test]
fn a_number_in_a_plan_is_a_time_in_seconds() {
    let session = Session::new();
    session.write(".legation/agents/linter.md", LINTER);
    let plan = "{\"subtasks\": [{\"id\": \"a\", \"agent\": \"linter\", \"timeout\": 30}]}";
    session.write("plan.json", plan);
    let seen = session.run(&["--json", "delegate", "--dry-run", "--plan", "plan.json", "Fix it"]);
    let value: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(value["subtasks"][0]["timeoutMs"], 30_000);
}

#[test]
fn a_plan_that_is_not_there_is_a_failure() {
    let session = Session::new();
    expect![[r#"
        ! ERROR: cannot read none.json: No such file or directory (os error 2)
        ! Suggestion: check the path, or write - to read from stdin
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["delegate", "--plan", "none.json", "Fix it"]));
}

#[test]
fn a_dry_run_shows_the_plan_and_leaves_no_trace() {
    let session = Session::new();
    session.write(".legation/agents/linter.md", LINTER);
    session.write(
        "plan.json",
        json!({"pattern": "dag", "subtasks": [
            {"id": "a", "title": "lint", "agent": "linter", "timeout": "2m"},
            {"id": "b", "task": "count the lines", "dependsOn": ["a"], "budget": 7000},
        ]})
        .to_string(),
    );
    let before = session.files();
    let plan = ["delegate", "--dry-run", "--plan", "plan.json", "-b", "50000", "Look after it"];
    expect![[r#"
        Look after it
        Nothing was started. Pattern: dag

        a  lint
          linter: the plan names it
          at most 2m, 25,000 tokens

        b  count the lines
          general-purpose: no hint, no list and no description fits
          at most 10m, 7,000 tokens, after a

        Bounds: depth 3, 5 at once, 10 subtasks, 50,000 tokens, $20.00, 1h
    "#]]
    .assert_eq(&session.run(&plan));
    let json: Value =
        serde_json::from_str(&session.run(&[&["--json"], plan.as_slice()].concat())).unwrap();
    expect![[r#"
        {
          "dryRun": true,
          "taskId": "task-153886a847f3",
          "title": "Look after it",
          "task": "Look after it",
          "pattern": "dag",
          "rounds": 0,
          "subtasks": [
            {
              "id": "a",
              "title": "lint",
              "task": "lint",
              "agent": "linter",
              "reason": "the plan names it",
              "role": "worker",
              "dependsOn": [],
              "timeoutMs": 120000,
              "tokens": 25000,
              "costUsd": 10.0,
              "required": true,
              "path": [
                "user",
                "linter"
              ]
            },
            {
              "id": "b",
              "title": "count the lines",
              "task": "count the lines",
              "agent": "general-purpose",
              "reason": "no hint, no list and no description fits",
              "role": "worker",
              "dependsOn": [
                "a"
              ],
              "timeoutMs": 600000,
              "tokens": 7000,
              "costUsd": 10.0,
              "required": true,
              "path": [
                "user",
                "general-purpose"
              ]
            }
          ],
          "agents": [
            {
              "subtask": "a",
              "title": "lint",
              "agent": "linter",
              "reason": "the plan names it",
              "dependsOn": []
            },
            {
              "subtask": "b",
              "title": "count the lines",
              "agent": "general-purpose",
              "reason": "no hint, no list and no description fits",
              "dependsOn": [
                "a"
              ]
            }
          ],
          "bounds": {
            "depth": 3,
            "width": 5,
            "count": 10,
            "tokens": 50000,
            "costUsd": 20.0,
            "timeMs": 3600000
          }
        }
    "#]]
    .assert_eq(&format!("{}\n", serde_json::to_string_pretty(&json).unwrap()));
    assert_eq!(session.files(), before);
}

const LINTER: &str = "---\nid: linter\ndescription: looks for mistakes\nlegation:\n  \
                      runner: command\n  command: [\"true\"]\n---\n";

#[test]
fn a_dry_run_of_what_would_be_refused_is_refused() {
    let session = Session::new();
    session.write(".legation/agents/linter.md", LINTER);
    let zero = ["delegate", "--dry-run", "-b", "0", "--agent", "linter", "Fix it"];
    expect![[r#"
        ! ERROR: Token budget exceeded: 0 tokens for a subtask that needs 5,001.
        ! 
        ! Available for it: 0 tokens
        ! Subtask estimate: 5,001 tokens
        ! Caller's remainder: 0 tokens
        ! Attempted delegation: Fix it
        ! 
        ! Suggestion: Ask for fewer subtasks at once, give the call a larger budget, or raise limits.maxTotalTokens.
        [exit 6]
    "#]].assert_eq(&session.run(&zero));
    expect![[r#"
        {
          "error": {
            "code": "BUDGET_EXCEEDED",
            "message": "Token budget exceeded: 0 tokens for a subtask that needs 5,001.",
            "hint": "Ask for fewer subtasks at once, give the call a larger budget, or raise limits.maxTotalTokens.",
            "details": {
              "kind": "tokens",
              "available": 0,
              "estimate": 5001,
              "remaining": 0,
              "attempted": "Fix it"
            }
          },
          "remaining": {
            "depth": 3,
            "width": 5,
            "count": 10,
            "tokens": 2000000,
            "costUsd": 20.0,
            "timeMs": 3600000
          }
        }
        [exit 6]
    "#]].assert_eq(&session.run(&[&["--json"], zero.as_slice()].concat()));
    let nobody = ["delegate", "--dry-run", "--agent", "nobody", "Fix it"];
    expect![[r#"
        ! ERROR: There is no agent `nobody`.
        ! Suggestion: `legation agents list` shows all agents
        [exit 1]
    "#]]
    .assert_eq(&session.run(&nobody));
    session.write(".legation/config.toml", "enabled = false\n");
    expect![[r#"
        ! ERROR: Delegation is switched off.
        ! Suggestion: Set `enabled = true` in .legation/config.toml, or ENABLE_DELEGATION=true.
        [exit 6]
    "#]]
    .assert_eq(&session.run(&["delegate", "--dry-run", "--agent", "linter", "Fix it"]));
}
