//! The trace: every attempt as a span of time.

use expect_test::expect;
use legation_core::tree::view;

use crate::story::{ROOT, Story, completed, failed, parallel};

fn told(story: &Story, delegation: &str) -> String {
    let spans = view::trace(&story.state, story.delegation(delegation), story.now);
    let line = |span: &view::Span| {
        format!(
            "{} {}#{} by {} for {}: +{}ms, {}ms, {}\n",
            span.depth,
            span.subtask_id,
            span.attempt,
            span.agent,
            span.parent_agent,
            span.offset_ms,
            span.duration_ms,
            span.status
        )
    };
    spans.iter().map(line).collect()
}

fn eventful() -> Story {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").after(1).nested("a", parallel("c")).after(1).run("c").after(3);
    story.returns("c", completed("found")).delivered("del-a").after(2);
    story.returns("b", failed("broke")).tick(3).run("b").after(1);
    story.returns("a", completed("done"));
    story
}

#[test]
fn parallel_branches_stand_side_by_side_and_retries_one_after_another() {
    expect![[r#"
        1 a#0 by a for user: +0ms, 11000ms, completed
        1 b#0 by b for user: +0ms, 7000ms, failed
        2 c#0 by c for a: +2000ms, 3000ms, completed
        1 b#1 by b for user: +10000ms, 1000ms, running
    "#]]
    .assert_eq(&told(&eventful(), ROOT));
}

#[test]
fn a_trace_of_a_part_starts_with_that_part() {
    expect![[r#"
        2 c#0 by c for a: +1000ms, 3000ms, completed
    "#]]
    .assert_eq(&told(&eventful(), "del-a"));
}

#[test]
fn a_span_has_everything_a_waterfall_needs() {
    let story = eventful();
    let spans = view::trace(&story.state, story.delegation("del-a"), story.now);
    expect![[r#"
        [
          {
            "id": "exec-c-1",
            "parent": "exec-a-1",
            "delegationId": "del-a",
            "subtaskId": "c",
            "sessionId": "sess_1767225602_00000c",
            "parentAgent": "a",
            "agent": "c",
            "task": "c",
            "context": "task_only",
            "depth": 2,
            "attempt": 0,
            "startedAt": "2026-01-01T00:00:02.000Z",
            "offsetMs": 1000,
            "durationMs": 3000,
            "status": "completed",
            "result": "found"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&spans).unwrap());
}
