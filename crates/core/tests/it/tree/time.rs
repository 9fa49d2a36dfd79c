//! The bound in time: classes, deadlines, and what happens when time is up.

use expect_test::expect;
use legation_core::agent::Operation;
use legation_core::returns::StopReason;
use legation_core::tree::command::Command;

use crate::story::{DAWN, ROOT, Story, completed, dag, debate, failed, parallel, sequential};

fn seconds(story: &Story, name: &str) -> u64 {
    story.state.subtasks[story.subtask(name)].timeout_ms / 1000
}

#[test]
fn the_time_of_a_subtask_is_the_calls_else_the_agents_else_its_class_else_the_default() {
    // (subtask's own, the call's, the agent's, its class, seconds)
    let class = Some(Operation::Research);
    let cases = [
        (Some(10), Some(20), Some(30), class, 10),
        (None, Some(20), Some(30), class, 20),
        (None, None, Some(30), class, 30),
        (None, None, None, class, 3_600),
        (None, None, None, None, 600),
    ];
    for (own, call, agent, class, expected) in cases {
        let ms = |seconds: Option<u64>| seconds.map(|s| s * 1000);
        let plan = parallel("a")
            .with(|c| c.call.timeout_ms = ms(call))
            .each(|part| part.timeout_ms = ms(own))
            .habits(|habits| {
                habits.timeout_ms = ms(agent);
                habits.operation = class;
            });
        assert_eq!(seconds(&Story::new(plan), "a"), expected, "{own:?} {call:?} {agent:?}");
    }
}

#[test]
fn each_class_has_its_time_and_the_most_a_call_may_ask_for() {
    let classes = [
        (Operation::Research, 3_600, 7_200),
        (Operation::Plan, 1_800, 3_600),
        (Operation::Implement, 7_200, 14_400),
        (Operation::Revise, 1_800, 3_600),
        (Operation::Review, 3_600, 7_200),
        (Operation::Simple, 300, 300),
    ];
    for (class, usual, most) in classes {
        let asked = |timeout_ms| {
            let plan = parallel("a").habits(|habits| habits.operation = Some(class));
            seconds(&Story::new(plan.with(|call| call.call.timeout_ms = timeout_ms)), "a")
        };
        assert_eq!(asked(None), usual, "{class:?}");
        assert_eq!(asked(Some(most * 1000)), most, "{class:?}");
        assert_eq!(asked(Some(most * 1000 + 1)), most, "{class:?}");
        assert_eq!(asked(Some(1_000)), 1, "{class:?}");
    }
}

#[test]
fn a_delegation_may_take_an_hour_or_as_long_as_its_longest_chain() {
    let takes = |plan: crate::story::Plan| {
        let story = Story::new(plan.with(|call| call.call.timeout_ms = Some(2_000_000)));
        story.state.delegations[story.delegation(ROOT)].timeout_ms / 1000
    };
    assert_eq!(takes(parallel("a b c")), 3_600);
    assert_eq!(takes(sequential("a b c")), 6_000);
    assert_eq!(takes(dag("a b<a c d<b,c")), 6_000);
    assert_eq!(takes(debate("ann ben")), 14_000);
}

#[test]
fn the_clock_starts_with_the_attempt_and_not_in_the_queue() {
    let mut story = Story::new(parallel("a"));
    story.tick(100_000).so_far().start("a").events(expect![[r#"
        a starts, until +100600s
    "#]]);
}

#[test]
fn no_child_may_run_longer_than_its_parent() {
    let mut story = Story::new(parallel("a"));
    story.run("a").tick(500).nested("a", parallel("b")).so_far();
    story.run("b").events(expect![[r#"
        b starts, until +600s
        b#1 runs
    "#]]);
    story.remaining(
        "b",
        expect![[
            r#"{"depth":1,"width":5,"count":10,"tokens":200000,"costUsd":20.0,"timeMs":100000}"#
        ]],
    );
}

#[test]
fn no_attempt_may_run_longer_than_its_delegation() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.limits.delegation_timeout = 700_000;
        s.limits.max_concurrent_agents = 1;
    });
    story.run("a").after(500).returns("a", completed("done")).so_far();
    story.run("b").events(expect![[r#"
        b starts, until +700s
        b#1 runs
    "#]]);
}

#[test]
fn a_timeout_stops_the_attempt_for_real() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().tick(599).tick(1).events(expect![[r#"
        a#1 has to stop: timeout
    "#]]);
    story.owed(expect!["stop a#1 (timeout), wake +3600s"]);
    story.tree(expect![[r#"
        del-1 running
          a running
    "#]]);
}

#[test]
fn a_timeout_answers_partial_with_what_is_on_disk_and_the_command_that_resumes() {
    let plan = parallel("a").habits(|habits| habits.operation = Some(Operation::Research));
    let mut story = Story::new(plan);
    story.run("a").tick(3_600).so_far();
    story.returns("a", failed("killed").files(&["notes.md", "draft.md"])).events(expect![[r#"
        a#1 ended partial: Operation timed out after 3600s
        a is partial
        del-1 ended partial
    "#]]);
    let end = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    assert_eq!(end.receipt.stop_reason, StopReason::Timeout);
    let answer = serde_json::to_string_pretty(&end.answer).unwrap();
    expect![[r#"
        {
          "status": "partial",
          "summary": "Operation timed out after 3600s",
          "artifacts": [
            {
              "type": "partial",
              "path": "notes.md"
            },
            {
              "type": "partial",
              "path": "draft.md"
            }
          ],
          "metadata": {
            "session_id": "sess_1767225600_00000a",
            "agent_type": "a",
            "delegation_depth": 1,
            "delegation_path": [
              "user",
              "a"
            ],
            "duration_seconds": 3600.0
          },
          "errors": [
            {
              "type": "timeout",
              "message": "The time allowed, 3600s, is used up",
              "code": "TIMEOUT",
              "recoverable": true,
              "recommendation": "Resume with `legation retry del-1 a`."
            }
          ]
        }"#]]
    .assert_eq(&answer);
}

#[test]
fn a_return_that_comes_with_the_timeout_does_not_undo_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").tick(600).so_far().returns("a", completed("just made it")).events(expect![[
        r#"
        a#1 ended partial: Operation timed out after 600s
        a is partial
        del-1 ended partial
    "#
    ]]);
}

#[test]
fn a_delegation_whose_time_is_up_stops_what_runs_and_ends_what_never_started() {
    let mut story = Story::bounded(sequential("a b"), |s| {
        s.limits.delegation_timeout = 1_300_000;
        s.recovery.max_retries = 9;
    });
    story.run("a").after(550).returns("a", failed("broke")).tick(10).run("a");
    story.after(500).returns("a", failed("broke")).tick(10).run("a").so_far();
    story.tick(230).events(expect![[r#"
        a#3 has to stop: timeout
        del-1 ran out of time
        b is partial: The delegation's time ran out before this subtask could start.
    "#]]);
    story.stops("a").events(expect![[r#"
        a#3 ended partial: Operation timed out after 230s
        a is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn a_parent_and_its_child_that_run_out_together_are_each_told_once() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b").so_far();
    story.tick(600).events(expect![[r#"
        a#1 has to stop: timeout
        b#1 has to stop: timeout
    "#]]);
    story.tell(Command::Tick).stops("b").stops("a").events(expect![[r#"
        b#1 ended partial: Operation timed out after 600s
        b is partial
        del-a ended partial
        a#1 ended partial: Operation timed out after 600s
        a is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn a_pattern_does_not_grow_when_its_time_is_up() {
    let mut story = Story::bounded(debate("ann ben cleo"), |s| {
        s.limits.delegation_timeout = 1_000;
        s.limits.subtask_timeout = 1_000;
    });
    story.go().returns("propose", completed("a draft")).go();
    let revise = completed("no").data(serde_json::json!({"verdict": "revise"}));
    story.after(6).returns("critique-1-1", revise).tick(1).so_far();
    story.stops("critique-1-2").events(expect![[r#"
        critique-1-2#1 ended partial: Operation timed out after 1s
        critique-1-2 is partial
        del-1 ended partial
    "#]]);
}

#[test]
fn a_clock_that_goes_backwards_stops_nothing() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far();
    story.now = legation_core::time::Now(story.now.0 - 1_000_000);
    story.tell(Command::Tick).returns("a", completed("done")).events(expect![[r#"
        a#1 ended completed: done
        a is completed
        del-1 ended completed
    "#]]);
    let receipt = &story.state.attempts[story.attempt_no("a")].end.clone().unwrap().receipt;
    assert_eq!(receipt.duration_ms, 0);
}

#[test]
fn a_retry_once_the_time_is_up_waits_for_the_end_of_the_delegation() {
    let mut story = Story::bounded(parallel("a b"), |s| {
        s.limits.delegation_timeout = 600_000;
        s.recovery.auto_retry = false;
    });
    story.run("a b").returns("a", failed("broke")).tick(600).so_far();
    story.retry("a").events(expect![[r#"
        ! CONFLICT The time of `del-1` is up; it is about to end.
    "#]]);
    story.stops("b").retry("a").start("a").events(expect![[r#"
        b#1 ended partial: Operation timed out after 600s
        b is partial
        del-1 ended partial
        del-1 reopened
        a is tried again (request) at +600s, told "The attempt before this one ended failed: broke"
        a starts, until +1200s
    "#]]);
}

#[test]
fn what_ends_with_its_delegations_time_is_not_tried_again_in_the_same_moment() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", failed("429").hold_until(DAWN.plus_ms(3_700_000))).so_far();
    story.tick(4_000).events(expect![[r#"
        del-1 ran out of time
        a is partial: The delegation's time ran out before this subtask could start.
        del-1 ended partial
    "#]]);
    story.owed(expect!["deliver del-1"]);
}

#[test]
fn what_had_ended_by_itself_when_its_time_was_up_is_judged_by_what_it_says() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(700).tell(Command::Recover { serving: true }).tell(Command::Tick);
    let ended = completed("made it").by_itself(Some(DAWN.plus_ms(100_000)));
    story.so_far().returns("a", ended).events(expect![[r#"
        a#1 ended completed: made it
        a is completed
        del-1 ended completed
    "#]]);
    let end = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    assert_eq!(end.receipt.stop_reason, StopReason::Exited);
    assert_eq!(end.receipt.duration_ms, 100_000, "that of its process");
    assert_eq!(end.answer.metadata.duration_seconds, Some(100.0));
}

#[test]
fn what_ended_by_itself_after_its_time_was_up_has_timed_out() {
    let mut story = Story::new(parallel("a"));
    story.run("a").after(700).tell(Command::Recover { serving: true }).tell(Command::Tick);
    let ended = completed("made it").by_itself(Some(DAWN.plus_ms(600_001)));
    story.returns("a", ended);
    assert_eq!(story.status(), "partial");
}

#[test]
fn a_return_handed_in_before_the_deadline_wins_over_a_process_that_hangs() {
    let ends = |answer: crate::story::Answer| {
        let mut story = Story::new(parallel("a"));
        story.run("a").tick(600).returns("a", answer);
        story.status().to_owned()
    };
    let in_time = DAWN.plus_ms(600_000);
    assert_eq!(ends(completed("done").handed_in(in_time)), "completed");
    assert_eq!(ends(completed("done").handed_in(in_time.plus_ms(1))), "partial");
    assert_eq!(ends(completed("only printed")), "partial");
}
