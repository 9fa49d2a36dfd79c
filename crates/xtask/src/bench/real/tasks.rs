//! Many real tasks at once in workspaces of a repository, beside the same work done
//! with bare worktrees and processes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::{Value, json};

use super::machine::{Used, megabytes};
use super::scene::Scene;
use super::{BARE, Figures, OURS, figures};
use crate::bench::peers;

/// How often git is asked for the same thing: it fails where it meets another worktree
/// that is half made.
const TRIES: u32 = 50;
/// What an agent does, with and without the engine: it makes a file and says so.
const WORK: &str = r#"echo "made by $LEGATION_SESSION_ID" > "made-$LEGATION_SESSION_ID.txt"
echo '{"status": "completed", "summary": "done", "artifacts": [],
"metadata": {"session_id": "'$LEGATION_SESSION_ID'", "agent_type": "maker",
"delegation_depth": 1, "delegation_path": ["user", "maker"]}}'"#;

/// Tasks at once, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tasks {
    /// The name of the mode.
    pub(super) mode: &'static str,
    /// How many.
    pub(super) n: u32,
    /// The files of the repository.
    pub(super) files: u32,
}

/// Runs the tasks at once so many times, each time beside the bare work.
pub(super) fn run(legation: &Path, tasks: Tasks, rounds: usize) -> Result<Vec<Figures>> {
    let n = tasks.n;
    let scene = Scene::new(tasks.mode, legation)?;
    scene.fill(tasks.files)?;
    scene.agent("maker", WORK)?;
    let plan = plan(&scene, n)?;
    let calls = git_calls(&scene, &plan)?;
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    // The first delegation starts the engine, and is none of the measured ones.
    scene.delegate(&["--agent", "maker", "Warm up"])?;
    let engine = scene.engine()?;
    for _ in 0..rounds {
        let bare = bare(&scene, tasks)?;
        let mut round = delegated(&scene, &plan, (&engine, tasks))?;
        let key = "cpu_ms_per_attempt";
        let over = figure(&round, key)? - figure(&bare, key)?;
        round.insert("cpu_ms_over_bare".into(), over.into());
        for key in ["wall_s", "cpu_ms_per_attempt"] {
            round.insert(
                format!("{key}_ratio"),
                (figure(&round, key)? / figure(&bare, key)?).into(),
            );
        }
        ours.push(round);
        bares.push(bare);
    }
    let mut ours = peers::medians(&ours);
    ours.insert("git_per_attempt".into(), (calls as f64 / f64::from(n)).into());
    ours.insert("engine_peak_mb".into(), megabytes(&engine, "VmHWM").into());
    Ok(vec![ours, peers::medians(&bares)])
}

fn figure(figures: &Figures, key: &str) -> Result<f64> {
    figures.get(key).and_then(Value::as_f64).with_context(|| format!("no {key}"))
}

/// A plan of so many tasks.
fn plan(scene: &Scene, n: u32) -> Result<String> {
    let subtask = |i| json!({"id": format!("s{i}"), "task": "Make a file", "agent": "maker"});
    let subtasks: Vec<_> = (0..n).map(subtask).collect();
    let file = scene.beside("plan.json");
    fs::write(&file, json!({"pattern": "parallel", "subtasks": subtasks}).to_string())?;
    Ok(file.to_string_lossy().into_owned())
}

/// How often the engine calls git for all tasks. A run of its own, for counting takes time.
fn git_calls(scene: &Scene, plan: &str) -> Result<u64> {
    scene.count_git()?;
    scene.delegate(&["--agent", "maker", "Warm up"])?;
    scene.settle()?;
    let before = scene.git_calls();
    scene.delegate(&["--plan", plan, "Make files"])?;
    scene.settle()?;
    let calls = scene.git_calls() - before;
    scene.end_engine();
    fs::remove_file(scene.beside("bin/git"))?;
    ensure!(calls > 0, "git was not counted");
    Ok(calls)
}

/// The tasks as one delegation, from the call until the last workspace is gone.
fn delegated(scene: &Scene, plan: &str, (engine, tasks): (&str, Tasks)) -> Result<Figures> {
    scene.settle()?;
    let (cpu, begun) = (Used::by_all_of(engine), Instant::now());
    scene.delegate(&["--plan", plan, "Make files"])?;
    let told = begun.elapsed().as_secs_f64();
    scene.settle()?;
    let wall = begun.elapsed().as_secs_f64();
    let cpu = Used::by_all_of(engine).since(cpu);
    let each = f64::from(tasks.n);
    Ok(figures(
        (OURS, tasks.mode, tasks.n),
        json!({
            "wall_s": wall,
            "wall_until_told_s": told,
            "cpu_ms_per_attempt": cpu.all() / each,
            "engine_cpu_ms_per_attempt": cpu.own / each,
        }),
    ))
}

/// The tasks without an engine: a worktree each, the same script, and away with it.
fn bare(scene: &Scene, Tasks { mode, n, .. }: Tasks) -> Result<Figures> {
    let (cpu, begun) = (Used::by("self"), Instant::now());
    let calls = std::thread::scope(|scope| {
        let tasks: Vec<_> = (0..n).map(|i| scope.spawn(move || bare_task(scene, i))).collect();
        let calls = tasks.into_iter().map(|task| match task.join() {
            Ok(calls) => calls,
            Err(_) => Err(anyhow!("a bare task broke off")),
        });
        calls.sum::<Result<u32>>()
    })?;
    let wall = begun.elapsed().as_secs_f64();
    let cpu = Used::by("self").since(cpu);
    for i in 0..n {
        done(scene.plain("git").args(["branch", "-q", "-D", &format!("bare/{i}")]))?;
    }
    Ok(figures(
        (BARE, mode, n),
        json!({
            "wall_s": wall,
            "cpu_ms_per_attempt": cpu.children / f64::from(n),
            "git_per_attempt": f64::from(calls) / f64::from(n),
        }),
    ))
}

/// One task; how often git had to be called for it.
fn bare_task(scene: &Scene, i: u32) -> Result<u32> {
    let tree = scene.beside(&format!("bare-{i}"));
    let add = ["worktree", "add", "-q", "-f", "-B", &format!("bare/{i}")];
    let added = insist(|| done(scene.plain("git").args(add).arg(&tree).arg("HEAD")))?;
    let mut work = scene.plain("sh");
    done(work.args(["-c", WORK]).current_dir(&tree).env("LEGATION_SESSION_ID", i.to_string()))?;
    let remove = ["worktree", "remove", "--force"];
    Ok(added + insist(|| done(scene.plain("git").args(remove).arg(&tree)))?)
}

/// Git's worktrees stumble over one another at times, and succeed a moment later; how
/// many calls that took.
fn insist(call: impl Fn() -> Result<()>) -> Result<u32> {
    let tried = (1..TRIES).find(|_| call().is_ok());
    tried.map_or_else(|| call().map(|()| TRIES), Ok)
}

fn done(command: &mut Command) -> Result<()> {
    crate::process::stderr_of(command).map(drop)
}
