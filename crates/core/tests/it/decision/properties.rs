//! What holds for every question.

use legation_core::config::{Config, Mode, Pattern};
use legation_core::decision::{Action, Known, MAX_SUBTASKS, Record, Request};
use legation_core::task::{NamedSubtask, Task};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::Question;

/// Pieces that mean something to the rules.
const PIECES: [&str; 18] = [
    "1. ",
    "- ",
    "\n",
    "\n  * ",
    ", then ",
    " after ",
    " depends on ",
    "step 2",
    ". ",
    "Write the api",
    "test all of it",
    " finally ",
    "database",
    "•",
    "é",
    "[x] ",
    "compare",
    " ",
];

/// Text made of such pieces and of anything else.
fn prose(pieces: usize) -> impl Strategy<Value = String> {
    let piece = |n: usize| PIECES.get(n).map_or('\u{130}'.to_string(), ToString::to_string);
    let known = vec(0..=PIECES.len(), 0..pieces);
    (known, option::of(any::<char>())).prop_map(move |(known, letter)| {
        let known = known.into_iter().map(piece);
        known.chain(letter.map(String::from)).collect()
    })
}

/// Few names, so that some are the same.
fn name() -> impl Strategy<Value = String> {
    (0..5u32).prop_map(|n| format!("n{n}"))
}

fn effort() -> impl Strategy<Value = String> {
    (0..300u32, prop_oneof![Just('m'), Just('h'), Just('d'), Just('x')])
        .prop_map(|(figure, unit)| format!("{figure}{unit}"))
}

fn task() -> impl Strategy<Value = Task> {
    let subtask = (option::of(name()), prose(4), prose(4), vec(name(), 0..3)).prop_map(
        |(id, title, description, dependencies)| NamedSubtask {
            id,
            title,
            description,
            dependencies,
            effort: None,
        },
    );
    (
        (prose(6), prose(30), vec(prose(3), 0..10), vec(name(), 0..7)),
        (option::of(effort()), vec(subtask, 0..10), vec(name(), 0..2)),
    )
        .prop_map(
            |((title, description, criteria, dependencies), (effort, subtasks, children))| Task {
                title,
                description,
                acceptance_criteria: criteria,
                dependencies,
                effort,
                subtasks,
                child_task_ids: children,
                ..Task::default()
            },
        )
}

fn known() -> impl Strategy<Value = Known> {
    let figure = || option::of(prop_oneof![any::<f64>(), 0.0..100.0]);
    let count = || option::of(prop_oneof![any::<i64>(), 0..9i64]);
    let record = option::of((0..50u32, 0..50u32));
    (figure(), figure(), figure(), count(), count(), count(), record).prop_map(
        |(context, confidence, load, depth, max_depth, child_agents, record)| Known {
            agent: None,
            context_utilization: context,
            agent_confidence: confidence,
            agent_load: load,
            depth,
            max_depth,
            child_agents,
            record: record.map(|(succeeded, failed)| Record { succeeded, failed }),
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    let mode =
        prop_oneof![Just(Mode::Disabled), Just(Mode::Suggest), Just(Mode::Auto), Just(Mode::Smart)];
    (mode, 0..=100u32, 0..=100u32, 0..9u32, 0.0..9.0).prop_map(
        |(mode, score, trigger, subtasks, effort)| {
            let mut config = Config { mode, ..Config::default() };
            config.thresholds.delegation_score = score;
            config.thresholds.complexity_trigger = trigger;
            config.thresholds.min_subtasks = subtasks;
            config.thresholds.effort_hours = effort;
            config
        },
    )
}

fn question() -> impl Strategy<Value = Question> {
    let request =
        prop_oneof![Just(Request::Decide), Just(Request::Delegate), Just(Request::Direct)];
    (task(), known(), config(), request).prop_map(|(task, known, config, request)| Question {
        task,
        known,
        config,
        request,
        ..Question::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn figures_stay_within_their_ranges(question in question()) {
        let decision = question.ask();
        prop_assert!(decision.score <= 100);
        prop_assert!((50..=100).contains(&decision.confidence));
        prop_assert!(decision.confidence <= decision.reachable_confidence);
        prop_assert!(decision.factors.complexity <= 100);
        prop_assert!(decision.correction.abs() <= 10);
        let given = decision.factor_contributions;
        for (points, weight) in [
            (given.complexity, 30.0), (given.context_utilization, 20.0), (given.subtask_count, 15.0),
            (given.confidence, 15.0), (given.agent_load, 10.0), (given.depth_remaining, 10.0),
        ] {
            prop_assert!((0.0..=weight).contains(&points));
        }
    }

    #[test]
    fn equal_questions_have_equal_answers(question in question()) {
        let once = serde_json::to_string(&question.ask()).unwrap();
        let again = serde_json::to_string(&question.ask()).unwrap();
        prop_assert_eq!(once, again);
    }

    #[test]
    fn the_verdict_agrees_with_vetoes_score_pattern_and_action(question in question()) {
        let decision = question.ask();
        let wanted = match question.request {
            Request::Decide => decision.score >= question.config.thresholds.delegation_score,
            Request::Delegate => true,
            Request::Direct => false,
        };
        prop_assert_eq!(decision.should_delegate, decision.vetoes.is_empty() && wanted);
        prop_assert_eq!(decision.should_delegate, decision.suggested_pattern != Pattern::Direct);
        prop_assert_eq!(decision.should_delegate, decision.action != Action::Direct);
    }

    #[test]
    fn subtasks_are_few_distinct_and_without_circles(question in question()) {
        let subtasks = question.ask().subtasks.unwrap();
        prop_assert!(subtasks.len() != 1 && subtasks.len() <= MAX_SUBTASKS);
        let mut open: Vec<_> = subtasks.iter().collect();
        let mut done: Vec<&str> = Vec::new();
        for _ in 0..MAX_SUBTASKS {
            open.retain(|subtask| {
                let ready = subtask.dependencies.iter().all(|id| done.contains(&id.as_str()));
                if ready {
                    done.push(&subtask.id);
                }
                !ready
            });
        }
        prop_assert!(open.is_empty(), "{:?}", subtasks);
        done.sort_unstable();
        done.dedup();
        prop_assert_eq!(done.len(), subtasks.len());
        for subtask in &subtasks {
            prop_assert!(!subtask.title.is_empty());
        }
    }

    #[test]
    fn no_listed_work_is_lost(lines in vec(100..10_000u32, 2..40)) {
        let description: String = lines.iter().map(|line| format!("- part {line}\n")).collect();
        let question = Question { task: Task { title: "t".into(), description, ..Task::default() }, ..Question::default() };
        let subtasks = question.ask().subtasks.unwrap();
        let said: String = subtasks.iter().map(|subtask| format!("{}\n{}\n", subtask.title, subtask.description)).collect();
        for line in &lines {
            prop_assert!(said.contains(&format!("part {line}\n")), "{said}");
        }
    }

    #[test]
    fn more_to_do_never_lowers_the_score(question in question(), word in prop_oneof![
        Just("api"), Just("distributed"), Just("all"), Just("comprehensive"), Just("plain"),
    ]) {
        let before = question.ask().score;
        let mut more = question;
        more.task.title.push(' ');
        more.task.title.push_str(word);
        prop_assert!(more.ask().score >= before);
        more.task.acceptance_criteria.push("one more".to_owned());
        prop_assert!(more.ask().score >= before);
        more.task.dependencies.push("another".to_owned());
        prop_assert!(more.ask().score >= before);
    }

    #[test]
    fn a_fuller_context_or_a_less_sure_agent_never_lowers_the_score(
        question in question(), one in 0.0..100.0, other in 0.0..100.0
    ) {
        let (low, high) = if one < other { (one, other) } else { (other, one) };
        let score = |change: &dyn Fn(&mut Known)| {
            let mut question = question.clone();
            change(&mut question.known);
            question.ask().score
        };
        prop_assert!(score(&|k| k.context_utilization = Some(low)) <= score(&|k| k.context_utilization = Some(high)));
        prop_assert!(score(&|k| k.agent_load = Some(low)) <= score(&|k| k.agent_load = Some(high)));
        prop_assert!(score(&|k| k.agent_confidence = Some(high)) <= score(&|k| k.agent_confidence = Some(low)));
    }
}
