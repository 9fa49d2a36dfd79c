//! A delegation as the API shows it.

use expect_test::expect;
use legation_core::time::Now;
use legation_core::tree::view::{self, Stamp};
use serde_json::{Value, json};

use crate::story::{ROOT, Story, blocked, completed, dag, failed, parallel};

fn status(story: &Story) -> Value {
    let no = story.delegation(ROOT);
    serde_json::to_value(view::status(&story.state, no, story.now)).unwrap()
}

#[test]
fn a_running_delegation_is_shown_whole() {
    let mut story = Story::new(parallel("a b").about("Build it"));
    story.run("a").after(30).uses("a", 1_200).pays("a", 0.25);
    expect![[r#"
        {
          "delegationId": "del-1",
          "taskId": "task-1",
          "title": "Build it",
          "status": "running",
          "pattern": "parallel",
          "progress": {
            "completed": 0,
            "total": 2,
            "percentage": 0
          },
          "startedAt": "2026-01-01T00:00:00.000Z",
          "endedAt": null,
          "subtasks": [
            {
              "id": "a",
              "title": "Do a",
              "agent": "a",
              "role": "worker",
              "round": 0,
              "status": "running",
              "dependsOn": [],
              "blockedBy": [],
              "attempts": 1,
              "sessionId": "sess_1767225600_00000a",
              "startedAt": "2026-01-01T00:00:00.000Z",
              "endedAt": null,
              "deadline": "2026-01-01T00:10:00.000Z",
              "elapsedTime": 30000,
              "timeoutMs": 600000,
              "depth": 1,
              "path": [
                "user",
                "a"
              ],
              "progress": null,
              "lastAction": null,
              "quality": null,
              "error": null,
              "return": null,
              "receipt": null,
              "delegations": []
            },
            {
              "id": "b",
              "title": "Do b",
              "agent": "b",
              "role": "worker",
              "round": 0,
              "status": "queued",
              "dependsOn": [],
              "blockedBy": [],
              "attempts": 0,
              "sessionId": null,
              "startedAt": null,
              "endedAt": null,
              "deadline": null,
              "elapsedTime": null,
              "timeoutMs": 600000,
              "depth": 1,
              "path": [
                "user",
                "b"
              ],
              "progress": null,
              "lastAction": null,
              "quality": null,
              "error": null,
              "return": null,
              "receipt": null,
              "delegations": []
            }
          ],
          "metrics": {
            "tokensUsed": 1200,
            "estimatedCost": 0.25,
            "elapsedTime": 30000,
            "avgSubtaskQuality": null
          },
          "result": null
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&status(&story)).unwrap());
}

#[test]
fn an_ended_subtask_shows_its_return_and_its_receipt() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(30).returns("a", completed("done").quality(88).raw("raw"));
    let shown = status(&story);
    let subtask = &shown["subtasks"][0];
    assert_eq!(subtask["return"]["summary"], "done");
    assert_eq!(subtask["receipt"]["durationMs"], 30_000);
    assert_eq!((&subtask["quality"], &subtask["raw"]), (&json!(88), &json!("raw")));
    assert_eq!(subtask["endedAt"], "2026-01-01T00:00:30.000Z");
    assert_eq!(shown["result"]["summary"], "done");
    assert_eq!(shown["endedAt"], "2026-01-01T00:00:30.000Z");
}

#[test]
fn progress_rounds_down() {
    let mut story = Story::new(parallel("a b c"));
    assert_eq!(status(&story)["progress"], json!({"completed": 0, "total": 3, "percentage": 0}));
    story.run("a").returns("a", completed("done"));
    assert_eq!(status(&story)["progress"], json!({"completed": 1, "total": 3, "percentage": 33}));
    story.skip("b");
    assert_eq!(status(&story)["progress"], json!({"completed": 2, "total": 3, "percentage": 66}));
    story.run("c").returns("c", completed("done"));
    assert_eq!(status(&story)["progress"], json!({"completed": 3, "total": 3, "percentage": 100}));
}

#[test]
fn what_is_blocked_names_what_is_in_its_way() {
    let mut story = Story::bounded(dag("a b x<a,b y<x"), |s| s.recovery.auto_retry = false);
    story.run("a b").returns("a", failed("broke")).returns("b", completed("done"));
    let shown = status(&story);
    let of = |n: usize| (&shown["subtasks"][n]["status"], &shown["subtasks"][n]["blockedBy"]);
    assert_eq!(of(2), (&json!("blocked"), &json!(["a"])));
    assert_eq!(of(3), (&json!("blocked"), &json!(["x"])));
    assert_eq!(of(1), (&json!("completed"), &json!([])));
}

#[test]
fn what_has_ended_is_not_blocked_any_more() {
    let mut story = Story::bounded(dag("a b<a x"), |s| s.recovery.auto_retry = false);
    story.cancel_one("b").run("a").returns("a", failed("broke"));
    let shown = status(&story);
    assert_eq!(shown["subtasks"][1]["status"], "cancelled");
    assert_eq!(shown["subtasks"][1]["blockedBy"], json!([]));
}

#[test]
fn what_only_waits_is_not_blocked() {
    let story = Story::new(dag("a b<a"));
    let shown = status(&story);
    assert_eq!(shown["subtasks"][1]["blockedBy"], json!([]));
    assert_eq!(shown["subtasks"][1]["dependsOn"], json!(["a"]));
}

#[test]
fn what_is_tried_again_later_says_why_and_until_when() {
    let mut story = Story::new(parallel("a b"));
    let until = story.now.plus_ms(300_000);
    story.run("a").returns("a", failed("busy").hold_until(until));
    story.run("b").returns("b", failed("odd"));
    let waits = |at: usize| status(&story)["subtasks"][at]["waits"].clone();
    assert_eq!(waits(0)["why"], "its provider takes nothing before");
    assert_eq!(waits(0)["until"], "2026-01-01T00:05:00.000Z");
    assert_eq!(waits(1)["why"], "it failed and is tried again");
}

#[test]
fn a_pause_and_a_cancel_give_their_reasons() {
    let mut story = Story::new(parallel("a"));
    story.run("a").pause(ROOT);
    assert_eq!(
        (&status(&story)["status"], &status(&story)["reason"]),
        (&json!("paused"), &json!("lunch"))
    );
    story.cancel(ROOT);
    assert_eq!(status(&story)["reason"], "ana: enough");
}

#[test]
fn the_mean_of_what_was_measured_is_the_quality_of_the_whole() {
    let mut story = Story::new(parallel("a b c"));
    story.run("a b c").returns("a", completed("done").quality(90));
    story.returns("b", completed("done").quality(85)).returns("c", completed("done"));
    assert_eq!(status(&story)["metrics"]["avgSubtaskQuality"], 87);
    let mut unmeasured = Story::new(parallel("a"));
    unmeasured.run("a").returns("a", completed("done"));
    assert_eq!(status(&unmeasured)["metrics"]["avgSubtaskQuality"], Value::Null);
}

#[test]
fn absurd_qualities_do_not_overflow() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").returns("a", completed("done").quality(u32::MAX));
    story.returns("b", completed("done").quality(u32::MAX));
    assert_eq!(status(&story)["metrics"]["avgSubtaskQuality"], u32::MAX);
}

#[test]
fn time_stands_still_for_what_has_ended() {
    let mut story = Story::new(parallel("a"));
    assert_eq!(status(&story)["metrics"]["elapsedTime"], 0);
    story.run("a").after(7);
    assert_eq!(status(&story)["metrics"]["elapsedTime"], 7_000);
    story.returns("a", completed("done")).after(100);
    assert_eq!(status(&story)["metrics"]["elapsedTime"], 7_000);
}

#[test]
fn what_an_attempt_delegated_stands_below_its_subtask() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b");
    let shown = status(&story);
    let below = &shown["subtasks"][0]["delegations"][0];
    assert_eq!(below["delegationId"], "del-a");
    assert_eq!(below["subtasks"][0]["path"], json!(["user", "a", "b"]));
    assert_eq!(below["subtasks"][0]["depth"], 2);
}

#[test]
fn an_instant_beyond_all_calendars_is_a_bare_number() {
    let told = |ms| Stamp(Now(ms)).to_string();
    assert_eq!(told(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(told(1_767_225_600_123), "2026-01-01T00:00:00.123Z");
    assert_eq!(told(u64::MAX), i64::MAX.to_string());
}

#[test]
fn paused_time_is_in_no_figure() {
    let mut story = Story::bounded(parallel("a b"), |s| s.limits.max_concurrent_agents = 1);
    story.run("a").after(10).pause_now(ROOT).go().after(100);
    let figures = |story: &Story| {
        let view = status(story);
        let of = |at: &str| view.pointer(at).cloned().unwrap_or_default();
        [of("/metrics/elapsedTime"), of("/subtasks/0/elapsedTime"), of("/subtasks/1/elapsedTime")]
    };
    assert_eq!(figures(&story), [json!(10_000), json!(10_000), Value::Null]);
    story.resume(ROOT).go().after(5).returns("a", completed("done"));
    assert_eq!(figures(&story), [json!(15_000), json!(15_000), Value::Null]);
    let receipt = &status(&story)["subtasks"][0]["receipt"]["durationMs"];
    assert_eq!(*receipt, json!(15_000));
    // It ends while it is paused: what it did meanwhile does not count either.
    story.run("b").after(2).pause(ROOT).after(50).returns("b", completed("done"));
    assert_eq!(status(&story)["status"], "completed");
    let ended = [json!(17_000), json!(15_000), json!(2_000)];
    assert_eq!(figures(&story), ended);
    story.after(1_000);
    assert_eq!(figures(&story), ended);
}

#[test]
fn neither_the_time_after_an_end_nor_a_pause_before_the_next_try_counts() {
    let mut story = Story::new(parallel("a"));
    let elapsed = |story: &Story| status(story)["metrics"]["elapsedTime"].clone();
    story.run("a").after(3).returns("a", blocked("no key")).after(500);
    assert_eq!((story.status(), elapsed(&story)), ("blocked", json!(3_000)));
    story.retry("a").pause(ROOT).after(70);
    assert_eq!(elapsed(&story), json!(3_000));
    story.resume(ROOT).run("a").after(4);
    assert_eq!(elapsed(&story), json!(7_000));
}

#[test]
fn a_failed_subtask_says_what_to_do_or_what_stands_in_the_way() {
    let mut story = Story::bounded(parallel("a! b c"), |s| s.recovery.auto_retry = false);
    story.reject("a").run("b c").returns("b", failed("oh")).returns("c", completed("done"));
    let told: Vec<Value> = status(&story)["subtasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|subtask| subtask["failure"].clone())
        .collect();
    expect![[r#"
        [
            String("Task failed. Manual intervention required: Rejected by ana: too risky"),
            String("Task failed but is recoverable. Try again."),
            Null,
        ]
    "#]]
    .assert_debug_eq(&told);
}
