//! One delegation after another to a program that does next to nothing, in an empty
//! folder: what is left is the engine's own.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::machine::{Used, least, megabytes, middle};
use super::scene::Scene;
use super::{BARE, Figures, OURS, figures};

/// Delegations before the measurement begins.
const WARM_UP: u32 = 3;
/// What the program says: a return for its session.
const WORK: &str = concat!(
    r#"printf '{"status":"completed","summary":"ok","artifacts":[],"errors":[],"metadata":"#,
    r#"{"session_id":"%s","agent_type":"quick","delegation_depth":1,"#,
    r#""delegation_path":["user","quick"]}}\n' "$LEGATION_SESSION_ID""#
);

/// What `n` delegations took in a project.
pub(super) struct Sample {
    /// Milliseconds from the start of each attempt to its end, as recorded.
    pub(super) attempts: Vec<f64>,
    /// Milliseconds of each call of `legation delegate`.
    pub(super) calls: Vec<f64>,
    /// What the engine and its children used of the processors for each, on average.
    pub(super) cpu: Used,
    /// Megabytes that the engine has in memory at the end.
    pub(super) engine_mb: f64,
}

impl Sample {
    /// Samples of as many delegations each, taken one after the other, as one.
    pub(super) fn of(samples: Vec<Self>) -> Self {
        let parts = samples.len().max(1) as f64;
        let mut all = Self {
            attempts: Vec::new(),
            calls: Vec::new(),
            cpu: Used::default(),
            engine_mb: f64::NAN,
        };
        for sample in samples {
            all.attempts.extend(sample.attempts);
            all.calls.extend(sample.calls);
            all.cpu.own += sample.cpu.own / parts;
            all.cpu.children += sample.cpu.children / parts;
            all.engine_mb = all.engine_mb.max(sample.engine_mb);
        }
        all
    }
}

/// Gives a project the agent that is measured.
pub(super) fn prepare(scene: &Scene) -> Result<()> {
    scene.agent("quick", WORK)
}

/// Delegates `n` times with a warm engine.
pub(super) fn sample(scene: &Scene, n: u32) -> Result<Sample> {
    let call = ["--agent", "quick", "Say that it is done"];
    for _ in 0..WARM_UP {
        scene.delegate(&call)?;
    }
    let engine = scene.engine()?;
    scene.settle()?;
    let before = Used::by_all_of(&engine);
    let (mut attempts, mut calls) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let begun = Instant::now();
        let view = scene.delegate(&call)?;
        calls.push(begun.elapsed().as_secs_f64() * 1e3);
        let took = view.pointer("/subtasks/0/receipt/durationMs").and_then(Value::as_f64);
        attempts.push(took.context("an attempt has no duration")?);
    }
    scene.settle()?;
    let used = Used::by_all_of(&engine).since(before);
    let each = |all: f64| all / f64::from(n);
    let cpu = Used { own: each(used.own), children: each(used.children) };
    Ok(Sample { attempts, calls, cpu, engine_mb: megabytes(&engine, "VmRSS") })
}

/// One delegation after another beside the same program run directly.
pub(super) fn run(legation: &Path, n: u32) -> Result<Vec<Figures>> {
    let scene = Scene::new("one", legation)?;
    prepare(&scene)?;
    let (bares, bare_cpu) = bare(&scene, n)?;
    let bare = middle(&bares);
    let sample = sample(&scene, n)?;
    let call = middle(&sample.calls);
    let command = middle(&timed(&scene, n, legation, &["--version"])?);
    // Records have whole milliseconds; over many attempts the mean has more.
    let mean = sample.attempts.iter().sum::<f64>() / f64::from(n);
    let ours = figures(
        (OURS, "one", n),
        json!({
            "attempt_ms": middle(&sample.attempts),
            "attempt_mean_ms": mean,
            "overhead_ms": middle(&sample.attempts) - bare,
            "least_overhead_ms": least(&sample.attempts) - least(&bares),
            "call_ms": call,
            "call_overhead_ms": call - command - bare,
            "cpu_ms": sample.cpu.all(),
            "engine_cpu_ms": sample.cpu.own,
            "engine_mb": sample.engine_mb,
        }),
    );
    let bare = json!({"attempt_ms": bare, "call_ms": bare, "cpu_ms": bare_cpu});
    Ok(vec![ours, figures((BARE, "one", n), bare)])
}

/// The milliseconds that a command takes, each time.
pub(super) fn timed(scene: &Scene, n: u32, program: &Path, args: &[&str]) -> Result<Vec<f64>> {
    let mut took = Vec::new();
    for _ in 0..n {
        let begun = Instant::now();
        let done = scene.plain(program).args(args).stderr(Stdio::inherit()).output()?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(done.status.success(), "`legation {}` failed", args.join(" "));
    }
    Ok(took)
}

/// The program itself: its milliseconds, and those on the processors on average.
fn bare(scene: &Scene, n: u32) -> Result<(Vec<f64>, f64)> {
    let before = Used::by("self");
    let wall = timed(scene, n, Path::new("sh"), &["-c", WORK])?;
    Ok((wall, Used::by("self").since(before).children / f64::from(n)))
}
