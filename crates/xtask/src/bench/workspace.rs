//! Workspaces in repositories of several sizes, beside plain worktrees of git.
//!
//! Both are made in the same run, because times on the clock are worth something
//! only beside each other.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::peers::{self, Figures, Goal};
use crate::process::{self, cargo, say};
use crate::workspace;

/// Workspaces that are made at once.
const CROWD: &str = "crowd";
/// How much longer the first look of git may take than in a plain worktree.
const STATUS_RATIO: f64 = 1.5;

/// Measures, prints a table and keeps the figures. Says how many goals are missed.
pub fn run(quick: bool) -> Result<usize> {
    let mut command = cargo(["bench", "--locked", "--no-run", "--package", "legation-runners"]);
    command.args(["--bench", "workspace", "--message-format=json-render-diagnostics"]);
    let built = process::executables(&process::stdout_of(&mut command)?);
    // The package's own programs are built along with it.
    let is_bench = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("workspace-"))
    };
    let program = built.into_iter().find(is_bench).context("the benchmark was not built")?;
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("workspace.json");
    let goals = goals();
    let mut found: Vec<Figures> = Vec::new();
    let sizes: &[&str] = if quick { &["1000"] } else { &["1000", "10000", "100000"] };
    for files in sizes {
        let said = process::stdout_of(Command::new(&program).arg(files).current_dir(&folder))?;
        let part: Vec<Figures> =
            serde_json::from_str(&said).with_context(|| format!("no figures in {said:?}"))?;
        say(&peers::table(&goals, &part));
        found.extend(part);
        std::fs::write(&path, format!("{:#}\n", json!({ "runs": found })))?;
    }
    say(&format!("kept in {}", super::relative(&path).display()));
    Ok(goals.iter().filter(|goal| goal.is_missed(&found)).count())
}

/// What is meant to be reached.
fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    for (files, overlay, pool) in
        [(1_000, 30.0, 30.0), (10_000, 50.0, 500.0), (100_000, 50.0, 500.0)]
    {
        for (way, create_ms) in [("overlay", overlay), ("pool", pool)] {
            goals.extend([
                Goal::at_most(way, files, "create_ms", create_ms),
                Goal::shown(way, files, "first_create_ms"),
                Goal::shown(way, files, "idle_create_ms"),
                Goal::shown(way, files, "moved_create_ms"),
                Goal::at_most(way, files, "status_ratio", STATUS_RATIO),
                Goal::shown(way, files, "status_ms"),
                Goal::shown(way, files, "look_ms"),
            ]);
        }
        goals.push(Goal::at_most("overlay", files, "remove_ms", 50.0));
        goals.push(Goal::shown("pool", files, "remove_ms"));
        goals.push(Goal::shown("worktree", files, "create_ms"));
        goals.push(Goal::shown("worktree", files, "remove_ms"));
    }
    goals.extend([
        Goal::at_most(CROWD, 10_000, "wall_s", 1.5),
        Goal::shown(CROWD, 10_000, "warm_wall_s"),
        Goal::at_most(CROWD, 10_000, "failed", 0.0),
        Goal::at_most(CROWD, 10_000, "wrong_base", 0.0),
    ]);
    goals
}
