//! Which pattern a task gets.

use legation_core::config::{Hints, Pattern};
use legation_core::task::TaskConfig;

use super::{Question, strings, strong};

/// The pattern of a text with two parts, delegated whatever its score.
fn pattern(text: &str, change: impl FnOnce(&mut Question)) -> Pattern {
    let mut question = Question::about(text);
    question.task.acceptance_criteria = strings(2);
    question.config.thresholds.delegation_score = 0;
    change(&mut question);
    let decision = question.ask();
    assert!(decision.should_delegate, "{text}: {:?}", decision.vetoes);
    decision.suggested_pattern
}

#[test]
fn hint_words_choose_the_pattern() {
    use Pattern::{Debate, Ensemble, Parallel, Review, Sequential};
    for (pattern_wanted, words) in [
        (Parallel, "independent concurrent parallel batch simultaneously"),
        (Sequential, "then after before depends prerequisite first finally"),
        (Debate, "discuss evaluate compare controversial options alternatives"),
        (Review, "create write draft review critique revise"),
        (Ensemble, "verify validate ensure critical important redundant"),
    ] {
        for word in words.split(' ') {
            // Against a default that no word asks for.
            let with_default =
                |question: &mut Question| question.config.patterns.default = Pattern::Dag;
            assert_eq!(pattern(&format!("Do {word}"), with_default), pattern_wanted, "{word}");
            let capitals = format!("x\n{}!", word.to_uppercase());
            assert_eq!(pattern(&capitals, with_default), pattern_wanted, "{word}");
            assert_eq!(pattern(&format!("Do {word}x"), with_default), Pattern::Dag, "{word}x");
        }
    }
}

#[test]
fn the_most_points_win_and_a_tie_goes_to_the_earlier() {
    for (text, wanted) in [
        ("then compare", Pattern::Sequential),
        ("compare options, then", Pattern::Debate),
        ("verify the draft", Pattern::Review),
        ("verify what is critical in the draft", Pattern::Ensemble),
        ("discuss the draft", Pattern::Debate),
        ("batch then discuss draft verify", Pattern::Parallel),
        ("then then then batch", Pattern::Parallel),
        ("nothing at all", Pattern::Parallel),
    ] {
        assert_eq!(pattern(text, |_| {}), wanted, "{text}");
    }
}

#[test]
fn three_subtasks_speak_for_parallel_or_with_dependencies_for_sequential() {
    let many = |count, dependencies: usize| {
        move |question: &mut Question| {
            question.task.acceptance_criteria = strings(count);
            question.task.dependencies = strings(dependencies);
            question.config.patterns.default = Pattern::Dag;
        }
    };
    assert_eq!(pattern("x", many(2, 0)), Pattern::Dag);
    assert_eq!(pattern("x", many(2, 9)), Pattern::Dag);
    assert_eq!(pattern("x", many(3, 0)), Pattern::Parallel);
    assert_eq!(pattern("x", many(3, 1)), Pattern::Sequential);
    assert_eq!(pattern("draft", many(3, 0)), Pattern::Parallel, "3 against 2");
    assert_eq!(pattern("draft and write", many(3, 0)), Pattern::Review, "3 against 4");
    assert_eq!(pattern("draft", many(3, 1)), Pattern::Review, "1 against 2");
    assert_eq!(pattern("draft", many(3, 2)), Pattern::Sequential, "2 against 2, and earlier");
}

#[test]
fn an_unsure_agent_and_the_phase_speak_too() {
    let unsure = |own: f64, phase: &'static str| {
        move |question: &mut Question| {
            question.known.agent_confidence = Some(own);
            question.task.phase = Some(phase.to_owned());
            question.config.patterns.default = Pattern::Dag;
        }
    };
    for (own, phase, wanted) in [
        (50.0, "", Pattern::Dag),
        (49.9, "", Pattern::Debate),
        (75.0, "implementation", Pattern::Parallel),
        (75.0, "research", Pattern::Debate),
        (75.0, "planning", Pattern::Debate),
        (75.0, " Design ", Pattern::Review),
        (75.0, "VALIDATION", Pattern::Review),
        (75.0, "gardening", Pattern::Dag),
    ] {
        assert_eq!(pattern("x", unsure(own, phase)), wanted, "{own} {phase}");
    }
    // One ensemble word and an unsure agent: 2 + 1 against 2.
    assert_eq!(pattern("verify", unsure(10.0, "")), Pattern::Ensemble);
    // In the implementation phase one point goes to parallel and one to sequential.
    assert_eq!(pattern("then", unsure(75.0, "implementation")), Pattern::Sequential);
}

#[test]
fn configured_hints_add_to_the_built_in_ones() {
    let hints = |debate: &'static [&'static str]| {
        move |question: &mut Question| {
            question.config.patterns.hints = Hints {
                debate: debate.iter().map(ToString::to_string).collect(),
                ..Hints::default()
            };
            question.config.patterns.default = Pattern::Dag;
        }
    };
    for (text, debate, wanted) in [
        ("weigh it", &["weigh"][..], Pattern::Debate),
        ("Weigh it", &["WEIGH"], Pattern::Debate),
        ("weight it", &["weigh"], Pattern::Dag),
        ("pros and cons", &["Pros and cons"], Pattern::Debate),
        ("Pros -- AND, cons!", &["pros and cons"], Pattern::Debate),
        ("pros and no cons", &["pros and cons"], Pattern::Dag),
        ("cons and pros", &["pros and cons"], Pattern::Dag),
        ("pros and pros and cons", &["pros and cons"], Pattern::Debate),
        ("trade-off", &["trade-off"], Pattern::Debate),
        ("discuss it", &["weigh"], Pattern::Debate),
        // The title ends where it ends.
        ("pros\nand cons", &["pros and cons"], Pattern::Dag),
        // A hint counts once, however often it is configured or built in: 2 against 2 of review.
        ("draft and write, compare", &["compare", "Compare"], Pattern::Review),
        ("draft and write, weigh", &["weigh", "WEIGH", " weigh "], Pattern::Review),
        ("draft, weigh, compare", &["weigh"], Pattern::Debate),
    ] {
        assert_eq!(pattern(text, hints(debate)), wanted, "{text} {debate:?}");
    }
}

#[test]
fn hints_that_can_never_match_are_told() {
    let mut question = strong();
    let long = vec!["word"; 17].join(" ");
    let longest = vec!["word"; 16].join(" ");
    question.config.patterns.hints.review =
        vec![String::new(), "…".to_owned(), "日本".to_owned(), long, longest, "fine".to_owned()];
    let hints = question.ask().hints;
    let told = hints.iter().filter(|hint| hint.contains("can never be found")).count();
    assert_eq!(told, 4, "{hints:?}");
}

#[test]
fn a_task_may_ask_for_its_pattern() {
    let mut question = strong();
    let own = |pattern| Some(TaskConfig { pattern: Some(pattern), ..TaskConfig::default() });
    question.task.delegation_config = own(Pattern::Ensemble);
    let decision = question.ask();
    assert_eq!(decision.suggested_pattern, Pattern::Ensemble);
    assert!(decision.reasoning.contains("Pattern ensemble: the task asks for it."));
    question.task.delegation_config = own(Pattern::Direct);
    assert!(!question.ask().should_delegate);
}
