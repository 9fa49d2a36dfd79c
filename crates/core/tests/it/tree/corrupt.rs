//! Logs that do not fit together, and events that nobody could have written.

use std::sync::LazyLock;

use legation_core::time::Now;
use legation_core::tree::command::Command;
use legation_core::tree::event::{Body, Event};
use legation_core::tree::{
    AttemptNo, DelegationNo, State, SubtaskNo, decide, evolve, owed, replay, view,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden::samples;
use crate::story::{ROOT, Story, completed, debate, failed, parallel};

fn golden_log() -> Vec<Event> {
    samples().into_iter().map(|body| Event::new(Now(1_767_225_600_000), body)).collect()
}

#[test]
fn the_samples_are_a_log_that_replays() {
    assert_eq!(replay(&golden_log()).unwrap().seq, samples().len() as u64);
}

#[test]
fn a_newer_form_is_refused_by_place_and_version() {
    let mut log = golden_log();
    log[4].v = 2;
    let error = replay(&log).unwrap_err();
    assert_eq!(error.to_string(), "event 5 has form 2; this version reads up to 1");
}

#[test]
fn an_event_about_something_that_was_never_there_is_refused_by_place() {
    let strangers = strangers();
    for stranger in &strangers {
        let mut log = golden_log();
        log.push(Event::new(Now(0), stranger.clone()));
        let error = replay(&log).unwrap_err().to_string();
        let wanted = "event 33 names something that the events before it did not make";
        assert_eq!(error, wanted, "{stranger:?}");
    }
    assert_eq!(strangers.len(), 36);
}

#[test]
fn an_event_that_does_not_fit_changes_nothing() {
    let state = replay(&golden_log()).unwrap();
    for stranger in strangers() {
        let mut after = state.clone();
        evolve(&mut after, &Event::new(Now(0), stranger.clone()));
        assert_eq!(after, state, "{stranger:?}");
    }
}

#[test]
fn nothing_but_the_opening_fits_at_the_beginning() {
    for body in samples() {
        let opens = matches!(body, Body::TreeOpened(_));
        let mut state = State::default();
        evolve(&mut state, &Event::new(Now(0), body.clone()));
        assert_eq!(state.seq, u64::from(opens), "{body:?}");
    }
}

#[test]
fn a_tree_is_opened_once_and_has_one_root() {
    let log = golden_log();
    for again in [0, 1] {
        let doubled: Vec<Event> = log.iter().chain([&log[again]]).cloned().collect();
        assert!(replay(&doubled).is_err());
    }
}

/// Every sample, about a delegation, subtask or attempt that is not there.
fn strangers() -> Vec<Body> {
    let (delegation, subtask, attempt) = (DelegationNo(9), SubtaskNo(9), AttemptNo(9));
    let mut strangers = Vec::new();
    for sample in samples() {
        let mut body = sample.clone();
        match &mut body {
            Body::TreeOpened(_) => {}
            Body::DelegationAccepted(accepted) => {
                accepted.parent = Some(attempt);
                let mut nested = accepted.clone();
                nested.parent = Some(AttemptNo(0));
                nested.subtasks[0].depends_on = vec![subtask];
                strangers.push(Body::DelegationAccepted(nested));
            }
            Body::SubtasksAdded { delegation: no, .. }
            | Body::Paused { delegation: no, .. }
            | Body::Resumed { delegation: no }
            | Body::TimeRanOut { delegation: no }
            | Body::RestStopped { delegation: no }
            | Body::CancelRequested { delegation: no, .. }
            | Body::DelegationEnded { delegation: no, .. }
            | Body::AnswerDelivered { delegation: no, .. }
            | Body::ResultLeft { delegation: no, .. }
            | Body::RolledBack { delegation: no } => *no = delegation,
            Body::AttemptStarted(started) => started.subtask = subtask,
            Body::AttemptSpawned { attempt: no, .. }
            | Body::UsageSettled { attempt: no, .. }
            | Body::ProgressMade { attempt: no, .. }
            | Body::ApprovalAsked { attempt: no, .. }
            | Body::ApprovalDelivered { attempt: no }
            | Body::AttemptFroze { attempt: no, .. }
            | Body::StopRequested { attempt: no, .. }
            | Body::WorkspaceLeft { attempt: no, .. }
            | Body::WorkspaceRemoved { attempt: no, .. } => *no = attempt,
            Body::AttemptEnded(ended) => std::sync::Arc::make_mut(ended).attempt = attempt,
            Body::RetryScheduled(retried) => retried.subtask = subtask,
            Body::ApprovalGiven { subtask: no, .. }
            | Body::RetryDue { subtask: no }
            | Body::MergeRequested { subtask: no }
            | Body::MergeEnded { subtask: no, .. } => *no = subtask,
            Body::SubtaskEnded(ended) => ended.subtask = subtask,
            Body::WaitBegan { attempt: no, .. } => {
                *no = attempt;
                strangers.push(Body::WaitBegan { attempt: AttemptNo(0), delegation });
            }
            Body::WinnerChosen { delegation: no, subtask: winner } => {
                *no = delegation;
                strangers.push(Body::WinnerChosen { delegation: DelegationNo(0), subtask });
                *winner = SubtaskNo(0);
            }
            Body::DelegationReopened { delegation: no, reserved } => {
                *no = delegation;
                let reserved = vec![(subtask, reserved[0].1)];
                let delegation = DelegationNo(0);
                strangers.push(Body::DelegationReopened { delegation, reserved });
            }
        }
        strangers.push(body);
    }
    strangers
}

/// A story in which nearly everything happens.
static EVENTFUL: LazyLock<Vec<Event>> = LazyLock::new(|| {
    let mut story = Story::new(parallel("a! b c<b"));
    story.approve("a").run("a b").nested("a", debate("ann ben")).run("propose");
    story.uses("propose", 10).pause_now(ROOT).go().resume(ROOT).go();
    story.returns("propose", completed("draft")).run("critique-1-1").asks("critique-1-1", "web");
    story.returns("b", failed("broke")).tick(5).run("b");
    story.returns("b", completed("done").files(&["x"]));
    story.log
});

/// What an event may be made of: every form there is, and a log that makes sense.
static POOL: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let events = golden_log().into_iter().chain(EVENTFUL.iter().cloned());
    events.map(|event| serde_json::to_value(event).unwrap()).collect()
});

/// Everything that anybody may ask of a state.
fn question(state: &State, now: Now) {
    let _ = owed(state);
    let _ = view::registry(state);
    for (no, _) in state.delegations.iter() {
        let _ = (view::status(state, no, now), view::trace(state, no, now), view::cost(state, no));
    }
    for command in [Command::Advance, Command::Tick, Command::Recover { serving: false }] {
        let _ = decide(state, &command, now);
    }
}

/// What is put in the place of a value: of the same kind, so that the event can still be read.
#[derive(Clone, Debug)]
struct Lie {
    number: u64,
    word: &'static str,
    other: Value,
}

fn any_lie() -> impl Strategy<Value = Lie> {
    let numbers = vec![0, 1, 2, 3, 9, 60_000, u64::from(u32::MAX), 9_000_000, u64::MAX];
    let words = vec!["", "a", "completed", "failed", "skipped", "debate", "ensemble", "member"];
    let others = vec![Value::Null, json!([]), json!({}), json!(-1), json!([[0]])];
    let pick = (prop::sample::select(numbers), prop::sample::select(words));
    (pick, prop::sample::select(others)).prop_map(|((number, word), other)| Lie {
        number,
        word,
        other,
    })
}

/// Puts a lie in the place of the `nth` value inside, counted depth first.
fn mutate(value: &mut Value, nth: &mut usize, lie: &Lie) {
    if *nth == 0 {
        *value = match value {
            Value::Number(_) => json!(lie.number),
            Value::String(_) => json!(lie.word),
            Value::Bool(yes) => json!(!*yes),
            Value::Null | Value::Array(_) | Value::Object(_) => lie.other.clone(),
        };
    }
    *nth = nth.wrapping_sub(1);
    let inside: Vec<&mut Value> = match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for value in inside {
        if *nth < usize::MAX / 2 {
            mutate(value, nth, lie);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_event_whatever_it_says_brings_the_fold_down(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0usize..60, any_lie()), 1..6),
        cut in any::<prop::sample::Index>(),
        now in prop_oneof![Just(0), Just(u64::MAX), 1_767_225_600_000u64..1_767_325_600_000],
    ) {
        let mut state = State::default();
        let cut = cut.index(EVENTFUL.len()) + 1;
        EVENTFUL.iter().take(cut).for_each(|event| evolve(&mut state, event));
        for (index, mut nth, lie) in picks {
            let mut value = index.get(&POOL).clone();
            mutate(&mut value, &mut nth, &lie);
            if let Ok(event) = serde_json::from_value::<Event>(value) {
                evolve(&mut state, &event);
            }
            question(&state, Now(now));
        }
    }

    #[test]
    fn a_shuffled_log_never_brings_the_fold_down(
        order in Just((0..40usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut state = State::default();
        EVENTFUL.iter().take(2).for_each(|event| evolve(&mut state, event));
        for at in order {
            if let Some(event) = EVENTFUL.get(at) {
                evolve(&mut state, event);
                question(&state, Now(1_767_225_600_000));
            }
        }
    }
}
