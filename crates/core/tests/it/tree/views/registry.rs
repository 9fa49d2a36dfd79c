//! What runs now, by session.

use expect_test::expect;
use legation_core::tree::view;

use crate::story::{Story, completed, parallel};

#[test]
fn every_running_attempt_is_registered_with_its_lineage_and_deadline() {
    let mut story = Story::new(parallel("implement"));
    story.run("implement").after(60).nested("implement", parallel("execute")).run("execute");
    story.asks("execute", "web");
    let registry = view::registry(&story.state);
    expect![[r#"
        {
          "sess_1767225600_implement": {
            "command": "user",
            "subagent": "implement",
            "task": "task-1",
            "start_time": "2026-01-01T00:00:00.000Z",
            "timeout": 600,
            "deadline": "2026-01-01T00:10:00.000Z",
            "status": "running",
            "delegation_depth": 1,
            "delegation_path": [
              "user",
              "implement"
            ]
          },
          "sess_1767225660_execute": {
            "command": "implement",
            "subagent": "execute",
            "task": "task-1",
            "start_time": "2026-01-01T00:01:00.000Z",
            "timeout": 540,
            "deadline": "2026-01-01T00:10:00.000Z",
            "status": "awaiting_approval",
            "delegation_depth": 2,
            "delegation_path": [
              "user",
              "implement",
              "execute"
            ]
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&registry).unwrap());
}

#[test]
fn what_has_ended_is_not_registered() {
    let mut story = Story::new(parallel("a b"));
    story.run("a").returns("a", completed("done"));
    assert!(view::registry(&story.state).is_empty());
}
