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

/// How many files there are, and how many milliseconds a workspace of them may take as an
/// overlay and from the pool.
const SIZES: [(u32, f64, f64); 3] =
    [(1_000, 30.0, 30.0), (10_000, 50.0, 500.0), (100_000, 50.0, 500.0)];
/// Workspaces that are made at once.
const CROWD: &str = "crowd";
/// The files of the repository that they are made in.
const CROWDED: u32 = 10_000;
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
    let sizes = if quick { &SIZES[..1] } else { &SIZES };
    let goals: Vec<Goal> = sizes.iter().flat_map(goals).collect();
    let mut found: Vec<Figures> = Vec::new();
    for (files, ..) in sizes {
        let mut measure = Command::new(&program);
        let said = process::stdout_of(measure.arg(files.to_string()).current_dir(&folder))?;
        let part: Vec<Figures> =
            serde_json::from_str(&said).with_context(|| format!("no figures in {said:?}"))?;
        say(&peers::table(&goals, &part));
        found.extend(part);
        std::fs::write(&path, format!("{:#}\n", json!({ "runs": found })))?;
    }
    say(&format!("kept in {}", super::relative(&path).display()));
    // What cannot be had here has not been reached either.
    let unmeasured = goals.iter().filter(|goal| goal.is_unmeasured(&found));
    let unmeasured = unmeasured.map(|goal| say(&format!("NOT MEASURED: {}", goal.what()))).count();
    let missed = goals.iter().filter(|goal| goal.is_missed(&found)).count();
    Ok(missed.saturating_add(unmeasured))
}

/// What is meant to be reached in a repository of one size.
fn goals(&(files, overlay, pool): &(u32, f64, f64)) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (way, create_ms) in [("overlay", overlay), ("pool", pool)] {
        goals.extend([
            Goal::at_most(way, files, "create_ms", create_ms),
            Goal::shown(way, files, "begin_ms"),
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
    if files == CROWDED {
        goals.extend([
            Goal::at_most(CROWD, files, "wall_s", 1.5),
            Goal::shown(CROWD, files, "warm_wall_s"),
            Goal::at_most(CROWD, files, "failed", 0.0),
            Goal::at_most(CROWD, files, "wrong_base", 0.0),
        ]);
    }
    goals
}
