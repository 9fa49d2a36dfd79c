//! What the modes make of a decision.

use legation_core::config::Mode;
use legation_core::decision::{Action, MAX_CORRECTION, Record, Request};

use super::{Question, strong};

fn in_mode(mode: Mode, change: impl FnOnce(&mut Question)) -> Question {
    let mut question = strong();
    question.config.mode = mode;
    change(&mut question);
    question
}

#[test]
fn suggest_asks_and_auto_goes_ahead_when_sure() {
    let decision = in_mode(Mode::Suggest, |_| {}).ask();
    assert_eq!((decision.action, decision.mode), (Action::Suggest, Mode::Suggest));
    // 50, agent confidence 10, context 10, score 15: 85 of 100 within reach.
    let decision = in_mode(Mode::Auto, |_| {}).ask();
    assert_eq!((decision.confidence, decision.reachable_confidence), (85, 100));
    assert_eq!((decision.required_confidence, decision.action), (85.0, Action::Delegate));
    let decision = in_mode(Mode::Auto, |question| {
        question.config.thresholds.auto_accept_confidence = 86;
    })
    .ask();
    assert_eq!(decision.action, Action::Suggest);
    assert!(decision.reasoning.contains("Mode auto: 85 is below the 86 required"));
}

#[test]
fn what_is_not_known_is_not_held_against_the_decision() {
    let reach = |context: Option<f64>, own: Option<f64>| {
        let decision = in_mode(Mode::Auto, |question| {
            question.known.context_utilization = context;
            question.known.agent_confidence = own;
        })
        .ask();
        (decision.reachable_confidence, decision.required_confidence)
    };
    assert_eq!(reach(None, None), (90, 76.5));
    assert_eq!(reach(Some(50.0), None), (100, 85.0));
    assert_eq!(reach(None, Some(75.0)), (100, 85.0));
    assert_eq!(reach(Some(50.0), Some(75.0)), (100, 85.0));
    assert_eq!(reach(Some(f64::NAN), None), (90, 76.5));
}

#[test]
fn auto_goes_ahead_on_nothing_but_a_clear_task() {
    // Complexity and number of subtasks are clear, and so is the score: 90 of 90.
    let text = "Rework the entire api and the full complete database\n".to_owned()
        + &"- async security performance integration work\n".repeat(12);
    let mut question = Question::about(&text);
    question.config.mode = Mode::Auto;
    question.task.effort = Some("9d".to_owned());
    question.task.dependencies = super::strings(5);
    question.known.agent_load = Some(100.0);
    let decision = question.ask();
    assert_eq!((decision.confidence, decision.reachable_confidence), (90, 90));
    assert_eq!((decision.required_confidence, decision.action), (76.5, Action::Delegate));
    question.known.agent_load = Some(0.0);
    let decision = question.ask();
    assert_eq!((decision.score, decision.confidence), (78, 75));
    assert_eq!(decision.action, Action::Suggest);
    question.config.thresholds.auto_accept_confidence = 83;
    assert_eq!(question.ask().required_confidence, 74.7);
    assert_eq!(question.ask().action, Action::Delegate);
}

#[test]
fn a_wish_to_delegate_is_never_asked_about() {
    for mode in [Mode::Disabled, Mode::Suggest, Mode::Auto, Mode::Smart] {
        let decision = in_mode(mode, |question| question.request = Request::Delegate).ask();
        assert_eq!(decision.action, Action::Delegate, "{mode:?}");
    }
}

#[test]
fn smart_moves_the_score_by_recorded_outcomes_and_says_so() {
    for (succeeded, failed, correction) in [
        (0, 0, 0),
        (1, 0, 3),
        (0, 1, -3),
        (1, 1, 0),
        (6, 2, 4),
        (2, 6, -4),
        (100, 0, 10),
        (0, 100, -10),
        (u32::MAX, 0, MAX_CORRECTION),
        (0, u32::MAX, -MAX_CORRECTION),
        (u32::MAX, u32::MAX, 0),
    ] {
        let record = Record { succeeded, failed };
        assert_eq!(record.correction(), correction, "{record:?}");
        let base = in_mode(Mode::Auto, |question| {
            question.known.record = Some(record);
            question.known.agent_load = Some(0.0);
        });
        let auto = base.ask();
        assert_eq!(auto.correction, 0, "only smart looks at records");
        let smart = in_mode(Mode::Smart, |question| question.known = base.known.clone()).ask();
        assert_eq!(smart.correction, correction);
        assert_eq!(smart.score, auto.score.saturating_add_signed(correction));
        let said = format!("which adds {correction:+}: score {}", smart.score);
        let is_said = smart.reasoning.contains(&said);
        assert_eq!(is_said, record != Record::default(), "{said}");
    }
}

#[test]
fn a_corrected_score_stays_within_its_range() {
    let mut question = in_mode(Mode::Smart, |_| {});
    question.known.record = Some(Record { succeeded: 500, failed: 0 });
    question.task.title = "Rework the entire api, all of the full integration".to_owned();
    question.task.dependencies = super::strings(5);
    assert_eq!(question.ask().score, 100);
    let mut low = Question::about("x");
    low.config.mode = Mode::Smart;
    low.task.effort = Some("1m".to_owned());
    low.known.record = Some(Record { succeeded: 0, failed: 500 });
    low.known.context_utilization = Some(0.0);
    low.known.agent_confidence = Some(100.0);
    low.known.depth = Some(3);
    assert_eq!(low.ask().score, 0);
}

#[test]
fn smart_without_a_record_says_that_there_is_none() {
    let decision = in_mode(Mode::Smart, |_| {}).ask();
    assert_eq!(decision.correction, 0);
    assert!(decision.reasoning.contains("no outcomes of this kind are recorded yet"));
}
