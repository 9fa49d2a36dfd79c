//! Calls: what somebody asks for, and the command it becomes.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use legation_core::agent::{Definition, Level, Operation, Roster, Subagents};
use legation_core::call::{Asker, Call, House, class_of_hours, of_entries, plan};
use legation_core::config::{Config, Pattern};
use legation_core::ids::AgentId;
use legation_core::text::delegate;
use legation_core::text::story::StoryId;
use legation_core::tree::command::Caller;
use legation_core::tree::plan::{Aggregate, Plan};

fn agent(id: &str, description: &str, allow: Option<&[&str]>) -> Definition {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Definition {
        id: Some(AgentId::new(id)),
        description: description.to_owned(),
        subagents: allow.map(|names| Subagents { allow: list(names), ..Subagents::default() }),
        ..Definition::default()
    }
}

fn roster(config: &Config) -> Roster {
    let agents = [
        agent("ann", "Draws up schemas for databases", Some(&["ben"])),
        agent("ben", "Writes tests for parsers", None),
        agent("cleo", "Knows about colours", None),
    ];
    Roster::new(agents, config)
}

fn root() -> Asker {
    Asker { caller: Caller::Root { name: AgentId::new("user"), depth: 0 }, path: Vec::new() }
}

/// What a call comes to, in words.
fn shown(call: &Call, asker: &Asker) -> String {
    let config = Config::default();
    let roster = roster(&config);
    let planned =
        match plan(call, House { config: &config, roster: &roster }, asker, "del-1".into()) {
            Ok(planned) => planned,
            Err(refusal) => return format!("{}: {}\n", refusal.code, refusal.message),
        };
    let mut text = format!("{:?}: {}\n", planned.delegate.pattern, planned.delegate.title);
    for (target, chosen) in planned.delegate.subtasks.iter().zip(&planned.chosen) {
        let needs: Vec<&str> = target.depends_on.iter().map(|need| need.as_str()).collect();
        let may =
            target.permitted.as_ref().map_or_else(|no| no.code.to_string(), |()| "may".into());
        let line = (target.title.as_str(), target.agent.as_str(), needs, may, &chosen.reason);
        writeln!(text, "  {line:?}").unwrap();
    }
    text
}

fn check(call: &Call, expected: &Expect) {
    expected.assert_eq(&shown(call, &root()));
}

fn call(task: &str, agents: &[&str]) -> Call {
    let agents = agents.iter().map(AgentId::new).collect();
    Call { task: task.to_owned(), agents, ..Call::default() }
}

const LIST: &str =
    "Build it\n1. Design the database schemas\n2. Then write the tests for the parsers\n3. Paint";

#[test]
fn one_agent_and_one_text_is_one_subtask() {
    check(
        &call(LIST, &["ann"]),
        &expect![[r#"
        Parallel: Build it
          ("Build it", "ann", [], "may", "number 1 of the agents given")
    "#]],
    );
}

#[test]
fn a_text_with_parts_falls_apart_and_each_part_finds_its_agent() {
    check(
        &call(LIST, &[]),
        &expect![[r#"
        Dag: Build it
          ("Design the database schemas", "general-purpose", [], "may", "no hint, no list and no description fits")
          ("Then write the tests for the parsers", "ben", ["task-054c88ac4c88-sub-1"], "may", "its description shares `parsers`, `tests`")
          ("Paint", "general-purpose", ["task-054c88ac4c88-sub-2"], "may", "no hint, no list and no description fits")
    "#]],
    );
}

#[test]
fn several_agents_are_used_in_turn() {
    let mut wished = call(LIST, &["ann", "ben"]);
    wished.pattern = Some(Pattern::Sequential);
    check(
        &wished,
        &expect![[r#"
        Sequential: Build it
          ("Design the database schemas", "ann", [], "may", "number 1 of the agents given")
          ("Then write the tests for the parsers", "ben", ["task-054c88ac4c88-sub-1"], "may", "number 2 of the agents given")
          ("Paint", "ann", ["task-054c88ac4c88-sub-2"], "may", "number 1 of the agents given")
    "#]],
    );
}

#[test]
fn a_text_without_parts_stays_whole() {
    check(
        &call("Fix the typo", &[]),
        &expect![[r#"
        Parallel: Fix the typo
          ("Fix the typo", "general-purpose", [], "may", "no hint, no list and no description fits")
    "#]],
    );
    check(
        &call("Fix the typo", &["ann", "ben"]),
        &expect![[r#"
        Parallel: Fix the typo
          ("Fix the typo", "ann", [], "may", "number 1 of the agents given")
    "#]],
    );
}

#[test]
fn patterns_with_a_cast_give_everyone_the_whole_task() {
    for pattern in [Pattern::Debate, Pattern::Review, Pattern::Ensemble, Pattern::Direct] {
        let mut wished = call(LIST, &["ann", "ben"]);
        wished.pattern = Some(pattern);
        let parts = shown(&wished, &root()).lines().count() - 1;
        assert_eq!(parts, if pattern == Pattern::Direct { 1 } else { 2 }, "{pattern:?}");
    }
}

#[test]
fn a_plan_is_kept_as_it_was_given() {
    let text = r#"{"mode": "dag", "subtasks": [
        {"id": "a", "title": "One", "agent": "ann", "timeout": "90s", "budget": 9000},
        {"id": "b", "task": "Two\nat length", "depends_on": ["a"], "required": false},
        {"id": "c"}]}"#;
    let mut wished = call("All of it", &[]);
    wished.plan = Some(serde_json::from_str::<Plan>(text).unwrap());
    check(
        &wished,
        &expect![[r#"
        Dag: All of it
          ("One", "ann", [], "may", "the plan names it")
          ("Two", "general-purpose", ["a"], "may", "no hint, no list and no description fits")
          ("c", "general-purpose", [], "may", "no hint, no list and no description fits")
    "#]],
    );
    let config = Config::default();
    let roster = roster(&config);
    let house = House { config: &config, roster: &roster };
    let delegate = plan(&wished, house, &root(), "del-1".into()).unwrap().delegate;
    let [a, b, _] = delegate.subtasks.as_slice() else { panic!("three subtasks") };
    assert_eq!((a.timeout_ms, a.tokens, a.required), (Some(90_000), Some(9_000), true));
    assert_eq!((b.task.as_str(), b.required), ("Two\nat length", false));
}

#[test]
fn what_cannot_be_understood_is_refused() {
    check(
        &call("  \n ", &[]),
        &expect![[r#"
        VALIDATION_FAILED: The task is empty.
    "#]],
    );
    check(
        &call(&"x".repeat(100_001), &[]),
        &expect![[r#"
        VALIDATION_FAILED: The task has more than 100000 characters.
    "#]],
    );
    let mut none = call("Work", &[]);
    none.width = Some(0);
    check(
        &none,
        &expect![[r#"
        VALIDATION_FAILED: No agent may run at once.
    "#]],
    );
    let mut late = call("Work", &[]);
    let plan = r#"{"subtasks": [{"id": "a", "timeout": "soon"}]}"#;
    late.plan = Some(serde_json::from_str(plan).unwrap());
    check(
        &late,
        &expect![[r#"
        VALIDATION_FAILED: Subtask `a` has a bad timeout `soon`: `soon` is no span of time: a number is missing before `soon`; write it like 90m, 1.5h, 2d, 1h30m or 2 hours.
    "#]],
    );
}

#[test]
fn below_a_root_the_whole_path_is_asked() {
    let path = vec![AgentId::new("ann")];
    let asker = Asker { caller: Caller::Attempt("exec-1".into()), path };
    expect![[r#"
        Parallel: Go on
          ("Go on", "ben", [], "may", "number 1 of the agents given")
    "#]]
    .assert_eq(&shown(&call("Go on", &["ben"]), &asker));
    expect![[r#"
        Parallel: Go on
          ("Go on", "cleo", [], "AGENT_NOT_ALLOWED", "number 1 of the agents given")
    "#]]
    .assert_eq(&shown(&call("Go on", &["cleo"]), &asker));
    expect![[r#"
        Parallel: Go on
          ("Go on", "nobody", [], "AGENT_NOT_FOUND", "number 1 of the agents given")
    "#]]
    .assert_eq(&shown(&call("Go on", &["nobody"]), &asker));
}

#[test]
fn what_must_be_asked_for_waits_for_a_human() {
    let mut config = Config::default();
    config.permissions.ask.push("delegate(ann)".to_owned());
    let roster = roster(&config);
    let found = legation_core::call::candidate(AgentId::new("ann"), &roster, &[]);
    assert_eq!((found.permitted.is_ok(), found.needs_approval), (true, true));
    assert_eq!(legation_core::agent::may_delegate(&roster, &[], &found.agent).unwrap(), Level::Ask);
}

#[test]
fn entries_become_parts_with_their_story_ids() {
    let story = StoryId::new("US-007").unwrap();
    let text = "[delegate:Write the tests:1]\n[delegate:Build the rest:4]";
    let entries = delegate::parse(text, &story, 0).delegations;
    let plan = of_entries("Parts", &entries).plan.unwrap();
    let ids: Vec<&str> = plan.subtasks.iter().map(|part| part.id.as_str()).collect();
    assert_eq!(ids, ["US-007-DEL-001", "US-007-DEL-002"]);
    let classes: Vec<_> = entries.iter().map(|it| class_of_hours(it.estimated_hours)).collect();
    assert_eq!(format!("{classes:?}"), "[Simple, Implement]");
}

#[test]
fn an_entry_of_a_list_brings_its_own_words_and_wishes() {
    let entry = r#"{"id": "T-7", "title": "Build it", "description": "All of it",
        "acceptanceCriteria": ["fast"], "delegationConfig": {"maxDepth": 2, "tokenBudget": 50000,
        "pattern": "review", "qualityThreshold": 80, "subtaskApproval": true,
        "rollbackOnFailure": true, "agentHints": {"cleo": ["build"]}}}"#;
    let mut wished = call("T-7", &[]);
    wished.entry = Some(Box::new(serde_json::from_str(entry).unwrap()));
    wished.budget = Some(60_000);
    let config = Config::default();
    let roster = roster(&config);
    let house = House { config: &config, roster: &roster };
    let delegate = plan(&wished, house, &root(), "del-1".into()).unwrap().delegate;
    assert_eq!(delegate.task_id.as_str(), "T-7");
    assert_eq!(delegate.task, "Build it\nAll of it\nMust hold: fast");
    assert_eq!((delegate.pattern, delegate.subtasks[0].agent.as_str()), (Pattern::Review, "cleo"));
    assert_eq!((delegate.call.max_depth, delegate.call.tokens), (Some(2), Some(50_000)));
    assert_eq!(delegate.settings.quality_threshold, Some(80));
    assert!(delegate.settings.recovery.rollback_on_failure);
    assert!(delegate.subtasks[0].needs_approval);
    wished.yes = true;
    let delegate = plan(&wished, house, &root(), "del-1".into()).unwrap().delegate;
    assert!(!delegate.subtasks[0].needs_approval, "a root has said yes in advance");
}

#[test]
fn a_list_that_begins_with_the_first_line_loses_no_entry() {
    let mut wished = call("1. make x\n2. then make y\n3. then make z", &["ann"]);
    wished.pattern = Some(Pattern::Sequential);
    let shown = shown(&wished, &root());
    assert_eq!(shown.lines().count(), 4, "{shown}");
    assert!(shown.contains("make x\""), "{shown}");
}

#[test]
fn an_option_that_the_pattern_has_no_use_for_is_refused() {
    let asked = |pattern, rounds, aggregate| {
        shown(&Call { pattern, rounds, aggregate, ..call("Fix the typo", &["ann"]) }, &root())
    };
    let planned = |json: &str| {
        let plan = Some(serde_json::from_str::<Plan>(json).unwrap());
        shown(&Call { plan, ..call("Fix the typo", &[]) }, &root())
    };
    let (two, best) = (Some(2), Some(Aggregate::Best));
    let answers = [
        asked(None, two, None),
        asked(Some(Pattern::Ensemble), two, best),
        asked(Some(Pattern::Debate), two, best),
        asked(Some(Pattern::Direct), None, best),
        planned(r#"{"pattern": "dag", "rounds": 2, "subtasks": [{"id": "a", "agent": "ann"}]}"#),
        planned(r#"{"aggregate": "merge", "subtasks": [{"id": "a", "agent": "ann"}]}"#),
        asked(Some(Pattern::Review), two, None),
        asked(Some(Pattern::Ensemble), None, best),
        planned(r#"{"pattern": "debate", "rounds": 2, "subtasks": [{"id": "a", "agent": "ann"}]}"#),
    ];
    expect![[r#"
        VALIDATION_FAILED: `--rounds` goes with the pattern debate or review; this one is parallel.
        VALIDATION_FAILED: `--rounds` goes with the pattern debate or review; this one is ensemble.
        VALIDATION_FAILED: `--aggregate` goes with the pattern ensemble; this one is debate.
        VALIDATION_FAILED: `--aggregate` goes with the pattern ensemble; this one is direct.
        VALIDATION_FAILED: `rounds` goes with the pattern debate or review; this one is dag.
        VALIDATION_FAILED: `aggregate` goes with the pattern ensemble; this one is parallel.
        Review: Fix the typo
          ("Fix the typo", "ann", [], "may", "number 1 of the agents given")
        Ensemble: Fix the typo
          ("Fix the typo", "ann", [], "may", "number 1 of the agents given")
        Debate: Fix the typo
          ("a", "ann", [], "may", "the plan names it")
    "#]]
    .assert_eq(&answers.concat());
}

#[test]
fn a_time_beyond_its_class_is_cut_and_that_is_said() {
    let config = Config::default();
    let mut classed = agent("rex", "Looks things up", None);
    classed.legation.operation = Some(Operation::Research);
    let roster = Roster::new([classed, agent("ann", "", None)], &config);
    let warned = |agent: &str, timeout_ms: u64, parts: Option<&str>| {
        let asked = Call {
            timeout_ms: Some(timeout_ms),
            plan: parts.map(|text| serde_json::from_str(text).unwrap()),
            ..call("Work", &[agent])
        };
        let house = House { config: &config, roster: &roster };
        plan(&asked, house, &root(), "del-1".into()).unwrap().warnings
    };
    assert_eq!(warned("rex", 7_200_000, None), [""; 0]);
    assert_eq!(warned("ann", 80_000_000, None), [""; 0]);
    let both = r#"{"subtasks": [{"id": "x", "agent": "rex"}, {"id": "y", "agent": "rex"}]}"#;
    for parts in [None, Some(both)] {
        assert_eq!(
            warned("rex", 10_800_000, parts),
            ["call: timeout: 3h is more than `research` allows; 2h holds for `rex`"]
        );
    }
}
