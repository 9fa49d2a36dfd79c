//! Subtasks that mean to change the same files, foreseen before anything starts.

use expect_test::{Expect, expect};
use legation_core::agent::Roster;
use legation_core::call::{Asker, Call, House, overlaps, plan};
use legation_core::config::Config;
use legation_core::ids::AgentId;
use legation_core::tree::command::Caller;
use legation_core::tree::plan::Plan;
use serde_json::{Value, json};

fn warnings(pattern: &str, subtasks: &Value) -> Vec<String> {
    let plan_of: Plan =
        serde_json::from_value(json!({"pattern": pattern, "subtasks": subtasks})).unwrap();
    let call = Call { task: "All".to_owned(), plan: Some(plan_of), ..Call::default() };
    let config = Config::default();
    let roster = Roster::new([], &config);
    let caller = Caller::Root { name: AgentId::new("user"), depth: 0 };
    let asker = Asker { caller, path: Vec::new() };
    let house = House { config: &config, roster: &roster };
    overlaps(&plan(&call, house, &asker, "del-1".into()).unwrap().delegate)
}

fn check(pattern: &str, subtasks: &Value, expected: &Expect) {
    let lines = warnings(pattern, subtasks).into_iter().map(|line| line + "\n");
    expected.assert_eq(&lines.collect::<String>());
}

fn subtask(id: &str, files: &[&str], after: &[&str]) -> Value {
    json!({"id": id, "task": id, "files": files, "dependsOn": after})
}

#[test]
fn two_that_run_side_by_side_and_declare_one_file_are_warned_of() {
    let two = json!([
        subtask("a", &["src/lib.rs", "README.md"], &[]),
        subtask("b", &["docs/x.md", "README.md"], &[]),
        subtask("c", &["src/main.rs"], &[]),
        subtask("d", &[], &[]),
    ]);
    check(
        "parallel",
        &two,
        &expect![[r#"
        `a` and `b` run side by side and both mean to change README.md; the second to end may conflict. Let one depend on the other.
    "#]],
    );
    for pattern in ["parallel_streaming", "dag"] {
        assert_eq!(warnings(pattern, &two).len(), 1, "{pattern}");
    }
    for pattern in ["sequential", "ensemble"] {
        assert!(warnings(pattern, &two).is_empty(), "{pattern}");
    }
}

#[test]
fn one_that_waits_for_the_other_is_in_nobodys_way() {
    let chain = json!([
        subtask("a", &["x"], &[]),
        subtask("b", &[], &["a"]),
        subtask("c", &["x"], &["b"]),
        subtask("d", &["x"], &["b"]),
    ]);
    check(
        "dag",
        &chain,
        &expect![[r#"
        `c` and `d` run side by side and both mean to change x; the second to end may conflict. Let one depend on the other.
    "#]],
    );
}

#[test]
fn folders_and_patterns_meet_what_they_may_name() {
    let cases = [
        ("a.txt", "a.txt", true),
        ("./a.txt", "a.txt", true),
        ("a.txt", "b.txt", false),
        ("src", "src/lib.rs", true),
        ("src/", "source/lib.rs", false),
        ("src/*.rs", "src/lib.rs", true),
        ("src/*.rs", "src/lib.txt", false),
        ("src/*.rs", "src/a*", true),
        ("src/*.rs", "docs/*.rs", false),
        ("src/?.rs", "src/ab.rs", false),
        ("src/?.rs", "src/a.rs", true),
        ("**/*.md", "docs/guides/x.md", true),
        ("**/*.md", "docs/guides/x.rs", false),
        ("a/**", "b/**", false),
        ("**", "anything/at/all", true),
        ("a*b*c", "*d*", true),
        ("a*b", "b*a", false),
        ("ä.txt", "?.txt", true),
    ];
    for (one, other, expected) in cases {
        for (one, other) in [(one, other), (other, one)] {
            let two = json!([subtask("a", &[one], &[]), subtask("b", &[other], &[])]);
            assert_eq!(!warnings("parallel", &two).is_empty(), expected, "{one} {other}");
        }
    }
}

#[test]
fn a_plan_full_of_overlaps_is_told_in_few_lines_and_little_time() {
    let many: Vec<Value> =
        (0..10).map(|at| subtask(&format!("s{at}"), &[&"*a".repeat(2000)], &[])).collect();
    let told = warnings("parallel", &json!(many));
    assert_eq!(
        (told.len(), told.last().map(String::as_str)),
        (11, Some("35 more pairs of subtasks mean to change the same files."))
    );
}
