//! Debate: one proposes, the others find fault, round after round.

use expect_test::expect;
use legation_core::tree::event::Role;
use serde_json::json;

use crate::story::{Answer, ROOT, Story, blocked, completed, debate, failed, usd};

fn accepts() -> Answer {
    completed("fine").data(json!({"verdict": "accept"}))
}

fn revises(comment: &str) -> Answer {
    completed(comment).data(json!({"verdict": "revise", "comments": [comment]}))
}

#[test]
fn the_proposer_drafts_from_the_task_itself() {
    let mut story = Story::new(debate("ann ben").about("Choose a database"));
    story.events(expect![[r#"
        tree opened
        del-1 accepted: debate propose
    "#]]);
    let propose = &story.state.subtasks[story.subtask("propose")];
    assert_eq!(&*propose.task, "Choose a database");
    assert_eq!((propose.role, propose.round, propose.agent.as_str()), (Role::Proposer, 0, "ann"));
}

#[test]
fn all_critics_work_at_once_on_the_draft_and_then_the_proposer_synthesises() {
    let mut story = Story::new(debate("ann ben cleo"));
    story.go().so_far().returns("propose", completed("draft")).events(expect![[r#"
        propose#1 ended completed: draft
        propose is completed
        del-1 grows: critique-1-1 critique-1-2
    "#]]);
    story.owed(expect!["start critique-1-1, start critique-1-2, wake +4200s"]);
    story.go().so_far().returns("critique-1-1", revises("too slow"));
    story.returns("critique-1-2", accepts()).events(expect![[r#"
        critique-1-1#1 ended completed: too slow
        critique-1-1 is completed
        critique-1-2#1 ended completed: fine
        critique-1-2 is completed
        del-1 grows: synthesise-1
    "#]]);
    let synthesis = &story.state.subtasks[story.subtask("synthesise-1")];
    let needs: Vec<&str> =
        synthesis.needs.iter().map(|no| story.state.subtasks[*no].id.as_str()).collect();
    assert_eq!(needs, ["propose", "critique-1-1", "critique-1-2"]);
    assert_eq!((synthesis.role, synthesis.round), (Role::Proposer, 1));
}

#[test]
fn it_stops_early_when_every_critic_accepts() {
    let mut story = Story::new(debate("ann ben cleo"));
    story.go().returns("propose", completed("draft")).go().returns("critique-1-1", accepts());
    story.so_far().returns("critique-1-2", accepts()).events(expect![[r#"
        critique-1-2#1 ended completed: fine
        critique-1-2 is completed
        del-1 ended completed
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "draft",
          "data": null,
          "artifacts": [],
          "history": [
            {
              "subtask": "propose",
              "role": "proposer",
              "round": 0,
              "summary": "draft"
            },
            {
              "subtask": "critique-1-1",
              "role": "critic",
              "round": 1,
              "summary": "fine",
              "verdict": "accept"
            },
            {
              "subtask": "critique-1-2",
              "role": "critic",
              "round": 1,
              "summary": "fine",
              "verdict": "accept"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn it_takes_at_most_three_rounds_and_lists_what_is_still_open() {
    let mut story = Story::new(debate("ann ben"));
    story.go().returns("propose", completed("draft 0"));
    for round in 1..=3 {
        story.go().returns(&format!("critique-{round}-1"), revises(&format!("flaw {round}")));
        story.go().so_far();
        story.returns(&format!("synthesise-{round}"), completed(&format!("draft {round}")));
    }
    story.events(expect![[r#"
        synthesise-3#1 ended completed: draft 3
        synthesise-3 is completed
        del-1 ended completed
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "draft 3",
          "data": null,
          "artifacts": [],
          "history": [
            {
              "subtask": "propose",
              "role": "proposer",
              "round": 0,
              "summary": "draft 0"
            },
            {
              "subtask": "critique-1-1",
              "role": "critic",
              "round": 1,
              "summary": "flaw 1",
              "verdict": "revise"
            },
            {
              "subtask": "synthesise-1",
              "role": "proposer",
              "round": 1,
              "summary": "draft 1"
            },
            {
              "subtask": "critique-2-1",
              "role": "critic",
              "round": 2,
              "summary": "flaw 2",
              "verdict": "revise"
            },
            {
              "subtask": "synthesise-2",
              "role": "proposer",
              "round": 2,
              "summary": "draft 2"
            },
            {
              "subtask": "critique-3-1",
              "role": "critic",
              "round": 3,
              "summary": "flaw 3",
              "verdict": "revise"
            },
            {
              "subtask": "synthesise-3",
              "role": "proposer",
              "round": 3,
              "summary": "draft 3"
            }
          ],
          "findings": [
            "flaw 3"
          ]
        }
    "#]],
    );
}

#[test]
fn the_number_of_rounds_is_the_calls() {
    let mut story = Story::new(debate("ann ben").with(|call| call.rounds = Some(1)));
    story.go().returns("propose", completed("draft")).go();
    story.returns("critique-1-1", revises("flaw")).go().so_far();
    story.returns("synthesise-1", completed("better")).events(expect![[r#"
        synthesise-1#1 ended completed: better
        synthesise-1 is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn a_call_may_ask_for_one_to_ten_rounds() {
    let rounds = |rounds| Story::new(debate("ann ben").with(|call| call.rounds = Some(rounds)));
    for number in [1, 10] {
        assert_eq!(rounds(number).status(), "pending", "{number}");
    }
    rounds(11).refusal(expect![[r#"
        A debate or review has 1 to 10 rounds, not 11.

        Suggestion: Ask for another number; each round costs as much as the first.
    "#]]);
    rounds(u32::MAX).events(expect![[r#"
        ! VALIDATION_FAILED A debate or review has 1 to 10 rounds, not 4294967295.
    "#]]);
    rounds(0).events(expect![[r#"
        ! VALIDATION_FAILED A debate or review has 1 to 10 rounds, not 0.
    "#]]);
}

#[test]
fn an_agent_alone_criticises_itself_with_a_fresh_mind() {
    let mut story = Story::new(debate("ann"));
    story.go().so_far().returns("propose", completed("draft")).events(expect![[r#"
        propose#1 ended completed: draft
        propose is completed
        del-1 grows: critique-1-1
    "#]]);
    assert_eq!(story.state.subtasks[story.subtask("critique-1-1")].agent.as_str(), "ann");
}

#[test]
fn only_a_clear_yes_is_a_yes() {
    for data in [json!({"verdict": "Accept"}), json!({"verdict": true}), json!("accept"), json!({})]
    {
        let mut story = Story::new(debate("ann ben"));
        story.go().returns("propose", completed("draft")).go();
        story.returns("critique-1-1", completed("hm").data(data.clone()));
        assert_eq!(story.state.subtasks.len(), 3, "{data}");
    }
}

#[test]
fn a_critic_that_fails_has_not_accepted_and_the_others_are_heard() {
    let mut story = Story::bounded(debate("ann ben cleo"), |s| s.recovery.auto_retry = false);
    story.go().returns("propose", completed("draft")).go();
    story.returns("critique-1-1", failed("broke")).so_far();
    story.returns("critique-1-2", accepts()).events(expect![[r#"
        critique-1-2#1 ended completed: fine
        critique-1-2 is completed
        del-1 grows: synthesise-1
    "#]]);
}

#[test]
fn a_draft_that_nobody_could_judge_is_partial() {
    let mut story = Story::bounded(debate("ann ben"), |s| s.recovery.auto_retry = false);
    story.go().returns("propose", completed("draft")).go().so_far();
    story.returns("critique-1-1", failed("broke")).events(expect![[r#"
        critique-1-1#1 ended failed: broke
        critique-1-1 is failed
        del-1 ended partial
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "draft",
          "data": null,
          "artifacts": [],
          "history": [
            {
              "subtask": "propose",
              "role": "proposer",
              "round": 0,
              "summary": "draft"
            },
            {
              "subtask": "critique-1-1",
              "role": "critic",
              "round": 1,
              "summary": "broke"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn a_proposer_that_fails_at_first_is_a_failure() {
    let mut story = Story::bounded(debate("ann ben"), |s| s.recovery.auto_retry = false);
    story.go().so_far().returns("propose", failed("broke")).events(expect![[r#"
        propose#1 ended failed: broke
        propose is failed
        del-1 ended failed
    "#]]);
}

#[test]
fn a_proposer_that_fails_later_leaves_the_last_draft() {
    let mut story = Story::bounded(debate("ann ben"), |s| s.recovery.auto_retry = false);
    story.go().returns("propose", completed("draft")).go().returns("critique-1-1", revises("flaw"));
    story.go().so_far().returns("synthesise-1", failed("broke")).events(expect![[r#"
        synthesise-1#1 ended failed: broke
        synthesise-1 is failed
        del-1 ended partial
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "draft",
          "data": null,
          "artifacts": [],
          "history": [
            {
              "subtask": "propose",
              "role": "proposer",
              "round": 0,
              "summary": "draft"
            },
            {
              "subtask": "critique-1-1",
              "role": "critic",
              "round": 1,
              "summary": "flaw",
              "verdict": "revise"
            },
            {
              "subtask": "synthesise-1",
              "role": "proposer",
              "round": 1,
              "summary": "broke"
            }
          ],
          "findings": [
            "flaw"
          ]
        }
    "#]],
    );
}

#[test]
fn a_debate_goes_on_where_a_retry_puts_it_right() {
    let mut story = Story::bounded(debate("ann ben"), |s| s.recovery.auto_retry = false);
    story.go().returns("propose", failed("broke")).retry("propose").go().so_far();
    story.returns("propose", completed("draft")).events(expect![[r#"
        propose#2 ended completed: draft
        propose is completed
        del-1 grows: critique-1-1
    "#]]);
}

#[test]
fn it_stops_short_where_the_trees_count_is_used_up() {
    let mut story = Story::bounded(debate("ann ben"), |s| s.limits.max_agents_per_tree = 2);
    story.go().returns("propose", completed("draft")).go().so_far();
    story.returns("critique-1-1", revises("flaw")).events(expect![[r#"
        critique-1-1#1 ended completed: flaw
        critique-1-1 is completed
        del-1 ended partial
    "#]]);
    story.result(ROOT, expect![[r#"
        partial {
          "summary": "draft\nStopped short: Delegation count limit (2) exceeded. Nothing was started.",
          "data": null,
          "artifacts": [],
          "history": [
            {
              "subtask": "propose",
              "role": "proposer",
              "round": 0,
              "summary": "draft"
            },
            {
              "subtask": "critique-1-1",
              "role": "critic",
              "round": 1,
              "summary": "flaw",
              "verdict": "revise"
            }
          ],
          "findings": [
            "flaw"
          ]
        }
    "#]]);
}

#[test]
fn it_stops_short_where_the_money_is_used_up() {
    let plan = debate("ann ben").with(|call| call.call.cost = Some(usd(1.0)));
    let mut story = Story::new(plan);
    story.go().so_far().returns("propose", completed("draft").cost(1.0)).events(expect![[r#"
        propose#1 ended completed: draft
        propose is completed
        del-1 ended partial
    "#]]);
    story.result(
        ROOT,
        expect![[r#"
        partial {
          "summary": "draft\nStopped short: Cost budget exceeded: $0.00 left.",
          "data": null,
          "artifacts": [],
          "history": [
            {
              "subtask": "propose",
              "role": "proposer",
              "round": 0,
              "summary": "draft"
            }
          ]
        }
    "#]],
    );
}

#[test]
fn it_stops_short_where_a_nested_calls_tokens_are_used_up() {
    let mut story = Story::new(crate::story::parallel("a"));
    let plan = debate("ann ben").with(|call| call.call.tokens = Some(12_000));
    story.run("a").nested("a", plan).run("propose").so_far();
    story.returns("propose", completed("draft").tokens(7_001)).events(expect![[r#"
        propose#1 ended completed: draft
        propose is completed
        del-a ended partial
    "#]]);
}

#[test]
fn the_time_of_the_call_holds_for_everyone_in_every_round() {
    let plan = debate("ann ben").with(|call| call.call.timeout_ms = Some(90_000));
    let mut story = Story::new(plan);
    story.go().returns("propose", completed("draft")).go();
    story.returns("critique-1-1", revises("flaw")).go();
    let times: Vec<u64> = story.state.subtasks.iter().map(|(_, s)| s.timeout_ms).collect();
    assert_eq!(times, [90_000, 90_000, 90_000]);
}

#[test]
fn what_the_call_says_of_a_critic_holds_for_it() {
    let plan = debate("ann ben!").part("ben", |part| part.timeout_ms = Some(5_000));
    let plan = plan.part("ben", |part| part.tokens = Some(6_000));
    let mut story = Story::new(plan);
    story.go().returns("propose", completed("draft")).tree(expect![[r#"
        del-1 running
          propose completed
          critique-1-1 awaiting_approval
    "#]]);
    let critique = &story.state.subtasks[story.subtask("critique-1-1")];
    assert_eq!(critique.timeout_ms, 5_000);
    assert_eq!(story.state.ledger.get(critique.account).ceiling.tokens, 6_000);
}

#[test]
fn a_debate_of_which_only_blockers_are_left_is_blocked() {
    let ends = |critics: Vec<Answer>| {
        let names = ["ann ben", "ann ben cleo"][critics.len() - 1];
        let mut story = Story::bounded(debate(names), |s| s.recovery.auto_retry = false);
        story.go().returns("propose", completed("a draft")).go();
        for (n, answer) in critics.into_iter().enumerate() {
            story.returns(&format!("critique-1-{}", n + 1), answer);
        }
        story.status().to_owned()
    };
    assert_eq!(ends(vec![blocked("no key")]), "blocked");
    assert_eq!(ends(vec![blocked("no key"), blocked("no key")]), "blocked");
    assert_eq!(ends(vec![blocked("no key"), failed("broke")]), "partial");
    assert_eq!(ends(vec![failed("broke")]), "partial");
}
