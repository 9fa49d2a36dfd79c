//! Trying again without being asked: failures, rate limits, quality.

use expect_test::expect;
use legation_core::Code;
use legation_core::returns::{Check, Violation};
use legation_core::tree::command::Said;
use legation_core::tree::state::Phase;

use crate::story::{Answer, DAWN, Story, completed, failed, parallel, partial};

#[test]
fn a_failure_is_tried_twice_more_and_then_it_is_one() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", failed("broke")).tick(10).run("a");
    story.returns("a", failed("broke")).tick(10).run("a").returns("a", failed("broke"));
    assert_eq!(story.state.subtasks[story.subtask("a")].attempts.len(), 3);
    story.tree(expect![[r#"
        del-1 failed
          a failed
    "#]]);
}

#[test]
fn the_next_attempt_is_told_what_went_wrong() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", failed("port 80 is taken"));
    let note = story.state.subtasks[story.subtask("a")].note.as_deref();
    assert_eq!(note, Some("The attempt before this one ended failed: port 80 is taken"));
}

/// Milliseconds until the next attempt, after so many failures.
fn waits(backoff_ms: Option<u64>, failures: u32) -> Vec<u64> {
    let plan = parallel("a").habits(|habits| habits.backoff_ms = backoff_ms);
    let mut story = Story::bounded(plan, |s| {
        s.recovery.max_retries = failures;
        s.limits.delegation_timeout = 100_000_000;
    });
    let mut waits = Vec::new();
    for _ in 0..failures {
        story.run("a").returns("a", failed("broke"));
        let Phase::Backoff(until) = story.state.subtasks[story.subtask("a")].phase else {
            panic!("it does not wait")
        };
        waits.push(until.since_ms(story.now));
        story.tick(1_000);
    }
    waits
}

#[test]
fn each_wait_is_twice_the_last_with_up_to_a_quarter_more() {
    let waits = waits(None, 12);
    for (n, wait) in waits.iter().enumerate() {
        let base = (2_000 << n).min(300_000);
        assert!((base..=base + base / 4).contains(wait), "wait {n} is {wait}");
    }
    // Jitter that is the same for everybody is none.
    assert!(waits.iter().any(|wait| !wait.is_multiple_of(1_000)), "{waits:?}");
}

#[test]
fn an_agent_may_wait_otherwise_and_try_more_often() {
    let first = waits(Some(10), 3)[0];
    assert!((10..=12).contains(&first), "{first}");
    let plan = parallel("a").habits(|habits| habits.max_retries = Some(0));
    let mut story = Story::new(plan);
    story.run("a").so_far().returns("a", failed("broke")).events(expect![[r#"
        a#1 ended failed: broke
        a is failed
        del-1 ended failed
    "#]]);
}

#[test]
fn a_retry_with_no_wait_at_all_is_queued_at_once() {
    let plan = parallel("a").habits(|habits| habits.backoff_ms = Some(0));
    let mut story = Story::new(plan);
    story.run("a").returns("a", failed("broke")).owed(expect!["start a, wake +3600s"]);
}

#[test]
fn a_retry_starts_when_it_is_due_and_not_before() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", failed("broke")).so_far().tick(1).start("a").events(expect![[r#"
        ! stale
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a pending
    "#]]);
    story.tick(2).events(expect![[r#"
        a is due again
    "#]]);
    story.owed(expect!["start a, wake +3600s"]);
}

#[test]
fn no_retries_where_the_configuration_says_so() {
    let mut story = Story::bounded(parallel("a"), |s| s.recovery.auto_retry = false);
    story.run("a").so_far().returns("a", failed("broke")).events(expect![[r#"
        a#1 ended failed: broke
        a is failed
        del-1 ended failed
    "#]]);
}

#[test]
fn what_trying_again_cannot_help_is_not_tried_again() {
    let hopeless = [
        Code::PermissionDenied,
        Code::AgentNotFound,
        Code::AgentNotAllowed,
        Code::BudgetExceeded,
        Code::ContextExceeded,
        Code::MaxDepthExceeded,
        Code::CycleDetected,
        Code::TooManyDelegations,
        Code::DelegationDisabled,
    ];
    for code in Code::ALL {
        let mut story = Story::new(parallel("a"));
        story.run("a").returns("a", failed("broke").code(*code));
        let tried = story.status() == "running";
        assert_eq!(tried, !hopeless.contains(code), "{code}");
    }
}

#[test]
fn an_error_that_calls_itself_final_is_believed() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", failed("broke").hopeless()).events(expect![[r#"
        a#1 ended failed: broke
        a is failed
        del-1 ended failed
    "#]]);
}

#[test]
fn what_is_partial_or_blocked_is_not_tried_again_by_itself() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").so_far().returns("a", partial("half"));
    story.returns("b", crate::story::blocked("no key")).events(expect![[r#"
        a#1 ended partial: half
        a is partial
        b#1 ended blocked: no key
        b is blocked
        del-1 ended partial
    "#]]);
}

#[test]
fn an_agent_that_dies_without_a_word_is_tried_again() {
    for exit_code in [Some(1), None] {
        let mut story = Story::new(parallel("a"));
        story.run("a").returns("a", Answer::said(Said::Nothing).exit_code(exit_code));
        assert_eq!(story.status(), "running", "{exit_code:?}");
    }
}

#[test]
fn a_bad_return_that_was_not_mended_fails_keeps_the_raw_text_and_is_tried_again() {
    let mut story = Story::new(parallel("a"));
    let violation = Violation::new(Check::Summary, "the summary is blank");
    story.run("a").so_far();
    story.returns("a", Answer::said(Said::Invalid(violation)).raw("{\"summary\": \" \"}"));
    story.events(expect![[r#"
        a#1 ended failed: The agent's return failed the check `summary`
        a is tried again (failure) at +2009ms, told "The attempt before this one ended failed: the summary is blank"
    "#]]);
    let end = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    assert_eq!(end.raw.as_deref(), Some("{\"summary\": \" \"}"));
    assert_eq!(end.answer.errors[0].code.as_deref(), Some("VALIDATION_FAILED"));
}

#[test]
fn an_agent_that_ends_well_and_says_nothing_has_failed() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", Answer::said(Said::Nothing)).events(expect![[r#"
        a#1 ended failed: The agent ended without a return
        a is tried again (failure) at +2009ms, told "The attempt before this one ended failed: The agent ended without a return"
    "#]]);
}

#[test]
fn what_could_not_be_started_is_named() {
    let mut story = Story::new(parallel("a"));
    let why = "git worktree add failed: disk full".to_owned();
    let said = Said::NotStarted { code: Code::WorkspaceFailed, why };
    story.start("a").so_far().returns("a", Answer::said(said)).events(expect![[r#"
        a#1 ended failed: Failed to create child worktree for delegation.
        git worktree add failed: disk full
        a is failed
        del-1 ended failed
    "#]]);
    let end = story.state.attempts[story.attempt_no("a")].end.clone().unwrap();
    expect![[r#"
        [
          {
            "type": "not_started",
            "message": "Failed to create child worktree for delegation.\ngit worktree add failed: disk full",
            "code": "WORKSPACE_FAILED",
            "recoverable": false,
            "recommendation": "Mend what stands in the way, then retry it."
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&end.answer.errors).unwrap());
}

#[test]
fn a_rate_limit_holds_and_burns_no_retry() {
    let mut story = Story::new(parallel("a"));
    for n in 1..=5 {
        let until = story.now.plus_ms(60_000);
        story.run("a").so_far().returns("a", failed("429").hold_until(until));
        assert_eq!(story.state.subtasks[story.subtask("a")].retries, 0, "{n}");
        story.tick(60);
    }
    story.events(expect![[r#"
        a#5 ended failed: 429
        a is tried again (rate_limit) at +300s
        a is due again
    "#]]);
}

#[test]
fn a_rate_limit_holds_even_where_nothing_is_retried() {
    let mut story = Story::bounded(parallel("a"), |s| s.recovery.auto_retry = false);
    story.run("a").so_far().returns("a", failed("429").hold_until(DAWN.plus_ms(5_000)));
    story.events(expect![[r#"
        a#1 ended failed: 429
        a is tried again (rate_limit) at +5s
    "#]]);
}

#[test]
fn a_rate_limit_that_comes_with_finished_work_does_not_undo_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", completed("done").hold_until(DAWN.plus_ms(5_000)));
    story.events(expect![[r#"
        a#1 ended completed: done
        a is completed
        del-1 ended completed
    "#]]);
}

fn demanding(least: u32) -> Story {
    let mut story = Story::bounded(parallel("a"), |s| s.quality_threshold = Some(least));
    story.run("a").so_far();
    story
}

#[test]
fn what_is_not_good_enough_is_tried_once_more_with_the_findings() {
    let mut story = demanding(80);
    let poor = || completed("done").quality(79).files(&["a.txt"]);
    story.returns("a", poor()).events(expect![[r#"
        a#1 ended completed: done
        a is tried again (quality) at +0s, told "Measured quality 79 is below 80."
    "#]]);
    story.run("a").returns("a", poor()).events(expect![[r#"
        a starts, until +600s
        a#2 runs
        a#2 ended completed: done
        a is partial: Measured quality 79 is below 80.
        del-1 ended partial
    "#]]);
    story.tree(expect![[r#"
        del-1 partial
          a partial: Measured quality 79 is below 80.
    "#]]);
}

#[test]
fn what_is_good_enough_is_done() {
    demanding(80).returns("a", completed("done").quality(80)).events(expect![[r#"
        a#1 ended completed: done
        a is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn an_unknown_quality_is_not_a_bad_one() {
    demanding(80).returns("a", completed("done")).events(expect![[r#"
        a#1 ended completed: done
        a is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn quality_counts_only_where_a_threshold_is_set() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", completed("done").quality(1)).events(expect![[r#"
        a#1 ended completed: done
        a is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn what_is_not_good_enough_and_cannot_be_tried_again_is_partial() {
    let mut story = Story::bounded(parallel("a"), |s| {
        s.quality_threshold = Some(80);
        s.limits.max_agents_per_tree = 1;
    });
    story.run("a").so_far().returns("a", completed("done").quality(10)).events(expect![[r#"
        a#1 ended completed: done
        a is partial: Delegation count limit (1) exceeded. Nothing was started.
        del-1 ended partial
    "#]]);
}
