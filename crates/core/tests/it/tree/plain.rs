//! Parallel, streaming, direct, sequential and dag: graphs that are whole from the start.

use expect_test::expect;
use serde_json::json;

use crate::story::{
    Plan, ROOT, Story, blocked, completed, dag, direct, failed, parallel, partial, sequential,
    streaming,
};

/// Without automatic retries, so that a failure is the end of a subtask.
fn once(plan: Plan) -> Story {
    Story::bounded(plan, |s| s.recovery.auto_retry = false)
}

#[test]
fn parallel_subtasks_start_together_and_end_together() {
    let mut story = Story::new(parallel("a b c"));
    story.owed(expect!["start a, start b, start c"]);
    story.run("a b c").returns("c", completed("third")).returns("a", completed("first"));
    story.tree(expect![[r#"
        del-1 running
          a completed
          b running
          c completed
    "#]]);
    story.so_far().returns("b", completed("second")).events(expect![[r#"
        b#1 ended completed: second
        b is completed
        del-1 ended completed
    "#]]);
    story.owed(expect!["deliver del-1"]);
}

#[test]
fn a_parallel_result_has_every_answer_in_the_order_of_the_plan() {
    let mut story = Story::new(parallel("a b c"));
    story.run("a b c").returns("c", completed("third").data(json!({"n": 3})));
    story.returns("a", completed("first").data(json!([1])).artifacts(&["a.txt"]).files(&["a.txt"]));
    story.returns("b", completed("second")).go();
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "a: first\nb: second\nc: third",
          "data": {
            "a": [
              1
            ],
            "c": {
              "n": 3
            }
          },
          "artifacts": [
            {
              "type": "implementation",
              "path": "a.txt"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn the_result_of_a_single_subtask_is_its_own_answer() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("did it").data(json!({"answer": 42})));
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "did it",
          "data": {
            "answer": 42
          },
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn streaming_differs_from_parallel_only_in_when_results_are_told() {
    let mut story = Story::new(streaming("a b"));
    story.run("a b").returns("a", completed("one")).returns("b", completed("two"));
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "a: one\nb: two",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn direct_is_one_agent_at_depth_one() {
    let mut story = Story::new(direct("a"));
    story.run("a").returns("a", completed("by myself")).tree(expect![[r#"
        del-1 completed
          a completed
    "#]]);
    assert_eq!(story.state.attempts[story.attempt_no("a")].depth, 1);
}

#[test]
fn a_failure_beside_a_success_is_partial() {
    let mut story = once(parallel("a b"));
    story.run("a b").returns("a", failed("broke")).returns("b", completed("done").data(json!(1)));
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "a: broke\nb: done",
          "data": {
            "b": 1
          },
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn how_a_delegation_ends_follows_from_how_its_subtasks_end() {
    // c completed, p partial, f failed, b blocked, x cancelled, s skipped; capitals may fail.
    let cases = [
        ("cc", "completed"),
        ("cp", "partial"),
        ("cf", "partial"),
        ("ff", "failed"),
        ("pf", "partial"),
        ("pp", "partial"),
        ("cb", "blocked"),
        ("bb", "blocked"),
        ("bf", "failed"),
        ("cx", "partial"),
        ("xx", "failed"),
        ("cs", "completed"),
        ("ss", "partial"),
        ("sf", "failed"),
        ("cF", "completed"),
        ("cB", "completed"),
        ("fC", "partial"),
        ("FF", "failed"),
        ("FP", "partial"),
        ("bC", "blocked"),
    ];
    for (ends, expected) in cases {
        let mark = |c: char| if c.is_uppercase() { "?" } else { "" };
        let names: Vec<String> =
            ends.chars().enumerate().map(|(n, c)| format!("s{n}{}", mark(c))).collect();
        let mut story = once(parallel(&names.join(" ")));
        for (n, end) in ends.to_lowercase().chars().enumerate() {
            let name = format!("s{n}");
            match end {
                's' => story.skip(&name),
                'x' => story.run(&name).cancel_one(&name).stops(&name),
                'c' => story.run(&name).returns(&name, completed("done")),
                'p' => story.run(&name).returns(&name, partial("half")),
                'f' => story.run(&name).returns(&name, failed("broke")),
                _ => story.run(&name).returns(&name, blocked("no key")),
            };
        }
        assert_eq!(story.status(), expected, "{ends}");
    }
}

#[test]
fn sequential_subtasks_run_one_after_another() {
    let mut story = Story::new(sequential("a b c"));
    story.owed(expect!["start a"]);
    story.run("a").tree(expect![[r#"
        del-1 running
          a running
          b pending
          c pending
    "#]]);
    story.returns("a", completed("one")).owed(expect!["start b, wake +3600s"]);
    story.run("b").returns("b", completed("two").data(json!("last but one")));
    story.run("c").returns("c", completed("three").data(json!("last"))).result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "three",
          "data": "last",
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn a_sequential_step_waits_for_the_merged_files_of_the_one_before() {
    let mut story = Story::new(sequential("a b"));
    story.run("a").returns("a", completed("one").files(&["a.txt"]));
    story.owed(expect!["merge a#1, wake +3600s"]);
    story.merged("a").owed(expect!["start b, wake +3600s"]);
    let needs: Vec<&str> =
        story.state.subtasks[story.subtask("b")].needs.iter().map(|no| name(&story, *no)).collect();
    assert_eq!(needs, ["a"]);
}

fn name(story: &Story, no: legation_core::tree::SubtaskNo) -> &str {
    story.state.subtasks[no].id.as_str()
}

#[test]
fn a_sequence_stops_at_the_first_failure() {
    let mut story = once(sequential("a b c"));
    story.run("a").returns("a", completed("one")).run("b").so_far();
    story.returns("b", failed("broke")).events(expect![[r#"
        b#1 ended failed: broke
        b is failed
        del-1 ended partial
    "#]]);
    story.tree(expect![[r#"
        del-1 partial
          a completed
          b failed
          c blocked
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "one",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn a_sequence_stops_at_a_partial_step_too() {
    let mut story = once(sequential("a b"));
    story.run("a").returns("a", partial("half")).tree(expect![[r#"
        del-1 partial
          a partial
          b blocked
    "#]]);
}

#[test]
fn a_dag_starts_what_needs_nothing_and_then_what_needs_that() {
    let mut story = Story::new(dag("a b c<a,b d<c"));
    story.owed(expect!["start a, start b"]);
    story.run("a b").returns("b", completed("b")).owed(expect!["wake +600s"]);
    story.returns("a", completed("a")).owed(expect!["start c, wake +3600s"]);
    story.run("c").returns("c", completed("c")).run("d").returns("d", completed("d"));
    story.tree(expect![[r#"
        del-1 completed
          a completed
          b completed
          c completed
          d completed
    "#]]);
}

#[test]
fn a_dag_may_name_what_comes_later_in_the_list() {
    let mut story = Story::new(dag("last<first first"));
    story.owed(expect!["start first"]);
    story.run("first").returns("first", completed("one")).owed(expect!["start last, wake +3600s"]);
}

#[test]
fn a_failure_in_a_dag_blocks_only_what_depends_on_it() {
    let mut story = once(dag("a b c<a d<c e<b"));
    story.run("a b").returns("a", failed("broke")).so_far();
    story.tree(expect![[r#"
        del-1 running
          a failed
          b running
          c blocked
          d blocked
          e pending
    "#]]);
    story.returns("b", completed("b")).run("e").returns("e", completed("e")).events(expect![[r#"
        b#1 ended completed: b
        b is completed
        e starts, until +600s
        e#1 runs
        e#1 ended completed: e
        e is completed
        del-1 ended partial
    "#]]);
    story.tree(expect![[r#"
        del-1 partial
          a failed
          b completed
          c blocked
          d blocked
          e completed
    "#]]);
}

#[test]
fn what_a_failed_optional_step_blocks_leaves_the_delegation_blocked() {
    let mut story = once(dag("a? b<a"));
    story.run("a").returns("a", failed("broke")).tree(expect![[r#"
        del-1 blocked
          a failed
          b blocked
    "#]]);
}

#[test]
fn dependencies_hold_in_parallel_too() {
    let mut story = Story::new(parallel("a b<a"));
    story.owed(expect!["start a"]);
}

#[test]
fn the_rest_stops_at_the_first_failure_where_the_configuration_says_so() {
    let mut story = Story::bounded(parallel("a b c"), |s| {
        s.recovery.auto_retry = false;
        s.recovery.continue_on_partial_failure = false;
        s.limits.max_concurrent_agents = 2;
    });
    story.run("a b").so_far().returns("a", failed("broke")).events(expect![[r#"
        a#1 ended failed: broke
        a is failed
        the rest of del-1 must stop
        b#1 has to stop: cancelled
        c is cancelled
    "#]]);
    story.owed(expect!["stop b#1 (cancelled), wake +3600s"]);
    story.returns("b", completed("too late")).events(expect![[r#"
        b#1 ended failed: Operation was cancelled
        b is cancelled
        del-1 ended failed
    "#]]);
}

#[test]
fn an_optional_failure_does_not_stop_the_rest() {
    let mut story = Story::bounded(parallel("a? b"), |s| {
        s.recovery.auto_retry = false;
        s.recovery.continue_on_partial_failure = false;
    });
    story.run("a b").so_far().returns("a", failed("broke")).events(expect![[r#"
        a#1 ended failed: broke
        a is failed
    "#]]);
}

#[test]
fn what_is_being_merged_when_the_rest_stops_is_still_merged() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.recovery.auto_retry = false;
        s.recovery.continue_on_partial_failure = false;
    });
    story.run("a b").returns("a", completed("done").files(&["a.txt"])).so_far();
    story.returns("b", failed("broke")).merged("a").events(expect![[r#"
        b#1 ended failed: broke
        b is failed
        the rest of del-1 must stop
        a merged
        a is completed
        del-1 ended partial
    "#]]);
}
