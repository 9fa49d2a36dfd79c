//! What forbids delegating, and what a person's word can do about it.

use expect_test::{Expect, expect};
use legation_core::config::{Mode, Pattern};
use legation_core::decision::{Action, Request, Rule};
use legation_core::task::TaskConfig;

use super::{Question, strings, strong};

fn check(change: impl FnOnce(&mut Question), expect: &Expect) {
    let mut question = strong();
    change(&mut question);
    let decision = question.ask();
    assert!(!decision.should_delegate);
    assert_eq!(decision.suggested_pattern, Pattern::Direct);
    assert_eq!(decision.action, Action::Direct);
    let mut text = decision.reasoning.lines().next().unwrap_or_default().to_owned();
    for veto in &decision.vetoes {
        text.push_str(&format!("\n{:?}", veto.rule));
    }
    for hint in &decision.hints {
        text.push_str(&format!("\n> {hint}"));
    }
    expect.assert_eq(&text);
}

#[test]
fn without_a_veto_the_strong_task_is_delegated() {
    let decision = strong().ask();
    assert!(decision.should_delegate && decision.vetoes.is_empty());
}

#[test]
fn a_switch_and_a_mode_forbid_it() {
    check(
        |question| question.config.enabled = false,
        &expect![[r#"
        Do it directly, whatever the score of 100 says: delegation is switched off.
        SwitchedOff
        > Set `enabled = true` in the configuration to delegate."#]],
    );
    check(
        |question| question.config.mode = Mode::Disabled,
        &expect![[r#"
            Do it directly, whatever the score of 100 says: the mode is disabled.
            ModeDisabled
            > Set the mode to suggest, auto or smart, or ask for delegation with /delegate."#]],
    );
    let own = |mode| Some(TaskConfig { mode: Some(mode), ..TaskConfig::default() });
    check(
        |question| question.task.delegation_config = own(Mode::Disabled),
        &expect![[r#"
            Do it directly, whatever the score of 100 says: the mode is disabled.
            ModeDisabled
            > Set the mode to suggest, auto or smart, or ask for delegation with /delegate."#]],
    );
    // A task may set its own mode, but not switch delegation on.
    let mut question = strong();
    question.config.mode = Mode::Disabled;
    question.task.delegation_config = own(Mode::Suggest);
    assert!(question.ask().should_delegate);
    question.config.enabled = false;
    assert!(!question.ask().should_delegate);
}

#[test]
fn no_depth_left_forbids_it() {
    check(
        |question| question.known.depth = Some(3),
        &expect![[r#"
        Do it directly, whatever the score of 90 says: no depth is left: the agent stands at 3 and the maximum is 3.
        NoDepthLeft
        > Do it here, or delegate from higher up; limits.maxDepth goes up to 5."#]],
    );
    check(
        |question| question.known.max_depth = Some(0),
        &expect![[r#"
        Do it directly, whatever the score of 90 says: no depth is left: the agent stands at 0 and the maximum is 0.
        NoDepthLeft
        > Do it here, or delegate from higher up; limits.maxDepth goes up to 5."#]],
    );
    check(
        |question| {
            question.known.depth = Some(1);
            question.task.delegation_config =
                Some(TaskConfig { max_depth: Some(1), ..TaskConfig::default() });
        },
        &expect![[r#"
            Do it directly, whatever the score of 90 says: no depth is left: the agent stands at 1 and the maximum is 1.
            NoDepthLeft
            > Do it here, or delegate from higher up; limits.maxDepth goes up to 5."#]],
    );
    let mut question = strong();
    question.known.depth = Some(2);
    assert!(question.ask().should_delegate);
}

#[test]
fn child_tasks_forbid_it() {
    check(
        |question| question.task.child_task_ids = strings(1),
        &expect![[r#"
            Do it directly, whatever the score of 100 says: the task already has 1 child task.
            HasChildren
            > Follow the child tasks it was split into: s1."#]],
    );
    check(
        |question| question.task.child_task_ids = strings(6),
        &expect![[r#"
            Do it directly, whatever the score of 100 says: the task already has 6 child tasks.
            HasChildren
            > Follow the child tasks it was split into: s1, s2, s3, s4, s5, …."#]],
    );
}

#[test]
fn fewer_than_two_parts_forbid_it() {
    check(
        |question| question.task.description = String::new(),
        &expect![[r#"
            Do it directly, whatever the score of 70 says: it lists no subtasks, and delegating needs at least 2.
            FewerThanTwoSubtasks
            > Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria."#]],
    );
    check(
        |question| question.task.description = "- one".to_owned(),
        &expect![[r#"
            Do it directly, whatever the score of 75 says: it lists 1 subtask, and delegating needs at least 2.
            FewerThanTwoSubtasks
            > Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria."#]],
    );
    check(
        |question| question.task.description = "1. one\n  - its detail".to_owned(),
        &expect![[r#"
            Do it directly, whatever the score of 80 says: 2 subtasks were estimated, but no source names at least 2.
            FewerThanTwoSubtasks
            > Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria."#]],
    );
    check(
        |question| {
            question.task.description = String::new();
            question.task.acceptance_criteria = vec![" ".to_owned(); 3];
        },
        &expect![[r#"
            Do it directly, whatever the score of 89 says: 3 subtasks were estimated, but no source names at least 2.
            FewerThanTwoSubtasks
            > Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria."#]],
    );
}

#[test]
fn seven_child_agents_forbid_it() {
    check(
        |question| question.known.child_agents = Some(7),
        &expect![[r#"
            Do it directly, whatever the score of 100 says: the agent has 7 child agents, and 7 are enough.
            TooManyChildAgents
            > Wait until some of the child agents have ended."#]],
    );
    let mut question = strong();
    for few in [6, 0, -1] {
        question.known.child_agents = Some(few);
        assert!(question.ask().should_delegate, "{few}");
    }
}

#[test]
fn a_pattern_of_direct_forbids_it() {
    let own = |pattern| Some(TaskConfig { pattern: Some(pattern), ..TaskConfig::default() });
    check(
        |question| question.task.delegation_config = own(Pattern::Direct),
        &expect![[r#"
            Do it directly, whatever the score of 100 says: its pattern is direct: no delegation.
            PatternIsDirect
            > Set another pattern for the task, or another default pattern, to delegate it."#]],
    );
    check(
        |question| {
            question.config.patterns.default = Pattern::Direct;
            question.known.agent_confidence = None;
            question.task.description = "- one api\n- two".to_owned();
        },
        &expect![[r#"
            Do it directly, whatever the score of 74 says: its pattern is direct: no delegation.
            PatternIsDirect
            > Set another pattern for the task, or another default pattern, to delegate it."#]],
    );
}

#[test]
fn every_veto_is_told() {
    check(
        |question| {
            question.config.mode = Mode::Disabled;
            question.known.depth = Some(7);
            question.known.child_agents = Some(12);
            question.task.child_task_ids = strings(2);
            question.task.description = String::new();
        },
        &expect![[r#"
            Do it directly, whatever the score of 60 says: the mode is disabled; no depth is left: the agent stands at 7 and the maximum is 3; the task already has 2 child tasks; it lists no subtasks, and delegating needs at least 2; the agent has 12 child agents, and 7 are enough.
            ModeDisabled
            NoDepthLeft
            HasChildren
            FewerThanTwoSubtasks
            TooManyChildAgents
            > Set the mode to suggest, auto or smart, or ask for delegation with /delegate.
            > Do it here, or delegate from higher up; limits.maxDepth goes up to 5.
            > Follow the child tasks it was split into: s1, s2.
            > Name at least 2 parts: as numbered lines, as bulleted lines or as acceptance criteria.
            > Wait until some of the child agents have ended."#]],
    );
}

#[test]
fn a_wish_for_direct_execution_is_granted_without_advice() {
    check(
        |question| question.request = Request::Direct,
        &expect![[r#"
        Do it directly, whatever the score of 100 says: direct execution was asked for.
        AskedForDirect"#]],
    );
}

#[test]
fn a_wish_to_delegate_overrides_judgement_but_no_bound() {
    let mut weak = Question::about("Fix the typo");
    weak.config.mode = Mode::Disabled;
    weak.task.child_task_ids = strings(1);
    weak.task.delegation_config =
        Some(TaskConfig { pattern: Some(Pattern::Direct), ..TaskConfig::default() });
    weak.request = Request::Delegate;
    let decision = weak.ask();
    assert!(decision.should_delegate && decision.score < 60);
    assert_eq!(decision.action, Action::Delegate);
    assert_ne!(decision.suggested_pattern, Pattern::Direct);
    assert_eq!(decision.subtasks, Some(Vec::new()));
    expect!["It has no parts, so it is delegated in one piece."]
        .assert_eq(&decision.hints.join("\n"));

    weak.known.depth = Some(3);
    weak.known.child_agents = Some(7);
    weak.config.enabled = false;
    let decision = weak.ask();
    let rules: Vec<Rule> = decision.vetoes.iter().map(|veto| veto.rule).collect();
    assert_eq!(rules, [Rule::SwitchedOff, Rule::NoDepthLeft, Rule::TooManyChildAgents]);
    assert!(!decision.should_delegate);
}
