//! The cases that are measured, in time and in instructions. A case is one line
//! of [`CASES`] and a function that sets it up.

mod grown;

use std::hint::black_box;

use grown::Grown;
use legation_core::config::Config;
use legation_core::decision::{Include, Inputs, Known, Request, Stamp, decide_task};
use legation_core::ids::{AgentId, SessionId};
use legation_core::money::Usd;
use legation_core::returns::{Expectation, Fact, check_text};
use legation_core::task::Task;
use legation_core::text::delegate;
use legation_core::text::story::StoryId;
use legation_core::tree::bounds::{self, Ask, Batch, Purse};
use legation_core::tree::command::Habits;
use legation_core::tree::ledger::Amount;
use legation_core::tree::{Event, owed, replay};
use serde_json::json;

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
    case("bounds-10", 1000, Reach::Nanos(2_000), || admit(10)),
    case("bounds-100k", 1000, Reach::FlatWith("bounds-10"), || admit(100_000)),
    case("decide-1k-list", 100, Reach::Nanos(20_000), || decision(NUMBERED)),
    case("decide-1k-prose", 100, Reach::Nanos(20_000), || decision(PROSE)),
    case("call-key-1k", 1000, Reach::Nanos(20_000), call_key),
    case("evolve-100k", 1, Reach::PerSecond(100_000, 1_000_000), fold),
    case("replay-100k", 1, Reach::PerSecond(100_000, 200_000), read_and_fold),
    case("owed-10", 1000, Reach::Nanos(10_000), || what_is_owed(10)),
    case("owed-10k-ended", 1000, Reach::FlatWith("owed-10"), || what_is_owed(10_000)),
    case("return-10k", 100, Reach::Nanos(100_000), check_return),
    case("parse-1m-plain", 10, Reach::PerSecond(1 << 20, 500_000_000), parse_plain),
];

const fn case(name: &'static str, rounds: u64, reach: Reach, set_up: fn() -> Round) -> Case {
    Case { name, rounds, reach, set_up }
}

/// Depth, cycle, count, context and budget of one call, in a tree of so many nodes.
fn admit(nodes: usize) -> Round {
    let mut tree = Grown::wide(nodes);
    let caller = tree.start(0);
    let state = tree.state;
    let agent = AgentId::from("helper");
    let task = "Look into the failing test and say what is wrong with it";
    let key = bounds::call_key(&agent, task);
    let habits = Habits::default();
    Box::new(move || {
        let Some(no) = state.find_attempt(black_box(&caller)) else { return };
        let Some(settings) = &state.settings else { return };
        let standing = bounds::standing(&state, no);
        let ask = Ask {
            title: "Look into it",
            task,
            agent: &agent,
            key: key.clone(),
            habits: &habits,
            tokens: None,
        };
        let remainder = Amount { tokens: 200_000, cost: Usd::from_nanos(1_000_000_000) };
        let batch = Batch {
            title: "Look into it",
            asks: vec![ask],
            later: Vec::new(),
            asked: 1,
            purse: Purse { remainder, tokens: None, cost: None },
        };
        let admitted = bounds::admit(&state, &settings.limits, &standing, &batch);
        assert!(black_box(admitted).is_ok(), "the call fits");
    })
}

/// One of the parts of a task of 1 KB, as a list.
const NUMBERED: &str =
    "Write the endpoints of the billing api, then check them against the old database.";
/// The same in running text.
const PROSE: &str =
    "Then write the endpoints of the billing api and check them against the old database";

/// A decision on a task of 1 KB, with subtasks and reasoning.
fn decision(part: &str) -> Round {
    let mut text = "Build the billing service\n".to_owned();
    for n in 1.. {
        let next = if part == NUMBERED { format!("{n}. {part}\n") } else { format!("{part}. ") };
        if text.len() + next.len() > 1024 {
            break;
        }
        text.push_str(&next);
    }
    let (task, config) = (Task::from_text(&text), Config::default());
    Box::new(move || {
        let inputs = Inputs {
            task: black_box(&task),
            config: &config,
            known: Known::default(),
            request: Request::Decide,
            include: Include { subtasks: true, reasoning: true },
            stamp: Stamp { timestamp: "2026-01-01T00:00:00Z", config_version: "0123456789ab" },
        };
        black_box(decide_task(&inputs));
    })
}

/// The key of a call on a 1 KB task.
fn call_key() -> Round {
    let task = "Implement user authentication. ".repeat(34);
    let agent = AgentId::from("backend-developer");
    Box::new(move || {
        black_box(bounds::call_key(&agent, black_box(&task)));
    })
}

/// A log of a hundred thousand events, more or less.
fn log() -> Vec<Event> {
    let mut events = Grown::run(20_000).events;
    events.truncate(100_000);
    events
}

fn fold() -> Round {
    let events = log();
    Box::new(move || {
        assert!(black_box(replay(black_box(&events))).is_ok(), "the log replays");
    })
}

fn read_and_fold() -> Round {
    let lines: Vec<String> =
        log().iter().filter_map(|event| serde_json::to_string(event).ok()).collect();
    Box::new(move || {
        let read = lines.iter().filter_map(|line| serde_json::from_str(line).ok());
        let events: Vec<Event> = read.collect();
        assert!(black_box(replay(&events)).is_ok(), "the log replays");
    })
}

/// What is owed in a tree in which so many subtasks have ended and ten run.
fn what_is_owed(ended: usize) -> Round {
    let mut tree = Grown::wide(ended + 10);
    for position in 0..ended + 10 {
        let attempt = tree.start(position);
        if position < ended {
            tree.finish(&attempt);
        }
    }
    Box::new(move || {
        black_box(owed(black_box(&tree.state)));
    })
}

/// A return of 10 KB, as text.
fn check_return() -> Round {
    let artifact = |n: u32| json!({"type": "implementation", "path": format!("src/part_{n}.rs"), "summary": "what it is about, in a line that says it"});
    let output = json!({
        "status": "completed",
        "summary": "All parts are there and their tests pass.",
        "artifacts": (0..90).map(artifact).collect::<Vec<_>>(),
        "metadata": {"session_id": "sess_1735460684_a1b2c3", "agent_type": "worker", "delegation_depth": 1, "delegation_path": ["user", "worker"]},
        "errors": [],
    })
    .to_string();
    let session_id = SessionId::from("sess_1735460684_a1b2c3");
    Box::new(move || {
        let expect = Expectation { session_id: &session_id, schema: None };
        let there = |_: &str| Fact::Present;
        assert!(check_text(black_box(&output), &expect, &there).is_ok(), "the return is valid");
    })
}

/// A megabyte of what agents write, without an entry in it.
fn parse_plain() -> Round {
    let text =
        "I looked at `main.rs` [see above]: nothing to delegate here.\n".repeat((1 << 20) / 62);
    let story = StoryId::default();
    Box::new(move || {
        black_box(delegate::parse(black_box(&text), &story, 0));
    })
}
