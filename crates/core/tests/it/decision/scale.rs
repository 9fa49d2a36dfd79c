//! Any amount of anything is answered, and in time that grows with its length only.

use legation_core::task::NamedSubtask;

use super::Question;

/// Bytes of a text: little for a linear reader even in a debug build, minutes for a quadratic one.
const SIZE: usize = 100_000;
/// Entries of a list, likewise.
const ENTRIES: usize = 20_000;

/// Texts that make a careless reader look at everything again and again.
fn hostile() -> Vec<(&'static str, String)> {
    [
        ("words", "api "),
        ("one word", "a"),
        ("bullets", "- a\n"),
        ("numbers", "1. a\n"),
        ("indents", "  - a\n    b\n"),
        ("blank lines", "\n"),
        ("blanks", " "),
        ("digits", "1"),
        ("sentences", "Write it. "),
        ("order words", "write it then "),
        ("openers", "and then "),
        ("commas", "write it, "),
        ("bullets that wait", "- write it after the api, depends on step 1\n"),
        ("dots", "."),
        ("semicolons", ";"),
        ("lines of sentences", "Write\n"),
        ("after", "after "),
        ("depends on", "depends on "),
        ("boxes", "- [x] a\n"),
        ("letters", "é"),
        ("dotted capitals", "\u{130}"),
    ]
    .into_iter()
    .map(|(name, bit)| (name, bit.repeat(SIZE / bit.len())))
    .collect()
}

#[test]
fn hostile_text_is_answered_in_linear_time() {
    for (name, text) in hostile() {
        let mut question = Question::about("t");
        question.task.title.clone_from(&text);
        question.task.description = text;
        question.config.patterns.hints.debate =
            vec!["write it a".to_owned(), "after after a".to_owned()];
        assert!(question.ask().score <= 100, "{name}");
    }
}

#[test]
fn any_number_of_entries_is_answered_in_linear_time() {
    let many: Vec<String> = (0..ENTRIES).map(|n| format!("part {n} then after it")).collect();
    let named: Vec<NamedSubtask> = (0..ENTRIES)
        .map(|n| NamedSubtask {
            id: Some(format!("s{n}")),
            title: format!("part {n}"),
            description: String::new(),
            dependencies: vec![format!("s{}", (n + 1) % ENTRIES), "nowhere".to_owned()],
            effort: Some("1h".to_owned()),
        })
        .collect();
    let mut question = Question::about("t");
    question.task.acceptance_criteria = many.clone();
    question.task.dependencies = many.clone();
    question.task.child_task_ids = many;
    let decision = question.ask();
    assert_eq!(decision.factors.subtask_count, ENTRIES);
    assert_eq!(decision.subtasks.map(|all| all.len()), Some(7));
    question.task.subtasks = named;
    assert_eq!(question.ask().subtasks.map(|all| all.len()), Some(7));
}
