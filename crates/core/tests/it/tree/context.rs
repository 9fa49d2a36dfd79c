//! The context bound: what parent and child may hold together.

use expect_test::expect;

use crate::story::{Plan, Story, parallel};

/// A subtask whose task makes an estimate of so many tokens.
fn estimated(tokens: usize) -> Plan {
    parallel("b").part("b", |part| part.task = "x".repeat((tokens - 5_000) * 4))
}

fn with_context(tokens: u64) -> Story {
    let mut story = Story::new(parallel("a"));
    story.run("a").context("a", tokens).so_far();
    story
}

#[test]
fn eighty_and_fifteen_thousand_fit_in_a_hundred() {
    with_context(80_000).nested("a", estimated(15_000)).events(expect![[r#"
        del-a accepted: parallel b
    "#]]);
}

#[test]
fn ninety_and_fifteen_thousand_do_not() {
    with_context(90_000).nested("a", estimated(15_000)).refusal(expect![[r#"
        Agent context budget (100k tokens) exceeded. Simplify subtask.

        Current context: 90,000 tokens
        Subtask estimate: 15,000 tokens
        Total would be: 105,000 tokens
        Maximum allowed: 100,000 tokens

        Suggestion: Break the subtask into smaller pieces, or reduce the parent's context.
    "#]]);
}

#[test]
fn exactly_the_bound_fits_and_one_more_does_not() {
    with_context(85_000).nested("a", estimated(15_000)).events(expect![[r#"
        del-a accepted: parallel b
    "#]]);
    with_context(85_001).nested("a", estimated(15_000)).events(expect![[r#"
        ! CONTEXT_EXCEEDED Agent context budget (100k tokens) exceeded. Simplify subtask.
    "#]]);
}

#[test]
fn a_bound_that_is_no_round_figure_is_written_out() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.max_context_per_agent = 12_345);
    story.run("a").context("a", 10_000).nested("a", parallel("b")).refusal(expect![[r#"
        Agent context budget (12,345 tokens) exceeded. Simplify subtask.

        Current context: 10,000 tokens
        Subtask estimate: 5,000 tokens
        Total would be: 15,000 tokens
        Maximum allowed: 12,345 tokens

        Suggestion: Break the subtask into smaller pieces, or reduce the parent's context.
    "#]]);
}

#[test]
fn an_unknown_context_counts_as_nothing_and_says_so() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.max_context_per_agent = 4_000);
    story.refusal(expect![[r#"
        Agent context budget (4k tokens) exceeded. Simplify subtask.

        Current context: 0 tokens (not reported; taken as 0)
        Subtask estimate: 5,000 tokens
        Total would be: 5,000 tokens
        Maximum allowed: 4,000 tokens

        Suggestion: Break the subtask into smaller pieces, or reduce the parent's context.
    "#]]);
}

#[test]
fn the_latest_figure_counts_even_if_it_is_smaller() {
    let mut story = with_context(95_001);
    story.nested("a", parallel("b x")).events(expect![[r#"
        ! CONTEXT_EXCEEDED Agent context budget (100k tokens) exceeded. Simplify subtask.
    "#]]);
    story.context("a", 20_000).nested("a", parallel("b y")).events(expect![[r#"
        a#1 has used 0 tokens, context 20000
        del-a accepted: parallel b y
    "#]]);
}

#[test]
fn a_report_without_a_context_keeps_the_last_one() {
    let mut story = with_context(96_000);
    story.uses("a", 10).so_far().nested("a", parallel("b"));
    expect![[r#"{"context":96000,"estimate":5000,"total":101000,"max":100000}"#]]
        .assert_eq(&story.refusal_details().to_string());
}

#[test]
fn each_subtask_of_a_batch_is_checked() {
    let plan = parallel("b c").part("c", |part| part.task = "x".repeat(60_000));
    with_context(85_000).nested("a", plan).events(expect![[r#"
        ! CONTEXT_EXCEEDED Agent context budget (100k tokens) exceeded. Simplify subtask.
    "#]]);
}

#[test]
fn an_estimate_counts_characters_and_not_bytes() {
    use legation_core::tree::bounds::estimate;
    let figures = ["", "abc", "abcd", "ßßßß", "🦀🦀🦀🦀🦀🦀🦀🦀"].map(estimate);
    assert_eq!(figures, [5_000, 5_000, 5_001, 5_001, 5_002]);
}

#[test]
fn a_context_bound_of_zero_means_zero() {
    let mut story = Story::bounded(parallel("a"), |s| s.limits.max_context_per_agent = 0);
    story.events(expect![[r#"
        ! CONTEXT_EXCEEDED Agent context budget (0 tokens) exceeded. Simplify subtask.
    "#]]);
}
