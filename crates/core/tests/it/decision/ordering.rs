//! Which parts wait for which others.

use expect_test::{Expect, expect};
use legation_core::task::Task;

use super::decomposition::shown;

fn check(description: &str, expect: &Expect) {
    let task =
        Task { title: "t".to_owned(), description: description.to_owned(), ..Task::default() };
    expect.assert_eq(&shown(&task));
}

#[test]
fn numbered_lines_follow_one_another_when_order_words_occur() {
    check(
        "1. a\n2. b\n3. c",
        &expect![[r#"
        NumberedLines
        1 a
        2 b
        3 c"#]],
    );
    check(
        "1. a\n2. then b\n3. c",
        &expect![[r#"
        NumberedLines
        1 a
        2 then b <- 1
        3 c <- 2"#]],
    );
    check(
        "One after another:\n1. a\n2. b",
        &expect![[r#"
        NumberedLines
        1 a
        2 b <- 1"#]],
    );
    check(
        "1. a\n2. b depends on a\n3. c",
        &expect![[r#"
        NumberedLines
        1 a
        2 b depends on a <- 1
        3 c <- 2"#]],
    );
    check(
        "1. a\n2. depends what\n3. authentication thereafter",
        &expect![[r#"
            NumberedLines
            1 a
            2 depends what
            3 authentication thereafter"#]],
    );
}

#[test]
fn bulleted_lines_wait_for_what_they_name() {
    check(
        "- Export the rows\n- Convert the rows after exporting\n- Write a manual",
        &expect![[r#"
            BulletedLines
            1 Export the rows
            2 Convert the rows after exporting <- 1
            3 Write a manual"#]],
    );
    check(
        "- Deploy it (after the tests pass)\n- Write tests\n- Tidy up",
        &expect![[r#"
            BulletedLines
            1 Deploy it (after the tests pass) <- 2
            2 Write tests
            3 Tidy up"#]],
    );
    check(
        "- a\n- Then b\n- c\n- Finally, d",
        &expect![[r#"
        BulletedLines
        1 a
        2 Then b <- 1
        3 c
        4 Finally, d <- 3"#]],
    );
    check(
        "- a\n- b\n- c depends on step 1\n- d depends on 1 and 3",
        &expect![[r#"
            BulletedLines
            1 a
            2 b
            3 c depends on step 1 <- 1
            4 d depends on 1 and 3 <- 1 3"#]],
    );
    check(
        "- a\n- b\n- c after #1 and #2\n- d after steps 2, 3",
        &expect![[r#"
            BulletedLines
            1 a
            2 b
            3 c after #1 and #2 <- 1 2
            4 d after steps 2, 3 <- 2 3"#]],
    );
    check(
        "- a\n- b, after that\n- c after 2 minutes\n- d after 30 minutes",
        &expect![[r#"
            BulletedLines
            1 a
            2 b, after that <- 1
            3 c after 2 minutes
            4 d after 30 minutes"#]],
    );
    check(
        "- a\n- b depends on the weather\n- c depends on part 9\n- d depends on step 0",
        &expect![[r#"
            BulletedLines
            1 a
            2 b depends on the weather <- 1
            3 c depends on part 9 <- 2
            4 d depends on step 0 <- 3"#]],
    );
    check(
        "- Migrate the store\n- Integrate billing\n- Report, depends on the migration and integration",
        &expect![[r#"
            BulletedLines
            1 Migrate the store
            2 Integrate billing
            3 Report, depends on the migration and integration <- 1 2"#]],
    );
    check(
        "- depends on nothing\n- a",
        &expect![[r#"
        BulletedLines
        1 depends on nothing
        2 a"#]],
    );
    check(
        "- Log out after a while\n- Look after the internal interface\n- Interface",
        &expect![[r#"
            BulletedLines
            1 Log out after a while
            2 Look after the internal interface <- 3
            3 Interface"#]],
    );
}

#[test]
fn circles_in_words_are_broken() {
    check(
        "- Alpha after bravo\n- Bravo after charlie\n- Charlie after alpha",
        &expect![[r#"
            BulletedLines
            1 Alpha after bravo <- 2
            2 Bravo after charlie <- 3
            3 Charlie after alpha
            ! Subtask `task-9559c95682e1-sub-3` depends on `task-9559c95682e1-sub-1`, which closes a circle; that dependency was left out."#]],
    );
    check(
        "- Alpha after alpha\n- Bravo",
        &expect![[r#"
        BulletedLines
        1 Alpha after alpha
        2 Bravo"#]],
    );
}

#[test]
fn a_gathered_rest_with_an_order_word_waits_for_all_others() {
    let list: String = (1..=8).map(|n| format!("- part {n}\n")).collect();
    check(
        &format!("{list}- and then the last"),
        &expect![[r#"
        BulletedLines
        1 part 1
        2 part 2
        3 part 3
        4 part 4
        5 part 5
        6 part 6
        7 part 7 (and 2 more) <- 1 2 3 4 5 6 :: "part 7\npart 8\nand then the last"
        ! 9 parts were found and at most 7 become subtasks: `task-52ac54d3b799-sub-7` gathers the last 3, and its description lists them."#]],
    );
    let numbered: String = (1..=9).map(|n| format!("{n}. then {n}\n")).collect();
    check(
        &numbered,
        &expect![[r#"
        NumberedLines
        1 then 1
        2 then 2 <- 1
        3 then 3 <- 2
        4 then 4 <- 3
        5 then 5 <- 4
        6 then 6 <- 5
        7 then 7 (and 2 more) <- 6 :: "then 7\nthen 8\nthen 9"
        ! 9 parts were found and at most 7 become subtasks: `task-267d23b61af0-sub-7` gathers the last 3, and its description lists them."#]],
    );
}

#[test]
fn named_subtasks_without_dependencies_are_ordered_by_their_words() {
    let task: Task = serde_json::from_str(
        r#"{"title": "t", "subtasks": [{"title": "Write tests"}, {"title": "Deploy", "description": "Only after the tests pass"}]}"#,
    )
    .unwrap();
    expect![[r#"
        Subtasks
        1 Write tests
        2 Deploy <- 1 :: "Only after the tests pass""#]]
    .assert_eq(&shown(&task));
}
