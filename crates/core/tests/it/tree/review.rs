//! Review: one creates, the others look at its files, until they approve.

use expect_test::expect;
use legation_core::tree::event::Role;
use legation_core::tree::view::status;
use serde_json::json;

use crate::story::{Answer, ROOT, Story, completed, review};

fn work(summary: &str) -> Answer {
    completed(summary).artifacts(&["code.rs"]).files(&["code.rs"])
}

fn approves() -> Answer {
    completed("good").data(json!({"verdict": "accept", "quality": 90}))
}

fn finds(finding: &str) -> Answer {
    completed("not yet")
        .data(json!({"verdict": "revise", "findings": [{"line": 7, "what": finding}]}))
}

#[test]
fn reviewers_look_at_the_creators_merged_files() {
    let mut story = Story::new(review("ann ben cleo"));
    story.go().so_far().returns("create", work("made")).events(expect![[r#"
        create#1 ended completed: made
        create waits for its merge
    "#]]);
    story.merged("create").events(expect![[r#"
        create merged
        create is completed
        del-1 grows: review-1-1 review-1-2
    "#]]);
    let review = &story.state.subtasks[story.subtask("review-1-2")];
    assert_eq!((review.role, review.round, review.required), (Role::Reviewer, 1, false));
    assert_eq!(review.needs, [story.subtask("create")]);
}

#[test]
fn an_approved_work_is_done() {
    let mut story = Story::new(review("ann ben"));
    story.go().returns("create", work("made")).go().so_far();
    story.returns("review-1-1", approves()).events(expect![[r#"
        review-1-1#1 ended completed: good
        review-1-1 is completed
        del-1 ended completed
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "made",
          "data": null,
          "artifacts": [
            {
              "type": "implementation",
              "path": "code.rs"
            }
          ],
          "history": [
            {
              "subtask": "create",
              "role": "creator",
              "round": 0,
              "summary": "made"
            },
            {
              "subtask": "review-1-1",
              "role": "reviewer",
              "round": 1,
              "summary": "good",
              "verdict": "accept"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn what_is_found_is_revised_and_looked_at_again() {
    let mut story = Story::new(review("ann ben"));
    story.go().returns("create", work("made")).go().returns("review-1-1", finds("off by one")).go();
    story.so_far().returns("revise-1", work("mended")).merged("revise-1").events(expect![[r#"
        revise-1#1 ended completed: mended
        revise-1 waits for its merge
        revise-1 merged
        revise-1 is completed
        del-1 grows: review-2-1
    "#]]);
    story.go().so_far().returns("review-2-1", approves()).events(expect![[r#"
        review-2-1#1 ended completed: good
        review-2-1 is completed
        del-1 ended completed
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "mended",
          "data": null,
          "artifacts": [
            {
              "type": "implementation",
              "path": "code.rs"
            }
          ],
          "history": [
            {
              "subtask": "create",
              "role": "creator",
              "round": 0,
              "summary": "made"
            },
            {
              "subtask": "review-1-1",
              "role": "reviewer",
              "round": 1,
              "summary": "not yet",
              "verdict": "revise"
            },
            {
              "subtask": "revise-1",
              "role": "creator",
              "round": 1,
              "summary": "mended"
            },
            {
              "subtask": "review-2-1",
              "role": "reviewer",
              "round": 2,
              "summary": "good",
              "verdict": "accept"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn after_two_rounds_the_last_work_stands_with_its_open_findings() {
    let mut story = Story::new(review("ann ben"));
    story.go().returns("create", work("made")).go();
    for round in 1..=2 {
        story.returns(&format!("review-{round}-1"), finds(&format!("flaw {round}"))).go();
        story.returns(&format!("revise-{round}"), work(&format!("mended {round}"))).go();
    }
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "mended 2",
          "data": null,
          "artifacts": [
            {
              "type": "implementation",
              "path": "code.rs"
            }
          ],
          "history": [
            {
              "subtask": "create",
              "role": "creator",
              "round": 0,
              "summary": "made"
            },
            {
              "subtask": "review-1-1",
              "role": "reviewer",
              "round": 1,
              "summary": "not yet",
              "verdict": "revise"
            },
            {
              "subtask": "revise-1",
              "role": "creator",
              "round": 1,
              "summary": "mended 1"
            },
            {
              "subtask": "review-2-1",
              "role": "reviewer",
              "round": 2,
              "summary": "not yet",
              "verdict": "revise"
            },
            {
              "subtask": "revise-2",
              "role": "creator",
              "round": 2,
              "summary": "mended 2"
            }
          ],
          "findings": [
            {
              "line": 7,
              "what": "flaw 2"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn findings_come_from_findings_else_comments_else_the_summary() {
    let cases = [
        (json!({"verdict": "revise", "findings": ["f"], "comments": ["c"]}), json!(["f"])),
        (json!({"verdict": "revise", "comments": ["c", "d"]}), json!(["c", "d"])),
        (json!({"verdict": "revise", "comments": "one remark"}), json!(["one remark"])),
        (json!({"verdict": "revise"}), json!(["the summary"])),
    ];
    for (data, expected) in cases {
        let plan = review("ann ben").with(|call| call.rounds = Some(1));
        let mut story = Story::new(plan);
        story.go().returns("create", work("made")).go();
        story.returns("review-1-1", completed("the summary").data(data)).go();
        story.returns("revise-1", work("mended")).go();
        let result = story.state.delegations[story.delegation(ROOT)].result.clone().unwrap();
        assert_eq!(json!(result.findings), expected);
    }
}

#[test]
fn what_a_reviewer_changes_is_no_part_of_the_work() {
    let mut story = Story::new(review("ann ben"));
    story.go().returns("create", work("made")).go().so_far();
    story.returns("review-1-1", approves().files(&["meddled.rs"])).events(expect![[r#"
        review-1-1#1 ended completed: good
        review-1-1 is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn a_conflict_in_the_creators_merge_blocks_the_review() {
    let mut story = Story::new(review("ann ben"));
    story.go().returns("create", work("made")).so_far().conflicts("create", "code.rs");
    story.events(expect![[r#"
        create conflicts in code.rs
        create is blocked: Its changes and earlier ones touch the same lines of: code.rs.
        del-1 ended blocked
    "#]]);
}

fn scores(verdict: &str, quality: u32) -> Answer {
    completed("looked").data(json!({"verdict": verdict, "quality": quality}))
}

fn quality(story: &Story, name: &str) -> Option<u32> {
    let view = status(&story.state, story.delegation(ROOT), story.now);
    view.subtasks.iter().find(|subtask| subtask.id.as_str() == name).unwrap().quality
}

#[test]
fn reviewers_scores_are_a_part_of_the_quality() {
    let mut story = Story::new(review("ann ben cem"));
    story.go().returns("create", completed("made")).go();
    story.returns("review-1-1", scores("accept", 40));
    story.returns("review-1-2", scores("accept", 70));
    assert_eq!(quality(&story, "create"), Some(55));
    assert_eq!(story.status(), "completed");
}

#[test]
fn work_with_scores_below_the_threshold_is_revised_and_is_partial_in_the_end() {
    let mut story = Story::bounded(review("ann ben"), |s| s.quality_threshold = Some(80));
    story.go().returns("create", completed("made")).go();
    story.so_far().returns("review-1-1", scores("accept", 40)).events(expect![[r#"
        review-1-1#1 ended completed: looked
        review-1-1 is completed
        del-1 grows: revise-1
    "#]]);
    story.go().returns("revise-1", completed("mended")).go();
    story.returns("review-2-1", scores("accept", 50)).go();
    story.so_far().returns("revise-2", completed("mended again")).events(expect![[r#"
        revise-2#1 ended completed: mended again
        revise-2 is completed
        del-1 ended partial
    "#]]);
}

#[test]
fn work_that_is_only_partial_is_still_the_result() {
    let mut story = Story::new(review("ann ben"));
    let half = crate::story::partial("half of it").artifacts(&["code.rs"]).data(json!({"n": 1}));
    story.go().returns("create", half);
    story.result(
        ROOT,
        expect![[r#"
            partial {
              "summary": "half of it",
              "data": {
                "n": 1
              },
              "artifacts": [
                {
                  "type": "implementation",
                  "path": "code.rs"
                }
              ],
              "history": [
                {
                  "subtask": "create",
                  "role": "creator",
                  "round": 0,
                  "summary": "half of it"
                }
              ]
            }
        "#]],
    );
}
