//! The real program with real processes, beside the same work without it.
//!
//! Time on the processors is what the system counts for the engine and for all its
//! children that have ended: keepers, git, and the agents' own programs. The caller's
//! `legation delegate` is not in it. Times on the clock are worth something as ratios only,
//! taken in one run.

pub mod machine;
mod one;
mod past;
mod scene;
mod tasks;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use self::tasks::Tasks;
use super::peers::{self, Figures, Goal};
use crate::process::{self, cargo, say};
use crate::workspace;

/// The engine, among the figures.
const OURS: &str = "legation";
/// The same work without it.
const BARE: &str = "bare";

/// Tasks at once.
const TASKS: u32 = 50;
/// Files of the repository they work in.
const FILES: u32 = 1_000;
/// The same where files hardly count: making and removing them is the system's work.
const FEW_FILES: u32 = 10;
/// Delegations one after another.
const ONES: u32 = 50;
/// Delegations in a long past.
const PAST: u32 = 10_000;
/// The same in a very long one.
const LONG_PAST: u32 = 1_000_000;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Fewer rounds.
    pub quick: bool,
    /// The very long past, too.
    pub long: bool,
    /// Only parts whose names contain this.
    pub only: &'a str,
}

/// Measures, prints a table and keeps the figures. Says how many goals are missed.
pub fn run(options: Options<'_>) -> Result<usize> {
    let legation = built()?;
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("real.json");
    let goals = goals();
    let mut found = Vec::new();
    // Each part is shown and kept at once: the next may take long, or fail.
    let mut add = |part: Vec<Figures>| {
        say(&peers::table(&goals, &part));
        found.extend(part);
        std::fs::write(&path, format!("{:#}\n", json!({ "runs": found })))
    };
    let is_wanted = |part: &str| part.contains(options.only);
    if is_wanted("one") {
        add(one::run(&legation, ONES)?)?;
    }
    if is_wanted("past") {
        let filler = super::engine::built()?;
        add(vec![past::run((&legation, &filler), PAST, ONES)?])?;
        if options.long {
            add(vec![past::run((&legation, &filler), LONG_PAST, ONES)?])?;
        }
    }
    let rounds = if options.quick { 1 } else { 3 };
    for (mode, files) in [("small", FEW_FILES), ("tasks", FILES)] {
        if is_wanted(mode) {
            add(tasks::run(&legation, Tasks { mode, n: TASKS, files }, rounds)?)?;
        }
    }
    say(&format!("kept in {}", super::relative(&path).display()));
    Ok(goals.iter().filter(|goal| goal.is_missed(&found)).count())
}

fn built() -> Result<PathBuf> {
    let mut command = cargo(["build", "--locked", "--release", "--package", "legation"]);
    command.arg("--message-format=json-render-diagnostics");
    let built = process::executables(&process::stdout_of(&mut command)?);
    let named = |program: &PathBuf| program.file_stem().is_some_and(|name| name == "legation");
    built.into_iter().find(named).context("the program was not built")
}

/// What is meant to be reached.
fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    for mode in ["tasks", "small"] {
        goals.extend([
            Goal::at_most(mode, TASKS, "wall_s_ratio", 1.5),
            Goal::shown(mode, TASKS, "wall_s"),
            Goal::shown(mode, TASKS, "wall_until_told_s"),
            Goal::at_most(mode, TASKS, "cpu_ms_per_attempt", 30.0),
            Goal::shown(mode, TASKS, "cpu_ms_over_bare"),
            Goal::shown(mode, TASKS, "engine_cpu_ms_per_attempt"),
            Goal::at_most(mode, TASKS, "git_per_attempt", 8.0),
            Goal::at_most(mode, TASKS, "engine_peak_mb", 40.0),
        ]);
    }
    goals.extend([
        Goal::at_most("one", ONES, "overhead_ms", 5.0),
        Goal::shown("one", ONES, "least_overhead_ms"),
        Goal::shown("one", ONES, "attempt_ms"),
        Goal::shown("one", ONES, "attempt_mean_ms"),
        Goal::shown("one", ONES, "call_ms"),
        Goal::shown("one", ONES, "call_overhead_ms"),
        Goal::shown("one", ONES, "cpu_ms"),
        Goal::shown("one", ONES, "engine_cpu_ms"),
    ]);
    for past in [PAST, LONG_PAST] {
        goals.extend([
            Goal::at_most("past", past, "status_ms", 50.0),
            Goal::shown("past", past, "status_cpu_ms"),
            Goal::shown("past", past, "status_all_ms"),
            Goal::at_most("past", past, "history_ms", 50.0),
            Goal::shown("past", past, "first_call_ms"),
            Goal::at_most("past", past, "one_more_cpu_ratio", 1.25),
            Goal::shown("past", past, "one_more_engine_cpu_ratio"),
            Goal::shown("past", past, "one_more_cpu_ms"),
            Goal::shown("past", past, "one_more_ms"),
            Goal::shown("past", past, "one_more_ms_ratio"),
            Goal::at_most("past", past, "engine_mb", 40.0),
            Goal::shown("past", past, "engine_mb_ratio"),
        ]);
    }
    goals
}

/// Figures of one run, under the names by which they are found again.
fn figures((peer, mode, n): (&str, &str, u32), measured: Value) -> Figures {
    let mut figures = Figures::new();
    figures.extend([("peer".into(), peer.into()), ("mode".into(), mode.into())]);
    figures.insert("n".into(), n.into());
    if let Value::Object(measured) = measured {
        figures.extend(measured);
    }
    figures
}
