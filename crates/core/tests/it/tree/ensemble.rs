//! Ensemble: the same task to several members, then one answer.

mod judge;

use expect_test::expect;
use legation_core::tree::plan::Aggregate;
use legation_core::tree::view;
use serde_json::{Value, json};

use crate::story::{Answer, ROOT, Story, completed, ensemble, failed};

fn decides(decision: impl Into<Value>) -> Answer {
    let decision = decision.into();
    completed(&format!("I say {decision}")).data(json!({"decision": decision, "why": "because"}))
}

/// Members answer in their order; nothing is tried twice.
fn votes(answers: Vec<Answer>) -> Story {
    let names: Vec<String> = (1..=answers.len()).map(|n| format!("agent-{n}")).collect();
    let plan = ensemble(&names.join(" "), Aggregate::Vote);
    let mut story = Story::bounded(plan, |s| s.recovery.auto_retry = false);
    story.go().so_far();
    for (n, answer) in answers.into_iter().enumerate() {
        story.returns(&format!("member-{}", n + 1), answer);
    }
    story
}

#[test]
fn one_agent_makes_three_members_with_the_same_task() {
    let mut story = Story::new(ensemble("ann", Aggregate::Vote).about("Is it safe?"));
    story.events(expect![[r#"
        tree opened
        del-1 accepted: ensemble member-1 member-2 member-3
    "#]]);
    let tasks: Vec<&str> = story.state.subtasks.iter().map(|(_, s)| &*s.task).collect();
    assert_eq!(tasks, ["Is it safe?"; 3]);
}

#[test]
fn the_majority_of_decisions_wins() {
    let answers = vec![decides("no"), decides("yes"), decides("yes")];
    let mut story = votes(answers);
    story.events(expect![[r#"
        member-1#1 ended completed: I say "no"
        member-1 is completed
        member-2#1 ended completed: I say "yes"
        member-2 is completed
        member-3#1 ended completed: I say "yes"
        member-3 is completed
        del-1 chose member-2
        del-1 ended completed
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "I say \"yes\"",
          "data": {
            "decision": "yes",
            "why": "because"
          },
          "artifacts": [],
          "votes": [
            {
              "choice": "no",
              "members": [
                "member-1"
              ]
            },
            {
              "choice": "yes",
              "members": [
                "member-2",
                "member-3"
              ]
            }
          ]
        }
    "#]],
    );
}

#[test]
fn without_a_decision_the_data_votes_and_without_data_the_words() {
    let by_data = vec![
        completed("a").data(json!({"n": 1})),
        completed("b").data(json!({"n": 2})),
        completed("c").data(json!({"n": 2})),
    ];
    assert_eq!(winner(&votes(by_data)), "member-2");
    let by_words = vec![completed("left"), completed("right"), completed("right")];
    assert_eq!(winner(&votes(by_words)), "member-2");
    let null = vec![completed("x").data(Value::Null), completed("x"), completed("y")];
    assert_eq!(winner(&votes(null)), "member-1");
}

fn winner(story: &Story) -> &str {
    let no = story.state.delegations[story.delegation(ROOT)].winner.unwrap();
    story.state.subtasks[no].id.as_str()
}

#[test]
fn a_tie_is_partial_and_goes_to_the_first_of_the_largest_groups() {
    let answers = vec![decides(1), decides(2), decides(2), decides(1)];
    let mut story = votes(answers);
    story.events(expect![[r#"
        member-1#1 ended completed: I say 1
        member-1 is completed
        member-2#1 ended completed: I say 2
        member-2 is completed
        member-3#1 ended completed: I say 2
        member-3 is completed
        member-4#1 ended completed: I say 1
        member-4 is completed
        del-1 chose member-1
        del-1 ended partial
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "No majority; the first of the largest groups: I say 1",
          "data": {
            "decision": 1,
            "why": "because"
          },
          "artifacts": [],
          "votes": [
            {
              "choice": 1,
              "members": [
                "member-1",
                "member-4"
              ]
            },
            {
              "choice": 2,
              "members": [
                "member-2",
                "member-3"
              ]
            }
          ]
        }
    "#]],
    );
}

#[test]
fn the_largest_group_without_a_majority_is_partial() {
    let answers = vec![decides(1), decides(2), decides(2), decides(3), decides(4)];
    let story = votes(answers);
    assert_eq!((winner(&story), story.status()), ("member-2", "partial"));
}

#[test]
fn a_quorum_of_more_than_half_is_enough() {
    let answers = vec![decides(1), failed("broke"), decides(1)];
    votes(answers).events(expect![[r#"
        member-1#1 ended completed: I say 1
        member-1 is completed
        member-2#1 ended failed: broke
        member-2 is failed
        member-3#1 ended completed: I say 1
        member-3 is completed
        del-1 chose member-1
        del-1 ended completed
    "#]]);
}

#[test]
fn half_is_no_quorum() {
    let answers = vec![decides(1), failed("broke"), decides(1), failed("broke")];
    let mut story = votes(answers);
    story.events(expect![[r#"
        member-1#1 ended completed: I say 1
        member-1 is completed
        member-2#1 ended failed: broke
        member-2 is failed
        member-3#1 ended completed: I say 1
        member-3 is completed
        member-4#1 ended failed: broke
        member-4 is failed
        del-1 chose member-1
        del-1 ended partial
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
            partial {
              "summary": "I say 1",
              "data": {
                "decision": 1,
                "why": "because"
              },
              "artifacts": [],
              "votes": [
                {
                  "choice": 1,
                  "members": [
                    "member-1",
                    "member-3"
                  ]
                }
              ]
            }
        "#]],
    );
}

#[test]
fn nobody_is_a_failure() {
    votes(vec![failed("broke"), failed("broke")]).events(expect![[r#"
        member-1#1 ended failed: broke
        member-1 is failed
        member-2#1 ended failed: broke
        member-2 is failed
        del-1 ended failed
    "#]]);
}

#[test]
fn a_quorum_that_waits_for_a_blocker_is_blocked() {
    use crate::story::blocked;
    let answers = || vec![decides(1), blocked("no key"), blocked("no key")];
    assert_eq!(votes(answers()).status(), "blocked");
    let mut story = Story::new(ensemble("ann ben cleo", Aggregate::Merge));
    story.go();
    for (n, answer) in answers().into_iter().enumerate() {
        story.returns(&format!("member-{}", n + 1), answer);
    }
    assert_eq!(story.status(), "blocked");
    let one_failed = vec![decides(1), blocked("no key"), failed("broke")];
    assert_eq!(votes(one_failed).status(), "partial");
    assert_eq!(votes(vec![blocked("no key"), blocked("no key")]).status(), "blocked");
}

#[test]
fn only_the_winners_work_goes_into_the_result() {
    let file = |answer: Answer, path| answer.files(&[path]).artifacts(&[path]);
    let mut story = votes(vec![
        file(decides(1), "one.txt"),
        file(decides(2), "two.txt"),
        file(decides(2), "three.txt"),
    ]);
    story.events(expect![[r#"
        member-1#1 ended completed: I say 1
        member-1 is completed
        member-2#1 ended completed: I say 2
        member-2 is completed
        member-3#1 ended completed: I say 2
        member-3 is completed
        del-1 chose member-2
        member-2 waits for its merge
    "#]]);
    story.owed(expect!["merge member-2#1, wake +3600s"]);
    story.merged("member-2").result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "I say 2",
          "data": {
            "decision": 2,
            "why": "because"
          },
          "artifacts": [
            {
              "type": "implementation",
              "path": "two.txt"
            }
          ],
          "votes": [
            {
              "choice": 1,
              "members": [
                "member-1"
              ]
            },
            {
              "choice": 2,
              "members": [
                "member-2",
                "member-3"
              ]
            }
          ]
        }
    "#]],
    );
}

#[test]
fn no_member_with_work_has_ended_before_the_choice_and_the_winner_not_before_its_merge() {
    let plan = ensemble("ann ben cleo", Aggregate::Vote);
    let mut story = Story::bounded(plan, |s| s.recovery.auto_retry = false);
    story.go().returns("member-1", decides(1).files(&["x"])).returns("member-2", decides(2));
    story.tree(expect![[r#"
        del-1 running
          member-1 merging
          member-2 completed
          member-3 running
    "#]]);
    let done = |story: &Story| {
        view::status(&story.state, story.delegation(ROOT), story.now).progress.completed
    };
    assert_eq!(done(&story), 1);
    story.returns("member-3", decides(1).files(&["y"]));
    story.tree(expect![[r#"
        del-1 running
          member-1 merging
          member-2 completed
          member-3 completed
    "#]]);
    assert_eq!(done(&story), 2, "only the winner is still being merged");
}

#[test]
fn a_winner_that_cannot_be_merged_leaves_the_delegation_blocked() {
    let mut story = votes(vec![decides(1).files(&["x"]), decides(1).files(&["x"])]);
    story.so_far().conflicts("member-1", "x").events(expect![[r#"
        member-1 conflicts in x
        member-1 is blocked: Its changes and earlier ones touch the same lines of: x.
        del-1 ended blocked
    "#]]);
}

#[test]
fn a_winner_that_is_retried_is_chosen_and_merged_again() {
    let mut story = votes(vec![decides(1).files(&["x"]), decides(1).files(&["x"])]);
    story.conflicts("member-1", "x").so_far().retry("member-1").run("member-1");
    story.returns("member-1", decides(1).files(&["x"])).merged("member-1");
    story.events(expect![[r#"
        del-1 reopened
        member-1 is tried again (request) at +0s, told "It ended blocked before: Its changes and earlier ones touch the same lines of: x."
        member-1 starts, until +600s
        member-1#2 runs
        member-1#2 ended completed: I say 1
        member-1 is completed
        del-1 chose member-1
        member-1 waits for its merge
        member-1 merged
        member-1 is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn a_winner_that_is_skipped_makes_room_for_another() {
    let mut story = votes(vec![decides(1).files(&["x"]), decides(1).files(&["x"]), decides(2)]);
    story.conflicts("member-1", "x").so_far().skip("member-1").events(expect![[r#"
        del-1 reopened
        member-1 is skipped: not needed
        del-1 chose member-2
        member-2 waits for its merge
    "#]]);
}

#[test]
fn merge_takes_every_answer_and_every_file() {
    let mut story = Story::new(ensemble("ann ben", Aggregate::Merge));
    story.go();
    story.returns("member-1", completed("one").files(&["a"]).artifacts(&["a"]).data(json!(1)));
    story.returns("member-2", completed("two").files(&["a", "b"]).artifacts(&["a", "b"]));
    story.owed(expect!["merge member-1#1, wake +3600s"]);
    story.go().result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "member-1: one\nmember-2: two",
          "data": [
            {
              "member": "member-1",
              "data": 1
            },
            {
              "member": "member-2",
              "data": null
            }
          ],
          "artifacts": [
            {
              "type": "implementation",
              "path": "a"
            },
            {
              "type": "implementation",
              "path": "b"
            }
          ],
          "votes": [
            {
              "choice": 1,
              "members": [
                "member-1"
              ]
            },
            {
              "choice": "two",
              "members": [
                "member-2"
              ]
            }
          ]
        }
    "#]],
    );
}
