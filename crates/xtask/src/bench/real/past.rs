//! A project with a long past: what is looked up in it, and what one more costs there.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::machine::{Used, middle};
use super::one::{Sample, prepare, sample, timed};
use super::scene::Scene;
use super::{Figures, OURS, figures};

/// How often something is looked up.
const LOOKS: u32 = 21;
/// In how many turns the two projects are measured.
const TURNS: u32 = 5;

/// Fills the journal of a project, looks things up in it and delegates `more` there, and
/// just as much in a project without a past.
pub(super) fn run((legation, filler): (&Path, &Path), past: u32, more: u32) -> Result<Figures> {
    let scene = Scene::new("past", legation)?;
    prepare(&scene)?;
    let begun = Instant::now();
    let journal = scene.project().join(".legation/legation.db");
    let fill = ["fill".to_owned(), past.to_string()];
    crate::process::stdout_of(Command::new(filler).args(fill).arg(&journal))?;
    let fill = begun.elapsed().as_secs_f64();
    let look = |args: &[&str]| {
        let before = Used::by("self");
        let wall = middle(&timed(&scene, LOOKS, legation, args)?);
        let cpu = Used::by("self").since(before).children / f64::from(LOOKS);
        anyhow::Ok((wall, cpu))
    };
    let status = look(&["--json", "status"])?;
    let all = look(&["--json", "status", "--all"])?;
    let history = look(&["--json", "history", "--limit", "20"])?;
    let begun = Instant::now();
    scene.delegate(&["--agent", "quick", "Say that it is done"])?;
    let first = begun.elapsed().as_secs_f64() * 1e3;
    let new = Scene::new("new", legation)?;
    prepare(&new)?;
    // In turns, so that both meet the same machine.
    let (mut olds, mut news) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        olds.push(sample(&scene, more / TURNS)?);
        news.push(sample(&new, more / TURNS)?);
    }
    let (old, new) = (Sample::of(olds), Sample::of(news));
    Ok(figures(
        (OURS, "past", past),
        json!({
            "fill_s": fill,
            "status_ms": status.0,
            "status_cpu_ms": status.1,
            "status_all_ms": all.0,
            "history_ms": history.0,
            "history_cpu_ms": history.1,
            "first_call_ms": first,
            "one_more_ms": middle(&old.calls),
            "one_more_ms_ratio": middle(&old.calls) / middle(&new.calls),
            "one_more_cpu_ms": old.cpu.all(),
            "one_more_cpu_ratio": old.cpu.all() / new.cpu.all(),
            "one_more_engine_cpu_ratio": old.cpu.own / new.cpu.own,
            "engine_mb": old.engine_mb,
            "engine_mb_ratio": old.engine_mb / new.engine_mb,
        }),
    ))
}
