//! What runners cost beside their programs: reading what they say, keeping an attempt, and
//! holding many conversations with models.

use anyhow::{Context as _, Result};
use serde_json::json;

use super::peers::{self, Figures, Goal};
use crate::process::{self, cargo, say};
use crate::workspace;

/// Whose output is read.
const READ: &[&str] = &[
    "command",
    "claude-code",
    "codex",
    "opencode",
    "gemini",
    "acp",
    "llm",
    "llm with chat",
    "envoy's words",
];
/// Megabytes that are read of each.
const MEGABYTES: u32 = 50;
/// Megabytes a second that each is to be read in.
const RATE: f64 = 100.0;
/// Kilobytes by which memory may grow meanwhile: what allocators keep to themselves.
const GROWTH_KB: f64 = 1024.0;

/// Measures, prints a table and keeps the figures. Says how many goals are missed.
pub fn run() -> Result<usize> {
    let mut command = cargo(["bench", "--locked", "--package", "legation-runners"]);
    let said = process::stdout_of(command.args(["--bench", "streams"]))?;
    let found: Vec<Figures> =
        serde_json::from_str(&said).with_context(|| format!("no figures in {said:?}"))?;
    let goals = goals();
    say(&peers::table(&goals, &found));
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("streams.json");
    std::fs::write(&path, format!("{:#}\n", json!({ "runs": found })))?;
    say(&format!("kept in {}", super::relative(&path).display()));
    Ok(goals.iter().filter(|goal| goal.is_missed(&found)).count())
}

/// What is meant to be reached.
fn goals() -> Vec<Goal> {
    let read = READ.iter().flat_map(|name| {
        [
            Goal::at_least(name, MEGABYTES, "mb_per_s", RATE),
            Goal::at_most(name, MEGABYTES, "grew_kb", GROWTH_KB),
        ]
    });
    let mut goals: Vec<Goal> = read.collect();
    goals.extend([
        Goal::at_most("attempt", 100, "cpu_ms", 10.0),
        Goal::shown("attempt", 100, "program_cpu_ms"),
        Goal::at_most("llm agents", 100, "over_idle_mb", 40.0),
    ]);
    goals
}
