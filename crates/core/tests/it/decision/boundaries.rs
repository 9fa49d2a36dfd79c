//! Every bonus, cap and rounding, on both sides of its edge.

use legation_core::config::Thresholds;
use legation_core::task::Task;

use super::{Question, strings};

/// A task of no complexity at all.
fn nothing() -> Task {
    Task { title: "x".to_owned(), effort: Some("1m".to_owned()), ..Task::default() }
}

fn complexity(change: impl FnOnce(&mut Task)) -> u32 {
    let mut task = nothing();
    change(&mut task);
    Question { task, ..Question::default() }.ask().factors.complexity
}

#[test]
fn length_counts_in_steps_of_characters_not_bytes() {
    for (title, description, points) in [
        (1, 0, 0),
        (20, 30, 0),
        (20, 31, 5),
        (50, 150, 5),
        (51, 150, 10),
        (100, 400, 10),
        (100, 401, 20),
        (0, 100_000, 20),
    ] {
        for letter in ["x", "é", "𝄞"] {
            let got = complexity(|task| {
                task.title = letter.repeat(title);
                task.description = letter.repeat(description);
            });
            assert_eq!(got, points, "{title} + {description} of {letter}");
        }
    }
}

#[test]
fn each_word_counts_once_and_only_as_a_whole_word() {
    for (title, points) in [
        ("api", 5),
        ("API", 5),
        ("Api api API", 5),
        ("api, database; (async)", 15),
        ("capital", 0),
        ("api_key", 0),
        ("api2", 0),
        ("api-key", 5),
        ("rest/api", 5),
        ("éapi", 5),
        ("apié", 5),
        // Lower-casing turns these two into ASCII letters.
        ("AP\u{130}", 5),
        ("tas\u{212a}", 0),
        ("concurrent concurrently", 5),
        ("all fall allow", 5),
        ("multiple all entire", 15),
        ("multiple all entire complete full comprehensive", 15),
        ("performance integration distributed", 15),
    ] {
        assert_eq!(complexity(|task| task.title = title.to_owned()), points, "{title}");
    }
    // Five technical words reach the cap; the length adds 5 beyond 50 characters.
    let five = "api database async security performance";
    assert_eq!(complexity(|task| task.title = five.to_owned()), 25);
    let six = format!("{five} concurrent");
    assert_eq!(complexity(|task| task.title = six.clone()), 25);
}

#[test]
fn a_word_does_not_run_on_from_the_title_into_the_description() {
    let got = complexity(|task| {
        task.title = "a".to_owned();
        task.description = "pi".to_owned();
    });
    assert_eq!(got, 0);
}

#[test]
fn dependencies_and_criteria_have_their_caps() {
    for (count, dependencies, criteria) in [
        (0, 0, 0),
        (1, 3, 2),
        (4, 12, 8),
        (5, 15, 10),
        (6, 15, 12),
        (7, 15, 14),
        (8, 15, 15),
        (500, 15, 15),
    ] {
        assert_eq!(complexity(|task| task.dependencies = strings(count)), dependencies, "{count}");
        assert_eq!(
            complexity(|task| task.acceptance_criteria = strings(count)),
            criteria,
            "{count}"
        );
    }
}

#[test]
fn effort_counts_from_half_the_large_effort() {
    for (effort, points) in [
        ("119m", 0),
        ("2h", 5),
        ("120 min", 5),
        ("3.9h", 5),
        ("4h", 10),
        ("240 minutes", 10),
        ("7h59m", 10),
        ("8h", 15),
        ("1d", 15),
        // A bare number is hours.
        ("4", 10),
        ("1 day", 15),
        ("2 Days", 15),
        ("1h30m", 0),
        ("1h 30m", 0),
        ("1.5h", 0),
        ("2 hours", 5),
        ("0h", 0),
        // What is no effort counts as the unknown 2 hours.
        ("", 5),
        ("  ", 5),
        ("soon", 5),
        ("-4", 5),
        ("-4h", 5),
        ("4h!", 5),
        ("h", 5),
        ("1.2.3h", 5),
        ("4 parsecs", 5),
    ] {
        assert_eq!(complexity(|task| task.effort = Some(effort.to_owned())), points, "{effort:?}");
    }
    assert_eq!(complexity(|task| task.effort = None), 5);
    let absurd = "9".repeat(400) + "h";
    assert_eq!(complexity(|task| task.effort = Some(absurd.clone())), 5);
}

#[test]
fn complexity_stops_at_100() {
    let got = complexity(|task| {
        task.title = "api database async security performance all full entire".to_owned();
        task.description = "x".repeat(600);
        task.dependencies = strings(9);
        task.acceptance_criteria = strings(9);
        task.effort = Some("9d".to_owned());
    });
    assert_eq!(got, 100);
}

#[test]
fn subtasks_are_estimated_from_criteria_or_list_lines_or_counted() {
    for (description, count) in [
        ("1. a\n2) b\n3.c", 2),
        ("- a\n* b\n• c\n-d\n--- e\n+ f", 3),
        ("  10. a\n\t- b", 2),
        ("-\n- \n-  \n1.\n1. ", 0),
        ("-\u{a0}a\n\u{2003}* b", 2),
        ("1.\ta\r\n2.\tb\r\n", 2),
        (". a\n) b\n1 a\n1: b\nx 1. a", 0),
        ("12345678901234567890123. a", 1),
        ("- - a", 1),
    ] {
        let task =
            Task { title: "x".to_owned(), description: description.to_owned(), ..Task::default() };
        let mut question = Question { task, ..Question::default() };
        assert_eq!(question.ask().factors.subtask_count, count, "{description:?}");
        question.task.acceptance_criteria = strings(2);
        assert_eq!(question.ask().factors.subtask_count, count.max(2), "{description:?}");
        question.task.subtasks = serde_json::from_str(r#"[{"title": "only one"}]"#).unwrap();
        assert_eq!(question.ask().factors.subtask_count, 1, "explicit ones count as they are");
    }
}

#[test]
fn contributions_grow_with_the_factor_up_to_the_weight() {
    let points = |context: f64, confidence: f64, load: f64| {
        let mut question = Question { task: nothing(), ..Question::default() };
        question.known.context_utilization = Some(context);
        question.known.agent_confidence = Some(confidence);
        question.known.agent_load = Some(load);
        let given = question.ask().factor_contributions;
        (given.context_utilization, given.confidence, given.agent_load)
    };
    assert_eq!(points(0.0, 100.0, 0.0), (0.0, 0.0, 0.0));
    assert_eq!(points(37.5, 80.0, 50.0), (10.0, 7.5, 5.0));
    assert_eq!(points(75.0, 60.0, 100.0), (20.0, 15.0, 10.0));
    assert_eq!(points(76.0, 59.0, 101.0), (20.0, 15.0, 10.0));
    assert_eq!(points(-5.0, 105.0, -1.0), (0.0, 0.0, 0.0));
    assert_eq!(points(f64::INFINITY, f64::NEG_INFINITY, 1e300), (20.0, 15.0, 10.0));
    // A value that is no number is not known.
    assert_eq!(points(f64::NAN, f64::NAN, f64::NAN), (40.0 / 3.0, 9.375, 0.0));
}

#[test]
fn the_score_is_rounded_half_up() {
    let score = |context: f64, confidence: f64, load: f64| {
        let mut question = Question { task: nothing(), ..Question::default() };
        question.known.context_utilization = Some(context);
        question.known.agent_confidence = Some(confidence);
        question.known.agent_load = Some(load);
        question.ask().score
    };
    // Depth gives 10; the rest is what the arguments give.
    assert_eq!(score(0.0, 100.0, 4.0), 10);
    assert_eq!(score(0.0, 100.0, 5.0), 11, "10.5");
    assert_eq!(score(0.0, 100.0, 15.0), 12, "11.5");
    assert_eq!(score(0.0, 96.0, 0.0), 12, "11.5");
    assert_eq!(score(0.0, 96.0, 9.0), 12, "12.4");
    assert_eq!(score(0.0, 96.0, 10.0), 13, "12.5");
    // 0.1 times some of these loads is a hair below the half in binary.
    for tens in 0..10 {
        assert_eq!(score(0.0, 100.0, f64::from(tens * 10 + 5)), 11 + tens as u32);
    }
}

#[test]
fn the_decision_is_surer_where_a_factor_is_clear() {
    let confidence = |question: &Question| question.ask().confidence;
    // Nothing is clear: complexity 20, 2 subtasks, a score of 50.
    let mut plain = Question { task: nothing(), ..Question::default() };
    plain.task.acceptance_criteria = strings(2);
    plain.task.dependencies = strings(2);
    plain.task.effort = Some("4h".to_owned());
    plain.known.context_utilization = Some(50.0);
    plain.known.agent_confidence = Some(75.0);
    assert_eq!((plain.ask().factors.complexity, plain.ask().score), (20, 55));
    assert_eq!(confidence(&plain), 50);

    for (context, more) in [(29.9, 10), (30.0, 0), (85.0, 0), (85.1, 10)] {
        let mut question = plain.clone();
        question.known.context_utilization = Some(context);
        assert_eq!(confidence(&question), 50 + more, "context {context}");
    }
    for (own, more) in [(39.9, 10), (40.0, 0), (90.0, 0), (90.1, 10)] {
        let mut question = plain.clone();
        question.known.agent_confidence = Some(own);
        assert_eq!(confidence(&question), 50 + more, "agent confidence {own}");
    }
    let mut simpler = plain.clone();
    simpler.task.dependencies = strings(1);
    assert_eq!((simpler.ask().factors.complexity, confidence(&simpler)), (17, 65));
    for (count, more) in [(0, 10), (1, 10), (2, 0), (4, 0), (5, 10)] {
        let mut question = plain.clone();
        let lines: String = strings(count).iter().map(|line| format!("- {line}\n")).collect();
        question.task = Task { description: lines, dependencies: strings(5), ..nothing() };
        question.task.effort = Some("5h".to_owned());
        assert_eq!(question.ask().factors.complexity, 25);
        assert_eq!(confidence(&question), 50 + more, "{count} subtasks");
    }
}

#[test]
fn a_very_complex_task_and_a_clear_score_make_it_surer() {
    let mut question = Question { task: nothing(), ..Question::default() };
    question.task.title = "api database async security all full entire".to_owned();
    question.task.description = "x".repeat(501);
    question.task.dependencies = strings(3);
    question.task.acceptance_criteria = strings(2);
    question.task.effort = Some("4h".to_owned());
    let decision = question.ask();
    // 20 + 20 + 15 + 9 + 4 + 10
    assert_eq!((decision.factors.complexity, decision.confidence), (78, 50));
    question.task.acceptance_criteria = strings(3);
    assert_eq!((question.ask().factors.complexity, question.ask().confidence), (80, 50));
    question.task.acceptance_criteria = strings(4);
    assert_eq!((question.ask().factors.complexity, question.ask().confidence), (82, 65));

    // A score of 80 is not clear, one of 81 is.
    question.task.acceptance_criteria = strings(3);
    question.known.context_utilization = Some(75.0);
    question.known.agent_confidence = Some(70.0);
    for (own, score, confidence) in [(85.9, 80, 50), (84.0, 81, 65)] {
        question.known.agent_confidence = Some(own);
        assert_eq!((question.ask().score, question.ask().confidence), (score, confidence), "{own}");
    }
}

#[test]
fn a_low_score_makes_it_surer_too() {
    let mut question = Question { task: nothing(), ..Question::default() };
    question.task.dependencies = strings(5);
    question.task.effort = Some("5h".to_owned());
    question.task.description = "- a\n- b".to_owned();
    question.known.agent_confidence = Some(90.0);
    question.known.context_utilization = Some(30.0);
    question.known.depth = Some(3);
    // Complexity gives 15, context 8, subtasks 10, confidence 3.75.
    assert_eq!((question.ask().score, question.ask().confidence), (37, 50));
    question.task.description = String::new();
    question.task.acceptance_criteria = strings(0);
    assert_eq!((question.ask().score, question.ask().confidence), (27, 75));
}

#[test]
fn depth_counts_what_is_left_of_the_maximum() {
    for (depth, max, left, points) in [
        (None, None, 3, 10.0),
        (Some(1), None, 2, 20.0 / 3.0),
        (Some(3), None, 0, 0.0),
        (Some(9), None, 0, 0.0),
        (Some(-4), None, 3, 10.0),
        (Some(1), Some(2), 1, 5.0),
        (Some(1), Some(5), 4, 8.0),
        (Some(0), Some(0), 0, 0.0),
        (None, Some(-1), 0, 0.0),
        (Some(i64::MAX), Some(i64::MAX), 0, 0.0),
        (Some(i64::MIN), None, 3, 10.0),
    ] {
        let mut question = Question { task: nothing(), ..Question::default() };
        question.known.depth = depth;
        question.known.max_depth = max;
        let decision = question.ask();
        assert_eq!(decision.factors.depth_remaining, left, "{depth:?} of {max:?}");
        let given = decision.factor_contributions.depth_remaining;
        assert!((given - points).abs() < 1e-12, "{depth:?} of {max:?}: {given}");
    }
}

#[test]
fn a_threshold_of_zero_is_always_reached() {
    let mut question = Question { task: nothing(), ..Question::default() };
    question.config.thresholds = Thresholds {
        delegation_score: 0,
        auto_accept_confidence: 0,
        complexity_trigger: 0,
        min_subtasks: 0,
        effort_hours: 0.0,
        context_utilization: 0,
    };
    question.known.context_utilization = Some(0.0);
    let decision = question.ask();
    let given = decision.factor_contributions;
    assert_eq!(
        (given.complexity, given.context_utilization, given.subtask_count),
        (30.0, 20.0, 15.0)
    );
    assert_eq!(decision.factors.complexity, 15);
    assert_eq!(decision.required_confidence, 0.0);
}

#[test]
fn thresholds_say_what_counts_as_full() {
    let mut question = Question { task: nothing(), ..Question::default() };
    question.task.effort = Some("10h".to_owned());
    question.task.acceptance_criteria = strings(3);
    question.known.context_utilization = Some(45.0);
    question.config.thresholds.complexity_trigger = 84;
    question.config.thresholds.context_utilization = 90;
    question.config.thresholds.min_subtasks = 6;
    question.config.thresholds.effort_hours = 5.0;
    let decision = question.ask();
    assert_eq!(decision.factors.complexity, 21);
    let given = decision.factor_contributions;
    assert_eq!(
        (given.complexity, given.context_utilization, given.subtask_count),
        (7.5, 10.0, 7.5)
    );
}

#[test]
fn delegation_begins_at_the_threshold_itself() {
    let mut question = super::strong();
    let score = question.ask().score;
    for (threshold, delegated) in [(score - 1, true), (score, true), (score + 1, false)] {
        question.config.thresholds.delegation_score = threshold;
        assert_eq!(question.ask().should_delegate, delegated, "{threshold}");
    }
}
