//! Tasks as they are written down.

use expect_test::expect;
use legation_core::config::{KEYS, Kind};
use legation_core::task::Task;

/// What is wrong with a task, in two lines.
fn told(json: &str) -> String {
    let task: Task = serde_json::from_str(json).unwrap();
    match task.check() {
        Ok(()) => "sound\n".to_owned(),
        Err(unsound) => format!("{unsound}\n  {}\n", unsound.hint),
    }
}

#[test]
fn a_task_that_makes_sense_is_sound() {
    for json in [
        "{}",
        r#"{"dependencies": ["elsewhere"], "delegationConfig": {}}"#,
        r#"{"delegationConfig": {"maxDepth": 1, "qualityThreshold": 0, "tokenBudget": 0}}"#,
        r#"{"delegationConfig": {"maxDepth": 5, "qualityThreshold": 100}}"#,
        r#"{"subtasks": [{"title": "A"}, {"title": "B"}]}"#,
        r#"{"id": "t", "subtasks": [{"title": "A"}, {"title": "B", "dependencies": ["t-sub-1"]}]}"#,
        r#"{"subtasks": [{"id": "a", "title": "A", "dependsOn": [" b "]}, {"id": "b", "title": "B"}]}"#,
    ] {
        assert_eq!(told(json), "sound\n", "{json}");
    }
}

#[test]
fn what_cannot_be_meant_is_named_by_its_field() {
    let tasks = [
        r#"{"delegationConfig": {"maxDepth": 0}}"#,
        r#"{"delegationConfig": {"maxDepth": 6}}"#,
        r#"{"delegationConfig": {"qualityThreshold": 101}}"#,
        r#"{"subtasks": [{"id": "a", "title": "A", "dependsOn": ["a"]}]}"#,
        r#"{"subtasks": [{"id": "a", "title": "A", "dependsOn": ["b"]}, {"id": "b", "title": "B", "dependsOn": ["a"]}]}"#,
        r#"{"subtasks": [{"id": "build", "title": "A"}, {"title": "B", "dependsOn": ["biuld"]}]}"#,
        r#"{"subtasks": [{"title": "A", "dependsOn": ["\u202exyzzy"]}]}"#,
        r#"{"subtasks": [{"id": "a", "title": "A"}, {"id": "a ", "title": "B"}]}"#,
        r#"{"subtasks": [{"title": "A"}, {"id": "task-sub-1", "title": "B"}]}"#,
    ];
    expect![[r#"
        `delegationConfig.maxDepth` is 0
          it takes a whole number from 1 to 5
        `delegationConfig.maxDepth` is 6
          it takes a whole number from 1 to 5
        `delegationConfig.qualityThreshold` is 101
          it takes a whole number from 0 to 100
        `subtasks[].dependencies` cannot be put in order. The plan goes round in a circle: a → a.
          Take out one of these dependencies.
        `subtasks[].dependencies` cannot be put in order. The plan goes round in a circle: a → b → a.
          Take out one of these dependencies.
        `subtasks[1].dependencies` names `biuld`, which is not among the subtasks
          did you mean `build`?
        `subtasks[0].dependencies` names `\u{202e}xyzzy`, which is not among the subtasks
          name the id of another subtask, or leave it out
        `subtasks[1].id` is `a`, like that of subtasks[0]
          give each subtask an id of its own
        `subtasks[1].id` is `task-sub-1`, like that of subtasks[0]
          give each subtask an id of its own
    "#]].assert_eq(&tasks.map(told).concat());
}

#[test]
fn a_task_may_ask_for_the_depths_that_can_be_configured() {
    let key = KEYS.iter().find(|key| key.path == "limits.maxDepth").unwrap();
    assert_eq!(key.kind, Kind::Whole { min: 1, max: 5 });
}
