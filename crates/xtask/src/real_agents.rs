//! The real programs of four vendors, run against a model that follows a script.
//!
//! Pinned versions are installed below `target/`; the network is used for that and for
//! nothing else. Where they cannot be installed, that is said and nothing is checked.

mod install;
mod model;
mod scenarios;
mod stage;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};

use self::install::Programs;
use self::scenarios::SCENARIOS;
use self::stage::Stage;
use crate::process::{self, cargo, say};

/// Runs Claude Code, Codex, OpenCode and Gemini CLI for real, against a scripted model.
#[derive(clap::Args)]
pub struct Args {
    /// Only scenarios whose name contains this.
    #[arg(value_name = "NAME")]
    only: Option<String>,
    /// Take the programs from this folder's `bin/` instead of installing them.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// Installs the programs, builds ours, and plays every scenario.
pub fn run(args: &Args) -> Result<()> {
    if let Some(folder) = open_to_others(&std::env::current_dir()?) {
        let folder = folder.display();
        say(&format!(
            "SKIPPED: others may write to {folder}, and programs refuse to work below it"
        ));
        return Ok(());
    }
    let programs = match &args.programs {
        Some(folder) => Programs::in_folder(folder),
        None => match Programs::install() {
            Ok(programs) => programs,
            Err(problem) => {
                say(&format!("SKIPPED: the programs cannot be installed: {problem:#}"));
                return Ok(());
            }
        },
    };
    process::run(&mut cargo(["build", "--locked", "--package", "legation"]))?;
    play(&programs, args.only.as_deref().unwrap_or_default())
}

/// The folder around a place that others than its owner may write to. Programs do not trust
/// their settings below such a one, and rightly so.
fn open_to_others(place: &Path) -> Option<&Path> {
    place.ancestors().find(|folder| {
        let mode = std::fs::metadata(folder).map_or(0, |known| known.permissions().mode());
        mode & 0o022 != 0
    })
}

/// The same as a step of `ci`.
pub fn check() -> Result<()> {
    run(&Args { only: None, programs: None })
}

fn play(programs: &Programs, wanted: &str) -> Result<()> {
    let mut failed = 0;
    let chosen = SCENARIOS.iter().filter(|scenario| scenario.name.contains(wanted));
    for (no, scenario) in chosen.enumerate() {
        let begun = Instant::now();
        // Each on a stage of its own: the engine of the last may not be gone yet.
        let once = |stage: usize| {
            Stage::set(programs, (stage, (scenario.scripts)()))
                .and_then(|stage| (scenario.play)(&stage))
        };
        let played = once(2 * no).or_else(|problem| {
            // The programs have time-outs of their own, which a busy machine may run into.
            say(&format!("again {:<44} {problem:#}", scenario.name));
            once(2 * no + 1)
        });
        let seconds = begun.elapsed().as_secs_f64();
        match played {
            Ok(seen) => say(&format!("ok    {:<44} {seconds:5.1} s  {seen}", scenario.name)),
            Err(problem) => {
                failed += 1;
                say(&format!("FAIL  {:<44} {seconds:5.1} s  {problem:#}", scenario.name));
            }
        }
    }
    if failed > 0 {
        bail!("{failed} scenarios with real agents failed");
    }
    Ok(())
}
