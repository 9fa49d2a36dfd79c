//! The cases that are measured, in time and in instructions. A case is one line
//! of [`CASES`] and a function that sets it up.

use std::hint::black_box;

use legation_core::digest;
use legation_core::ids::AgentId;
use legation_core::task::Task;

/// What a case is meant to reach.
#[derive(Clone, Copy)]
pub(crate) enum Reach {
    /// At most so many nanoseconds a round.
    Nanos(u64),
    /// Things in one round, and how many of them a second at least.
    PerSecond(u64, u64),
    /// As many instructions as this other case.
    FlatWith(&'static str),
}

/// One thing that is measured.
pub(crate) struct Case {
    /// Its name.
    pub(crate) name: &'static str,
    /// How often it is run to count instructions.
    pub(crate) rounds: u64,
    /// What it is meant to reach.
    pub(crate) reach: Reach,
    /// Sets it up; what comes back is one round.
    pub(crate) set_up: fn() -> Round,
}

/// One round of a case, ready to be repeated.
pub(crate) type Round = Box<dyn FnMut()>;

/// Every case.
pub(crate) const CASES: &[Case] = &[
    case("call-key-1k", 1000, Reach::Nanos(20_000), call_key),
    case("task-text-1m", 10, Reach::PerSecond(1 << 20, 500_000_000), task_text),
    case("share-short-id", 1000, Reach::Nanos(100), || share_id(8)),
    case("share-long-id", 1000, Reach::FlatWith("share-short-id"), || share_id(65_536)),
];

const fn case(name: &'static str, rounds: u64, reach: Reach, set_up: fn() -> Round) -> Case {
    Case { name, rounds, reach, set_up }
}

/// The key of a call on a 1 KB task.
fn call_key() -> Round {
    let task = "Implement user authentication. ".repeat(34);
    Box::new(move || {
        black_box(digest::hex(&["backend-developer", black_box(&task)], 16));
    })
}

/// A megabyte of plain text becomes a task.
fn task_text() -> Round {
    let text = "Rework the importer\n".repeat((1 << 20) / 20);
    Box::new(move || {
        black_box(Task::from_text(black_box(&text)));
    })
}

/// An id is handed on, whatever its length.
fn share_id(length: usize) -> Round {
    let id = AgentId::new("a".repeat(length));
    Box::new(move || {
        black_box(black_box(&id).clone());
    })
}
