//! The engine on the workload of its peers, each run in a process of its own.
//!
//! The median of a few runs counts. Times on the clock swing with the load of the
//! machine; time on the processors does so less, and memory hardly at all.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use super::peers::{self, Goal, PEERS, Peer, Run};
use crate::process::{self, cargo, complain, say};
use crate::workspace;

/// How often each mode is run.
const ROUNDS: usize = 5;
/// The same in a hurry.
const QUICK_ROUNDS: usize = 2;

/// How the engine is measured.
pub struct Options<'a> {
    /// The folder with the scripts of the peers, each with its `venv-…` beside it.
    pub peers: Option<&'a Path>,
    /// Fewer and smaller runs.
    pub quick: bool,
}

/// Measures the engine, and the peers if they are there. Says how many goals are missed.
pub fn run(options: &Options<'_>) -> Result<usize> {
    let (program, floor) = (built()?, floor()?);
    let rounds = if options.quick { QUICK_ROUNDS } else { ROUNDS };
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let runs = runs(options.quick);
    let mut found = Vec::new();
    for run in &runs {
        let measure = || {
            let words = [run.mode.to_owned(), run.n.to_string()];
            let mut figures = line(Command::new(&program).args(words).current_dir(&folder))?;
            if run.mode == "durable" {
                beside_floor(&mut figures, Command::new(&floor).current_dir(&folder), run.n)?;
            }
            anyhow::Ok(figures)
        };
        let lines = (0..rounds).map(|_| measure()).collect::<Result<Vec<_>>>()?;
        found.push(peers::medians(&lines));
    }
    if let Some(peers) = options.peers {
        found.extend(measured_peers(peers, &folder, &runs));
    }
    let goals = goals(options.quick);
    say(&peers::table(&goals, &found));
    let path = folder.join("engine.json");
    std::fs::write(&path, format!("{:#}\n", json!({ "runs": found })))?;
    say(&format!("kept in {}", super::relative(&path).display()));
    Ok(goals.iter().filter(|goal| goal.is_missed(&found)).count())
}

/// Builds the workload with an agent in the engine's process.
pub fn built() -> Result<PathBuf> {
    let package = ["--package", "legation-engine", "--bench", "peers"];
    let mut command = cargo(["bench", "--locked", "--no-run"]);
    command.args(package).arg("--message-format=json-render-diagnostics");
    let built = process::executables(&process::stdout_of(&mut command)?);
    built.into_iter().next().context("the benchmark was not built")
}

/// Builds what commits the same bytes with SQLite alone.
fn floor() -> Result<PathBuf> {
    let example = ["--package", "legation-store", "--example", "appends"];
    let mut command = cargo(["build", "--locked", "--release"]);
    command.args(example).arg("--message-format=json-render-diagnostics");
    let built = process::executables(&process::stdout_of(&mut command)?);
    built.into_iter().next().context("the example was not built")
}

/// Adds what the same commits cost without us, measured at the same moment: both swing
/// with the machine, and their ratio does so less.
fn beside_floor(figures: &mut Map<String, Value>, floor: &mut Command, n: u32) -> Result<()> {
    let bare = line(floor.args(["bare", &n.to_string()]))?;
    let key = "cpu_ms_per_deleg";
    let of = |figures: &Map<String, Value>| figures.get(key).and_then(Value::as_f64);
    let (ours, bare) = of(figures).zip(of(&bare)).context("no figure to compare")?;
    figures.insert("bare_sqlite_cpu_ms".into(), bare.into());
    figures.insert("over_bare_sqlite".into(), (ours / bare).into());
    Ok(())
}

/// What is run of each mode.
fn runs(quick: bool) -> Vec<Run> {
    let run = |mode, n| Run { mode, n };
    let fans = if quick { vec![1000] } else { vec![100, 1000, 10_000] };
    let mut runs = vec![run("hello", 1), run("seq", if quick { 300 } else { 1000 })];
    runs.extend(fans.into_iter().map(|n| run("fan", n)));
    runs.extend([run("durable", 200), run("trees", if quick { 2 } else { 5 })]);
    runs
}

/// What the engine is meant to reach.
fn goals(quick: bool) -> Vec<Goal> {
    let seq = if quick { 300 } else { 1000 };
    let mut goals = vec![
        Goal::at_most("hello", 1, "wall_s", 0.03),
        Goal::shown("hello", 1, "cpu_s"),
        Goal::at_most("seq", seq, "cpu_ms_per_deleg", 0.1),
        Goal::at_most("durable", 200, "cpu_ms_per_deleg", 0.3),
        Goal::shown("durable", 200, "bare_commit_cpu_ms"),
        Goal::shown("durable", 200, "bare_sqlite_cpu_ms"),
        Goal::shown("durable", 200, "over_bare_sqlite"),
        Goal::at_least("trees", if quick { 2 } else { 5 }, "events_per_s_wall", 50_000.0),
        Goal::shown("trees", if quick { 2 } else { 5 }, "events_per_cpu_s"),
        Goal::shown("fan", 1000, "wall_s"),
        Goal::shown("fan", 1000, "rss_kb_per_child"),
    ];
    if !quick {
        goals.extend([
            Goal::at_most("fan", 10_000, "wall_s", 0.5),
            Goal::shown("fan", 10_000, "cpu_s"),
            Goal::at_most("fan", 10_000, "rss_kb_per_child", 10.0),
        ]);
    }
    goals
}

/// Runs every peer whose packages are there, and says which are not.
fn measured_peers(folder: &Path, scratch: &Path, runs: &[Run]) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    let Ok(folder) = folder.canonicalize() else {
        complain(&format!("xtask: there is no folder {}", folder.display()));
        return found;
    };
    for peer in PEERS {
        let python = folder.join(format!("venv-{}", peer.venv)).join("bin/python");
        if !python.exists() {
            complain(&format!("xtask: {} is missing: {}", peer.shown(), python.display()));
            continue;
        }
        for run in runs.iter().filter(|run| peer.takes(run)) {
            match measured_peer(peer, run, (&python, &folder, scratch)) {
                Ok(figures) => found.push(figures),
                Err(error) => complain(&format!("xtask: {} failed: {error:#}", peer.shown())),
            }
        }
    }
    found
}

fn measured_peer(
    peer: &Peer,
    run: &Run,
    (python, folder, scratch): (&Path, &Path, &Path),
) -> Result<Map<String, Value>> {
    let mut command = Command::new(python);
    // Some keep a database where they run; nothing is written beside the scripts.
    command.current_dir(scratch).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("ANONYMIZED_TELEMETRY", "false").stderr(Stdio::null());
    command.arg(folder.join(format!("bench_{}.py", peer.script)));
    command.args([run.mode, &run.n.to_string(), peer.variant]);
    line(&mut command)
}

/// The line of JSON that a run prints last.
fn line(command: &mut Command) -> Result<Map<String, Value>> {
    let shown = process::shown(command);
    let done = command.output().with_context(|| format!("`{shown}` could not be started"))?;
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        bail!("`{shown}` ended with {}\n{stderr}", done.status);
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("`{shown}` printed no figures"))
}
