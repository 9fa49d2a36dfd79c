//! What it cost: all of it, failed and repeated attempts included.

use expect_test::expect;
use legation_core::tree::view::{self, Cost};

use crate::story::{ROOT, Story, completed, failed, parallel};

fn cost(story: &Story, delegation: &str) -> Cost {
    view::cost(&story.state, story.delegation(delegation))
}

/// The tree in lines: id, own and total.
fn lines(cost: &Cost, indent: usize, text: &mut String) {
    let dollars =
        |usd: Option<legation_core::money::Usd>| usd.map_or("?".to_owned(), |usd| usd.to_string());
    let unknown = if cost.unknown > 0 { format!(", {} unknown", cost.unknown) } else { "".into() };
    let (own, total) = (dollars(cost.own_usd), dollars(cost.total_usd));
    let shift = "  ".repeat(indent);
    text.push_str(&format!("{shift}{}: {own} of {total}{unknown}\n", cost.id));
    for child in &cost.children {
        lines(child, indent + 1, text);
    }
}

fn text(story: &Story) -> String {
    let mut text = String::new();
    lines(&cost(story, ROOT), 0, &mut text);
    text
}

#[test]
fn a_rollup_adds_up_everything_below_failed_children_included() {
    // 2.50 + (0.45 + 0.15) + 0.38 + 0.22 = 3.70
    let mut story = Story::bounded(parallel("main"), |s| s.recovery.auto_retry = false);
    story.run("main").nested("main", parallel("jwt ui tests")).run("jwt ui tests");
    story.nested("jwt", parallel("keys")).run("keys");
    story.returns("keys", completed("done").cost(0.15)).delivered("del-jwt");
    story.returns("jwt", completed("done").cost(0.45));
    story.returns("ui", failed("broke").cost(0.38));
    story.returns("tests", completed("done").cost(0.22)).delivered("del-main");
    story.returns("main", completed("done").cost(2.50));
    expect![[r#"
        del-1: ? of $3.70
          exec-main-1: $2.50 of $3.70
            del-main: ? of $1.20
              exec-jwt-1: $0.45 of $0.60
                del-jwt: ? of $0.15
                  exec-keys-1: $0.15 of $0.15
              exec-ui-1: $0.38 of $0.38
              exec-tests-1: $0.22 of $0.22
    "#]]
    .assert_eq(&text(&story));
    assert_eq!(cost(&story, ROOT).total_usd.unwrap().dollars(), 3.70);
    assert_eq!(story.state.ledger.accounts()[0].used.cost.dollars(), 3.70);
}

#[test]
fn each_attempt_of_a_subtask_is_counted() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", failed("broke").cost(0.10)).tick(10).run("a");
    story.returns("a", completed("done").cost(0.20));
    expect![[r#"
        del-1: ? of $0.30
          exec-a-1: $0.10 of $0.10
          exec-a-2: $0.20 of $0.20
    "#]]
    .assert_eq(&text(&story));
}

#[test]
fn an_unknown_cost_is_null_and_never_a_silent_zero() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").returns("a", completed("done"));
    let json = serde_json::to_value(cost(&story, ROOT)).unwrap();
    assert_eq!(json["totalUsd"], serde_json::Value::Null);
    assert_eq!(json["unknown"], 2);
    story.returns("b", completed("done").cost(0.0));
    expect![[r#"
        del-1: ? of $0.00, 1 unknown
          exec-a-1: ? of ?, 1 unknown
          exec-b-1: $0.00 of $0.00
    "#]]
    .assert_eq(&text(&story));
}

#[test]
fn tokens_of_every_kind_add_up() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b");
    story.returns("b", completed("done").tokens(30)).delivered("del-a");
    story.returns("a", completed("done").tokens(12));
    expect![[r#"
        {
          "id": "del-1",
          "ownUsd": null,
          "totalUsd": null,
          "unknown": 2,
          "tokens": {
            "input": 0,
            "output": 42,
            "reasoning": 0,
            "cacheRead": 0,
            "cacheWrite": 0
          },
          "children": [
            {
              "id": "exec-a-1",
              "subtask": "a",
              "agent": "a",
              "ownUsd": null,
              "totalUsd": null,
              "unknown": 2,
              "tokens": {
                "input": 0,
                "output": 42,
                "reasoning": 0,
                "cacheRead": 0,
                "cacheWrite": 0
              },
              "children": [
                {
                  "id": "del-a",
                  "ownUsd": null,
                  "totalUsd": null,
                  "unknown": 1,
                  "tokens": {
                    "input": 0,
                    "output": 30,
                    "reasoning": 0,
                    "cacheRead": 0,
                    "cacheWrite": 0
                  },
                  "children": [
                    {
                      "id": "exec-b-1",
                      "subtask": "b",
                      "agent": "b",
                      "ownUsd": null,
                      "totalUsd": null,
                      "unknown": 1,
                      "tokens": {
                        "input": 0,
                        "output": 30,
                        "reasoning": 0,
                        "cacheRead": 0,
                        "cacheWrite": 0
                      },
                      "children": []
                    }
                  ]
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&cost(&story, ROOT)).unwrap());
}
