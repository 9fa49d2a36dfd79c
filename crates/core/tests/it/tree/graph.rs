//! Plans: each subtask named once, each need known, no circle.

use std::collections::BTreeSet;

use expect_test::expect;
use legation_core::config::Pattern;
use legation_core::tree::plan::{Graph, Plan, check_graph};
use legation_core::tree::rejection::Refusal;
use proptest::prelude::*;

use crate::story::{Story, dag, sequential};

fn check(ids: &[&str], needs: &[&[&str]]) -> Result<Graph, Refusal> {
    let needs: Vec<Vec<&str>> = needs.iter().map(|needs| needs.to_vec()).collect();
    check_graph(ids, &needs)
}

fn refused(ids: &[&str], needs: &[&[&str]]) -> String {
    check(ids, needs).unwrap_err().to_text()
}

#[test]
fn a_plan_needs_at_least_one_subtask() {
    expect![[r#"
        The plan has no subtasks.

        Suggestion: Give it at least one."#]]
    .assert_eq(&refused(&[], &[]));
}

#[test]
fn an_unknown_need_is_named() {
    expect![[r#"
        Subtask `b` depends on `z`, which is not in the plan.

        Suggestion: Name a subtask of the same plan, or leave it out."#]]
    .assert_eq(&refused(&["a", "b"], &[&[], &["z"]]));
}

#[test]
fn an_id_that_stands_twice_is_named() {
    expect![[r#"
        The plan has two subtasks `a`.

        Suggestion: Give each its own id."#]]
    .assert_eq(&refused(&["a", "b", "a"], &[&[], &[], &[]]));
}

#[test]
fn an_id_has_a_hundred_characters_at_most_and_is_not_blank() {
    assert!(check(&["ä".repeat(100).as_str()], &[&[]]).is_ok());
    expect![[r#"
        Subtask 2 of the plan has no usable id.

        Suggestion: Ids have 1 to 100 characters."#]]
    .assert_eq(&refused(&["a", &"x".repeat(101)], &[&[], &[]]));
    expect![[r#"
        Subtask 1 of the plan has no usable id.

        Suggestion: Ids have 1 to 100 characters."#]]
    .assert_eq(&refused(&[" \t"], &[&[]]));
}

#[test]
fn a_circle_is_named_from_start_to_end() {
    let ids = ["start", "a", "b", "c", "end"];
    let needs: [&[&str]; 5] = [&[], &["start", "c"], &["a"], &["b"], &["c"]];
    expect![[r#"
        The plan goes round in a circle: a → c → b → a.

        Suggestion: Take out one of these dependencies."#]]
    .assert_eq(&refused(&ids, &needs));
}

#[test]
fn a_subtask_cannot_need_itself() {
    expect![[r#"
        The plan goes round in a circle: a → a.

        Suggestion: Take out one of these dependencies."#]]
    .assert_eq(&refused(&["a"], &[&["a"]]));
}

#[test]
fn a_need_named_twice_counts_once() {
    let graph = check(&["a", "b"], &[&[], &["a", "a"]]).unwrap();
    assert_eq!(graph.needs, [vec![], vec![0]]);
}

#[test]
fn a_bad_plan_refuses_the_whole_call() {
    let mut story = Story::new(dag("a<b b<a"));
    story.events(expect![[r#"
        ! VALIDATION_FAILED The plan goes round in a circle: a → b → a.
    "#]]);
    assert!(story.log.is_empty());
}

#[test]
fn in_a_sequence_a_need_of_something_later_is_a_circle() {
    Story::new(sequential("a<c b c")).events(expect![[r#"
        ! VALIDATION_FAILED The plan goes round in a circle: a → c → b → a.
    "#]]);
}

#[test]
fn the_longest_chain_adds_up_along_the_needs() {
    let graph = check(&["a", "b", "c", "d"], &[&[], &["a"], &["a"], &["b", "c"]]).unwrap();
    assert_eq!(graph.longest(&[1, 10, 20, 100]), 121);
    assert_eq!(graph.longest(&[500, 1, 1, 1]), 502);
    assert_eq!(graph.longest(&[u64::MAX, 1, 1, 1]), u64::MAX);
    // Parts that a pattern adds have no place in the graph: they stand alone.
    assert_eq!(graph.longest(&[]), 0);
    assert_eq!(graph.longest(&[1, 1, 1, 1, 9]), 9);
}

#[test]
fn a_chain_of_thirty_thousand_is_checked_without_a_deep_stack() {
    const LINKS: usize = 30_000;
    let names: Vec<String> = (0..LINKS).map(|n| n.to_string()).collect();
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    // Named backwards, so that nothing is ready until the very last.
    let mut needs: Vec<Vec<&str>> = ids.iter().skip(1).map(|next| vec![*next]).collect();
    needs.push(Vec::new());
    let graph = check_graph(&ids, &needs).unwrap();
    assert_eq!(graph.longest(&vec![1; LINKS]), LINKS as u64);
    needs.last_mut().unwrap().push("0");
    let refusal = check_graph(&ids, &needs).unwrap_err();
    expect!["The plan goes round in a circle: 0 → 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → … → 0."]
        .assert_eq(&refusal.message);
}

#[test]
fn a_written_plan_has_one_form() {
    let plan: Plan = serde_json::from_str(
        r#"{"mode": "dag", "subtasks": [
            {"id": "a", "task": "first"},
            {"id": "b", "depends_on": ["a"], "required": false, "budget": 9000, "timeout": "5m"}]}"#,
    )
    .unwrap();
    assert_eq!(plan.pattern, Pattern::Dag);
    expect![[r#"
        {
          "pattern": "dag",
          "subtasks": [
            {
              "id": "a",
              "task": "first",
              "dependsOn": [],
              "required": true,
              "files": []
            },
            {
              "id": "b",
              "dependsOn": [
                "a"
              ],
              "timeout": "5m",
              "budget": 9000,
              "required": false,
              "files": []
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&plan).unwrap());
    for bad in [r#"{}"#, r#"{"subtasks": [{}]}"#, r#"{"subtasks": [], "patern": "dag"}"#] {
        assert!(serde_json::from_str::<Plan>(bad).is_err(), "{bad}");
    }
}

/// Another way to find out: take away what needs nothing, until nothing changes.
fn has_circle(needs: &[BTreeSet<usize>]) -> bool {
    let mut left: BTreeSet<usize> = (0..needs.len()).collect();
    loop {
        let free: Vec<usize> =
            left.iter().copied().filter(|n| needs[*n].is_disjoint(&left)).collect();
        if free.is_empty() {
            return !left.is_empty();
        }
        free.iter().for_each(|n| {
            left.remove(n);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_graph_is_accepted_exactly_if_it_has_no_circle(
        size in 1usize..12,
        edges in prop::collection::vec((0usize..12, 0usize..12), 0..24),
    ) {
        let names: Vec<String> = (0..size).map(|n| format!("s{n}")).collect();
        let ids: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut needs = vec![BTreeSet::new(); size];
        for (from, to) in edges {
            needs[from % size].insert(to % size);
        }
        let named: Vec<Vec<&str>> =
            needs.iter().map(|needs| needs.iter().map(|n| ids[*n]).collect()).collect();
        let checked = check_graph(&ids, &named);
        prop_assert_eq!(checked.is_err(), has_circle(&needs));
        if let Ok(graph) = checked {
            let place = |n: usize| graph.order.iter().position(|at| *at == n);
            for (n, needs) in needs.iter().enumerate() {
                prop_assert!(needs.iter().all(|need| place(*need) < place(n)));
            }
        }
    }
}
