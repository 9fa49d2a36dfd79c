//! One contract for all runners, whatever they are.
//!
//! `cases` is the whole of it, with a stand-in for each runner's program, through the same
//! processes as in the product. Here is what must come of real recordings: a vendor is a
//! column, a conversation of two turns.

mod cases;
mod charge;
mod columns;
mod hear;
mod hostile;
mod players;
mod shown;
mod silence;
mod stage;
mod story;

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use legation_runners::command::Usage;
use legation_runners::envoy::{End, Event, FaultKind, Outcome};
use proptest::prelude::*;

pub(crate) use charge::charge;
pub(crate) use hear::hear;
pub(crate) use shown::shown;

use columns::{COLUMNS, Column};

/// An exit code that proves nothing.
fn good_exit() -> End<'static> {
    exit(0)
}

fn exit(code: i32) -> End<'static> {
    use std::os::unix::process::ExitStatusExt as _;
    End { status: Some(std::process::ExitStatus::from_raw(code << 8)), last_words: "" }
}

/// What is heard of both turns, and what came of them.
fn conversation(
    column: &Column,
    mut pieces: impl FnMut(&'static [u8]) -> Vec<&'static [u8]>,
) -> (Vec<Event>, Vec<Outcome>) {
    let mut program = (column.start)();
    let (mut events, mut outcomes) = (Vec::new(), Vec::new());
    for (no, turn) in column.turns.iter().enumerate() {
        program.begin(u32::try_from(no).unwrap());
        for piece in pieces(turn.as_bytes()) {
            program.push(piece, &mut events);
        }
        assert_eq!(program.is_over(), column.says_so, "{}: turn {no} is over", column.name);
        outcomes.push(program.end(&good_exit()));
    }
    (events, outcomes)
}

fn whole(turn: &'static [u8]) -> Vec<&'static [u8]> {
    vec![turn]
}

fn usages(events: &[Event]) -> impl Iterator<Item = Usage> {
    events.iter().filter_map(|event| {
        let Event::Used { usage, .. } = event else { return None };
        Some(*usage)
    })
}

fn used(events: &[Event]) -> Tokens {
    usages(events)
        .map(|usage| usage.tokens)
        .fold(Tokens::default(), |sum, tokens| sum.plus(&tokens))
}

fn texts(events: &[Event]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| {
        let Event::Text(text) = event else { return None };
        Some(text.as_str())
    });
    texts.collect()
}

#[test]
fn what_was_said_is_told_once_and_whole() {
    for column in COLUMNS {
        let (events, outcomes) = conversation(column, whole);
        assert_eq!(texts(&events), ["first answer", "second answer"], "{}", column.name);
        assert_eq!(outcomes, [Outcome::Over, Outcome::Over], "{}", column.name);
    }
}

#[test]
fn every_tool_is_told_by_our_name_and_comes_back_once() {
    for column in COLUMNS {
        let (events, _) = conversation(column, whole);
        let tools = events.iter().filter_map(|event| {
            let Event::Tool { tool, .. } = event else { return None };
            Some(tool.as_str())
        });
        let tools: Vec<&str> = tools.collect();
        let back = events.iter().filter(|event| **event == Event::ToolOver).count();
        assert_eq!((tools.as_slice(), back), ([column.tool].as_slice(), 1), "{}", column.name);
    }
}

#[test]
fn usage_is_never_counted_twice_over_turns() {
    for column in COLUMNS {
        let (events, _) = conversation(column, whole);
        assert_eq!(used(&events), column.used, "{}", column.name);
        let cost = usages(&events).filter_map(|usage| usage.cost);
        let cost = cost.fold(None, |sum: Option<Usd>, cost| Some(sum.unwrap_or_default() + cost));
        assert_eq!(cost.map(Usd::nanos), column.cost_nanos, "{}", column.name);
    }
}

#[test]
fn nothing_used_is_not_told_as_zero() {
    for column in COLUMNS {
        let (mut events, mut program) = (Vec::new(), (column.start)());
        program.begin(0);
        program.push(column.unused.as_bytes(), &mut events);
        let used = events.iter().filter(|event| matches!(event, Event::Used { .. })).count();
        assert_eq!((program.is_over(), used), (column.says_so, 0), "{}", column.name);
    }
}

#[test]
fn a_good_exit_code_is_no_proof_of_success() {
    for column in COLUMNS {
        let turn = column.turns[0];
        let ends = turn.match_indices('\n').map(|(at, _)| at + 1);
        // The last line says that the turn is over; every other end is too early.
        for end in ends.filter(|end| *end < turn.len()) {
            let (mut events, mut program) = (Vec::new(), (column.start)());
            program.begin(0);
            program.push(&turn.as_bytes()[..end], &mut events);
            let outcome = program.end(&good_exit());
            let is_cut = matches!(&outcome, Outcome::Broken(fault) if fault.kind == FaultKind::Cut);
            assert!(is_cut, "{} after {end} bytes: {outcome:?}", column.name);
        }
    }
}

#[test]
fn what_goes_wrong_at_the_provider_has_its_kind() {
    for column in COLUMNS {
        let (mut events, mut program) = (Vec::new(), (column.start)());
        program.begin(0);
        program.push(column.limited.as_bytes(), &mut events);
        let outcome = program.end(&exit(column.limited_code));
        let is_limit =
            matches!(&outcome, Outcome::Broken(fault) if fault.kind == FaultKind::RateLimit);
        assert!(is_limit, "{}: {outcome:?}", column.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_way_of_cutting_the_output_tells_the_same(cuts in prop::collection::vec(any::<u16>(), 0..24)) {
        for column in COLUMNS {
            let cut = |turn: &'static [u8]| {
                let mut ends: Vec<usize> =
                    cuts.iter().map(|cut| usize::from(*cut) % (turn.len() + 1)).collect();
                ends.extend([0, turn.len()]);
                ends.sort_unstable();
                ends.windows(2).map(|ends| &turn[ends[0]..ends[1]]).collect()
            };
            prop_assert_eq!(conversation(column, cut), conversation(column, whole));
        }
    }
}
