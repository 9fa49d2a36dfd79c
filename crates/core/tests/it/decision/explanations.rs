//! Reasoning and hints, word by word.

use expect_test::{Expect, expect};
use legation_core::config::Mode;
use legation_core::decision::{Record, Request};
use legation_core::task::TaskConfig;

use super::{Question, strings, strong};

fn check(question: &Question, expect: &Expect) {
    let decision = question.ask();
    let mut text = decision.reasoning;
    for hint in decision.hints {
        text.push_str("\n> ");
        text.push_str(&hint);
    }
    expect.assert_eq(&text);
}

#[test]
fn a_strong_task_is_explained() {
    check(
        &strong(),
        &expect![[r#"
            Delegate: the score of 100 reaches 60.
            Complexity 50 (full at 50) gives 30 of 30 points. It is the sum of 5 for 74 characters, 25 for technical words (api async database integration performance security), 5 for scope words (entire), 15 for 24 h of effort.
            Context utilisation 100 (full at 75) gives 20 of 20 points.
            Subtasks 3 (estimated; full at 3) give 15 of 15 points.
            Agent confidence 10 (full at 60 and below) gives 15 of 15 points.
            Agent load 100 (full at 100) gives 10 of 10 points.
            Depth remaining 3 of 3 gives 10 of 10 points.
            Together 100 points: score 100.
            Confidence 85 of the 100 within reach: 50, 10 for a clear agent confidence, 10 for a clear context utilisation, 15 for a clear score.
            Mode suggest: the decision is shown and somebody asked.
            Pattern parallel: parallel 3 (3 or more subtasks and no dependencies 3); debate 2 (an unsure agent 2); ensemble 1 (an unsure agent 1).
            Subtasks: 3 found in the bulleted lines of its description."#]],
    );
}

#[test]
fn a_weak_task_is_explained_with_what_is_missing() {
    let mut question = Question::about("Fix the typo");
    question.task.acceptance_criteria = strings(2);
    question.task.effort = Some("5m".to_owned());
    check(
        &question,
        &expect![[r#"
            Do it directly: the score of 45 is below 60.
            Complexity 4 (full at 50) gives 2.4 of 30 points. It is the sum of 4 for acceptance criteria (2).
            Context utilisation 50 (not known, so assumed; full at 75) gives 13.33 of 20 points.
            Subtasks 2 (estimated; full at 3) give 10 of 15 points.
            Agent confidence 75 (not known, so assumed; full at 60 and below) gives 9.38 of 15 points.
            Agent load 0 (not known, so assumed; full at 100) gives 0 of 10 points.
            Depth remaining 3 of 3 gives 10 of 10 points.
            Together 45.11 points: score 45.
            Confidence 65 of the 90 within reach: 50, 15 for a clear complexity.
            Its pattern would be parallel: the default; nothing speaks for any.
            Subtasks: 2 found in its acceptance criteria.
            > 15 points short: context utilisation and the agent's confidence could change that, if known."#]],
    );
    question.known.context_utilization = Some(10.0);
    assert!(question.ask().hints[0].contains("the agent's confidence could change that"));
    question.known.agent_confidence = Some(95.0);
    assert!(question.ask().hints[0].contains("/delegate"));
    question.known.context_utilization = None;
    assert!(question.ask().hints[0].contains("short: context utilisation could change that"));
}

#[test]
fn every_kind_of_word_and_figure_is_explained() {
    let mut question = strong();
    question.config.mode = Mode::Smart;
    question.known.record = Some(Record { succeeded: 3, failed: 1 });
    question.task.dependencies = strings(2);
    question.task.acceptance_criteria = strings(4);
    question.task.phase = Some("implementation".to_owned());
    question.task.title.push_str(" and then compare alternatives, draft and verify; weigh up");
    question.config.patterns.hints.debate = vec!["Weigh up".to_owned()];
    check(
        &question,
        &expect![[r#"
            Delegate: the score of 100 reaches 60.
            Complexity 64 (full at 50) gives 30 of 30 points. It is the sum of 5 for 132 characters, 25 for technical words (api async database integration performance security), 5 for scope words (entire), 6 for dependencies (2), 8 for acceptance criteria (4), 15 for 24 h of effort.
            Context utilisation 100 (full at 75) gives 20 of 20 points.
            Subtasks 4 (estimated; full at 3) give 15 of 15 points.
            Agent confidence 10 (full at 60 and below) gives 15 of 15 points.
            Agent load 100 (full at 100) gives 10 of 10 points.
            Depth remaining 3 of 3 gives 10 of 10 points.
            Together 100 points; 3 of 4 earlier delegations of this kind succeeded, which adds +3: score 100.
            Confidence 85 of the 100 within reach: 50, 10 for a clear agent confidence, 10 for a clear context utilisation, 15 for a clear score.
            Mode smart: 85 reaches the 85 required, so it goes ahead.
            Pattern debate: parallel 1 (implementation phase 1); sequential 5 (then 2, 3 or more subtasks and dependencies 2, implementation phase 1); debate 8 (alternatives 2, compare 2, Weigh up 2, an unsure agent 2); review 2 (draft 2); ensemble 3 (verify 2, an unsure agent 1).
            Subtasks: 3 found in the bulleted lines of its description."#]],
    );
}

#[test]
fn adjusted_inputs_are_told() {
    let mut question = strong();
    question.task.effort = Some("soon".to_owned());
    question.known.context_utilization = Some(150.0);
    question.known.agent_confidence = Some(-0.5);
    question.known.agent_load = Some(f64::NAN);
    question.known.depth = Some(-1);
    question.known.max_depth = Some(5);
    question.known.child_agents = Some(-2);
    question.task.delegation_config =
        Some(TaskConfig { max_depth: Some(9), ..TaskConfig::default() });
    let hints = question.ask().hints.join("\n");
    expect![[r#"
        Context utilisation 150 was taken as 100: it goes from 0 to 100.
        Agent confidence -0.5 was taken as 0: it goes from 0 to 100.
        Agent load is not a number, so it was taken as not known.
        Depth -1 was taken as 0.
        The decision supposes a maximum depth of 5, but the configuration allows 3: deeper delegations are refused until limits.maxDepth is raised.
        The task asks for a maximum depth of 9; a task can only lower the 5 that is allowed.
        The number of child agents -2 was taken as 0.
        Effort "soon" was not understood and counted as 2 h; write it like 90m, 1.5h, 2d or 1h30m."#]].assert_eq(&hints);
}

#[test]
fn a_strange_effort_is_shown_in_part_only() {
    let mut question = strong();
    question.task.effort = Some("é".repeat(1_000_000));
    assert!(question.ask().hints[0].len() < 250);
}

#[test]
fn auto_says_why_it_asks() {
    let mut question = Question::about("t\n- a\n- b\n- c");
    question.config.mode = Mode::Auto;
    question.task.effort = Some("8h".to_owned());
    question.known.context_utilization = Some(75.0);
    question.known.agent_confidence = Some(60.0);
    let decision = question.ask();
    assert!(decision.should_delegate);
    expect!["Not sure enough to go ahead unasked: confirm it, or use /delegate."]
        .assert_eq(&decision.hints.join("\n"));
}

#[test]
fn parallel_subtasks_that_wait_are_told() {
    let mut question = strong();
    question.task.description.push_str("\n- finish, depends on step 1");
    let decision = question.ask();
    assert!(decision.hints.iter().any(|hint| hint.contains("the pattern dag keeps that order")));
}

#[test]
fn steps_in_sentences_are_proposed_but_not_counted() {
    let mut question = strong();
    question.task.description = "Write the api. Test the database.".to_owned();
    let decision = question.ask();
    assert!(!decision.should_delegate && decision.score >= 60);
    assert_eq!(decision.factors.subtask_count, 0);
    assert_eq!(decision.subtasks.unwrap().len(), 2);
    expect!["2 steps were read out of its sentences; list them as lines to have them counted, or use /delegate."].assert_eq(&decision.hints.join("\n"));
    question.request = Request::Delegate;
    assert!(question.ask().should_delegate);
}

#[test]
fn parts_that_are_not_wanted_are_not_made() {
    let mut question = strong();
    question.include.subtasks = false;
    question.include.reasoning = false;
    let decision = question.ask();
    let json = serde_json::to_value(&decision).unwrap();
    assert_eq!(json["reasoning"], "");
    assert!(json.get("subtasks").is_none() && json.get("subtaskSource").is_none());
    let full = strong().ask();
    assert_eq!((decision.score, decision.confidence), (full.score, full.confidence));
}

#[test]
fn the_answer_has_every_field_in_its_place() {
    let mut question = strong();
    question.task.id = Some("T-1".into());
    question.known.agent = Some("lead".into());
    question.known.context_utilization = Some(37.5);
    question.include.reasoning = false;
    let text = serde_json::to_string_pretty(&question.ask()).unwrap();
    expect![[r#"
        {
          "shouldDelegate": true,
          "confidence": 75,
          "score": 90,
          "factors": {
            "complexity": 50,
            "contextUtilization": 37.5,
            "subtaskCount": 3,
            "agentConfidence": 10,
            "agentLoad": 100,
            "depthRemaining": 3
          },
          "factorContributions": {
            "complexity": 30,
            "contextUtilization": 10,
            "subtaskCount": 15,
            "confidence": 15,
            "agentLoad": 10,
            "depthRemaining": 10
          },
          "suggestedPattern": "parallel",
          "reasoning": "",
          "hints": [],
          "subtasks": [
            {
              "id": "T-1-sub-1",
              "title": "database security",
              "complexity": 15,
              "estimatedDuration": 28800000,
              "dependencies": []
            },
            {
              "id": "T-1-sub-2",
              "title": "async performance",
              "complexity": 15,
              "estimatedDuration": 28800000,
              "dependencies": []
            },
            {
              "id": "T-1-sub-3",
              "title": "integration",
              "complexity": 10,
              "estimatedDuration": 28800000,
              "dependencies": []
            }
          ],
          "subtaskSource": "bulletedLines",
          "vetoes": [],
          "mode": "suggest",
          "action": "suggest",
          "reachableConfidence": 100,
          "requiredConfidence": 85,
          "correction": 0,
          "metadata": {
            "taskId": "T-1",
            "agentId": "lead",
            "timestamp": "2026-01-02T03:04:05Z",
            "configVersion": "0123456789ab",
            "thresholds": {
              "delegationScore": 60,
              "autoAcceptConfidence": 85,
              "complexityTrigger": 50,
              "minSubtasks": 3,
              "effortHours": 4.0,
              "contextUtilization": 75
            }
          }
        }"#]]
    .assert_eq(&text);
    let back: legation_core::decision::DelegationDecision = serde_json::from_str(&text).unwrap();
    assert_eq!(back, question.ask());
}
