//! Taking a task apart.

mod sentences;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use legation_core::config::Thresholds;
use legation_core::decision::{decompose, task_id};
use legation_core::task::Task;

/// The parts of a task as text: number, title, what it waits for, description.
pub(super) fn shown(task: &Task) -> String {
    let id = task_id(task);
    let Some(parts) = decompose(task, id.as_str(), &Thresholds::default()) else {
        return "nothing".to_owned();
    };
    let mut text = format!("{:?}", parts.source);
    for (index, subtask) in parts.subtasks.iter().enumerate() {
        let _ = write!(text, "\n{} {}", index + 1, subtask.title);
        if !subtask.dependencies.is_empty() {
            let number = |id: &String| parts.subtasks.iter().position(|other| other.id == *id);
            let after: Vec<String> = subtask
                .dependencies
                .iter()
                .filter_map(number)
                .map(|n| (n + 1).to_string())
                .collect();
            assert_eq!(after.len(), subtask.dependencies.len(), "a dependency is a subtask");
            let _ = write!(text, " <- {}", after.join(" "));
        }
        if !subtask.description.is_empty() {
            let _ = write!(text, " :: {:?}", subtask.description);
        }
    }
    for note in &parts.notes {
        let _ = write!(text, "\n! {note}");
    }
    text
}

fn check(json: &str, expect: &Expect) {
    let task: Task = serde_json::from_str(json).unwrap_or_default();
    assert_ne!(task, Task::default(), "the task must parse");
    expect.assert_eq(&shown(&task));
}

fn check_description(description: &str, expect: &Expect) {
    let task = Task {
        title: "Build the thing".to_owned(),
        description: description.to_owned(),
        ..Task::default()
    };
    expect.assert_eq(&shown(&task));
}

#[test]
fn the_first_source_with_two_parts_wins_and_sources_are_not_mixed() {
    let rest = r#""title": "t", "description": "1. n1\n2. n2\n- b1\n- b2\n- b3\nWrite it. Test it.", "acceptanceCriteria": ["c1", "c2"]"#;
    check(
        &format!(r#"{{{rest}, "subtasks": [{{"title": "s1"}}, {{"title": "s2"}}]}}"#),
        &expect![[r#"
            Subtasks
            1 s1
            2 s2"#]],
    );
    check(
        &format!(r#"{{{rest}, "subtasks": [{{"title": "s1"}}]}}"#),
        &expect![[r#"
            NumberedLines
            1 n1
            2 n2 :: "n2\n- b1\n- b2\n- b3""#]],
    );
    check(
        r#"{"title": "t", "description": "1. n1\n- b1\n- b2\n", "acceptanceCriteria": ["c1", "c2"]}"#,
        &expect![[r#"
            BulletedLines
            1 b1
            2 b2"#]],
    );
    check(
        r#"{"title": "t", "description": "1. n1\n- b1\nWrite it. Test it.", "acceptanceCriteria": ["c1", "", "c2 \n more "]}"#,
        &expect![[r#"
            AcceptanceCriteria
            1 c1
            2 c2 :: "c2 \n more""#]],
    );
    check(
        r#"{"title": "t", "description": "Write it. Test it.", "acceptanceCriteria": ["c1", " "]}"#,
        &expect![[r#"
            Sentences
            1 Write it
            2 Test it"#]],
    );
    check(
        r#"{"title": "Write it. Test it.", "description": "Soon."}"#,
        &expect![[r#"
            Sentences
            1 Write it
            2 Test it"#]],
    );
    check(r#"{"title": "Write it", "description": "Soon."}"#, &expect!["nothing"]);
}

#[test]
fn explicit_subtasks_keep_their_ids_and_dependencies() {
    let task: Task = serde_json::from_str(
        r#"{"id": "T", "title": "t", "effort": "6h", "subtasks": [
            {"id": "plan", "title": "Plan the api", "effort": "90m"},
            {"title": "Build it", "description": "All of it", "dependsOn": ["plan"]},
            {"id": "ship", "title": "Ship it", "depends_on": ["plan", "T-sub-2"]}]}"#,
    )
    .unwrap();
    let parts = decompose(&task, "T", &Thresholds::default()).unwrap();
    expect![[r#"
        [
          {
            "id": "plan",
            "title": "Plan the api",
            "complexity": 5,
            "estimatedDuration": 5400000,
            "dependencies": []
          },
          {
            "id": "T-sub-2",
            "title": "Build it",
            "description": "All of it",
            "complexity": 13,
            "estimatedDuration": 7200000,
            "dependencies": [
              "plan"
            ]
          },
          {
            "id": "ship",
            "title": "Ship it",
            "complexity": 11,
            "estimatedDuration": 7200000,
            "dependencies": [
              "plan",
              "T-sub-2"
            ]
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&parts.subtasks).unwrap());
}

#[test]
fn dependencies_that_cannot_be_are_left_out_and_told() {
    check(
        r#"{"title": "t", "subtasks": [
            {"id": "a", "title": "A", "dependencies": ["nowhere", "a"]},
            {"id": "b", "title": "B", "dependencies": ["a", "c"]},
            {"id": "c", "title": "C", "dependencies": ["b", " a "]}]}"#,
        &expect![[r#"
            Subtasks
            1 A
            2 B <- 1 3
            3 C <- 1
            ! Subtask `a` depends on `nowhere`, which is not among the subtasks; that dependency was left out.
            ! Subtask `a` depends on `a`, which closes a circle; that dependency was left out.
            ! Subtask `c` depends on `b`, which closes a circle; that dependency was left out."#]],
    );
    let many: Vec<String> = (0..9).map(|n| format!(r#""x{n}""#)).collect();
    check(
        &format!(
            r#"{{"title": "t", "subtasks": [{{"title": "A", "dependencies": [{}]}}, {{"title": "B"}}]}}"#,
            many.join(",")
        ),
        &expect![[r#"
            Subtasks
            1 A
            2 B
            ! Subtask `task-dcc6263420b0-sub-1` depends on `x0`, which is not among the subtasks; that dependency was left out.
            ! Subtask `task-dcc6263420b0-sub-1` depends on `x1`, which is not among the subtasks; that dependency was left out.
            ! Subtask `task-dcc6263420b0-sub-1` depends on `x2`, which is not among the subtasks; that dependency was left out.
            ! Subtask `task-dcc6263420b0-sub-1` depends on `x3`, which is not among the subtasks; that dependency was left out.
            ! Subtask `task-dcc6263420b0-sub-1` depends on `x4`, which is not among the subtasks; that dependency was left out.
            ! Of the other dependencies, 4 were left out likewise."#]],
    );
}

#[test]
fn ids_are_never_given_twice() {
    let task: Task = serde_json::from_str(
        r#"{"title": "t", "subtasks": [
            {"id": "T-sub-2", "title": "A"}, {"title": "B"}, {"id": "x", "title": "C"},
            {"id": "x", "title": "D"}, {"id": " ", "title": "E"}]}"#,
    )
    .unwrap();
    let parts = decompose(&task, "T", &Thresholds::default()).unwrap();
    let ids: Vec<&str> = parts.subtasks.iter().map(|subtask| subtask.id.as_str()).collect();
    assert_eq!(ids, ["T-sub-2", "T-sub-3", "x", "T-sub-4", "T-sub-5"]);
    assert_eq!(parts.notes, ["Two subtasks are called `x`; give each an id of its own."]);
}

#[test]
fn a_subtask_needs_a_title_or_a_description() {
    check(
        r#"{"title": "t", "subtasks": [{"title": " ", "description": "First line\nmore"}, {"title": ""}, {"title": "B", "effort": "soon"}]}"#,
        &expect![[r#"
            Subtasks
            1 First line :: "First line\nmore"
            2 B
            ! The effort "soon" of a subtask was not understood."#]],
    );
}

#[test]
fn lists_are_read_with_what_belongs_to_each_entry() {
    check_description(
        "Steps:\n1. one\n2) two\n10. three\n\nThat is all.",
        &expect![[r#"
            NumberedLines
            1 one
            2 two
            3 three"#]],
    );
    check_description(
        "* one\n  more of one\n\n  and more\n* two\nnot two\n- three",
        &expect![[r#"
            BulletedLines
            1 one :: "one\n  more of one\n\n  and more"
            2 two
            3 three"#]],
    );
    check_description(
        "1. one\n   - detail\n   1. nested\n2. two\n- two's detail\n",
        &expect![[r#"
            NumberedLines
            1 one :: "one\n   - detail\n   1. nested"
            2 two :: "two\n- two's detail""#]],
    );
    check_description(
        "- only\n  - nested\n  - again",
        &expect![[r#"
        BulletedLines
        1 only
        2 nested
        3 again"#]],
    );
    check_description(
        " - one\n- two\n\t- nested under two",
        &expect![[r#"
        BulletedLines
        1 one
        2 two :: "two\n\t- nested under two""#]],
    );
    check_description(
        "1. one\n- a\n- b",
        &expect![[r#"
        BulletedLines
        1 a
        2 b"#]],
    );
    check_description(
        "- [ ] open\n- [x] done\n- [X] done too\n- [ ] also open",
        &expect![[r#"
            BulletedLines
            1 open
            2 also open
            ! 2 checked-off entries were left out."#]],
    );
    check_description("- [x] done\n- [ ] open", &expect!["nothing"]);
    check_description(
        "1. one\n  of one\n- another",
        &expect![[r#"
        ListedLines
        1 one :: "one\n  of one"
        2 another"#]],
    );
    check_description("1. one\n   - its detail", &expect!["nothing"]);
    check_description(
        "1. one\r\n2. two\r\n",
        &expect![[r#"
        NumberedLines
        1 one
        2 two"#]],
    );
    check_description(
        "• één\n• 二",
        &expect![[r#"
        BulletedLines
        1 één
        2 二"#]],
    );
}

#[test]
fn more_than_seven_parts_are_kept_and_the_last_subtask_gathers_the_rest() {
    let list = |count: usize| -> String { (1..=count).map(|n| format!("- part {n}\n")).collect() };
    check_description(
        &list(7),
        &expect![[r#"
        BulletedLines
        1 part 1
        2 part 2
        3 part 3
        4 part 4
        5 part 5
        6 part 6
        7 part 7"#]],
    );
    check_description(
        &list(8),
        &expect![[r#"
        BulletedLines
        1 part 1
        2 part 2
        3 part 3
        4 part 4
        5 part 5
        6 part 6
        7 part 7 (and 1 more) :: "part 7\npart 8"
        ! 8 parts were found and at most 7 become subtasks: `task-acb142889e71-sub-7` gathers the last 2, and its description lists them."#]],
    );
    check_description(
        &list(10),
        &expect![[r#"
        BulletedLines
        1 part 1
        2 part 2
        3 part 3
        4 part 4
        5 part 5
        6 part 6
        7 part 7 (and 3 more) :: "part 7\npart 8\npart 9\npart 10"
        ! 10 parts were found and at most 7 become subtasks: `task-a7a5727032dd-sub-7` gathers the last 4, and its description lists them."#]],
    );
    let given: Vec<String> = (1..=9)
        .map(|n| format!(r#"{{"id": "s{n}", "title": "S {n}", "description": "d{n}", "effort": "{n}h", "dependencies": ["s{}"]}}"#, 10 - n))
        .collect();
    check(
        &format!(r#"{{"title": "t", "subtasks": [{}]}}"#, given.join(",")),
        &expect![[r#"
            Subtasks
            1 S 1 <- 7 :: "d1"
            2 S 2 <- 7 :: "d2"
            3 S 3 <- 7 :: "d3"
            4 S 4 <- 6 :: "d4"
            5 S 5 :: "d5"
            6 S 6 :: "d6"
            7 S 7 (and 2 more) :: "S 7\nd7\nS 8\nd8\nS 9\nd9"
            ! Subtask `s5` depends on `s5`, which closes a circle; that dependency was left out.
            ! Subtask `s6` depends on `s4`, which closes a circle; that dependency was left out.
            ! Subtask `s7` depends on `s3`, which closes a circle; that dependency was left out.
            ! Subtask `s7` depends on `s2`, which closes a circle; that dependency was left out.
            ! Subtask `s7` depends on `s1`, which closes a circle; that dependency was left out.
            ! 9 parts were found and at most 7 become subtasks: `s7` gathers the last 3, and its description lists them."#]],
    );
}

#[test]
fn gathered_subtasks_add_up_their_efforts() {
    let given: Vec<String> =
        (1..=9).map(|n| format!(r#"{{"title": "S {n}", "effort": "{n}h"}}"#)).collect();
    let task: Task =
        serde_json::from_str(&format!(r#"{{"title": "t", "subtasks": [{}]}}"#, given.join(",")))
            .unwrap();
    let parts = decompose(&task, "t", &Thresholds::default()).unwrap();
    let hours: Vec<u64> =
        parts.subtasks.iter().map(|subtask| subtask.estimated_duration / 3_600_000).collect();
    assert_eq!(hours, [1, 2, 3, 4, 5, 6, 7 + 8 + 9]);
}

#[test]
fn long_titles_are_cut_and_kept_whole_in_the_description() {
    let long = "é".repeat(121);
    let task =
        Task { title: "t".to_owned(), description: format!("- {long}\n- b"), ..Task::default() };
    let parts = decompose(&task, "t", &Thresholds::default()).unwrap();
    assert_eq!(parts.subtasks[0].title, format!("{}…", "é".repeat(120)));
    assert_eq!(parts.subtasks[0].description, long);
    let json = format!(
        r#"{{"title": "t", "subtasks": [{{"title": "{long}", "description": "d"}}, {{"title": "b"}}]}}"#
    );
    let task: Task = serde_json::from_str(&json).unwrap();
    let parts = decompose(&task, "t", &Thresholds::default()).unwrap();
    assert_eq!(parts.subtasks[0].description, format!("{long}\nd"));
}

#[test]
fn each_part_has_a_complexity_and_a_duration_of_its_own() {
    let mut task = Task::from_text(
        "t\n- research the api\n- Plan the database\n- review all of the full security\n- fix it\n- build it",
    );
    let figures = |task: &Task| -> Vec<(u32, u64)> {
        let parts = decompose(task, "t", &Thresholds::default()).unwrap();
        parts
            .subtasks
            .iter()
            .map(|part| (part.complexity, part.estimated_duration / 1000))
            .collect()
    };
    // Half the time class of the first verb, where no effort is known.
    assert_eq!(figures(&task), [(10, 1800), (10, 900), (20, 1800), (5, 900), (5, 3600)]);
    task.effort = Some("10h".to_owned());
    assert_eq!(figures(&task), [(10, 7200), (10, 7200), (20, 7200), (5, 7200), (5, 7200)]);
    task.effort = Some("whenever".to_owned());
    assert_eq!(figures(&task)[0], (10, 1800));
    task.effort = Some(format!("{}d", "9".repeat(200)));
    assert_eq!(figures(&task)[0], (10, 1800));
}
