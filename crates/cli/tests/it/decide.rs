//! `legation decide`, as a user types it.

mod cache;
mod task_file;

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
                "configVersion": "c4cca64aa9cd",
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
