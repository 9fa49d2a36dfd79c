//! How fast the rules are, in time and in instructions; and how fast the engine is
//! beside its peers.
//!
//! Time says what a user waits for and swings with the load of the machine.
//! Instructions, counted under valgrind, are the same on a busy machine: a
//! change of them is a change of the code.

pub mod counts;
pub mod engine;
pub mod peers;
pub mod real;
pub mod streams;
pub mod table;
pub mod workspace;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::process::{self, cargo, say};
use crate::setup;
use table::{Case, Measured};

/// Measures the rules in time and in instructions, or the engine beside its peers.
#[derive(clap::Args)]
pub struct Args {
    /// The rules, the engine beside its peers, the real program with real processes,
    /// workspaces beside plain worktrees, or what runners cost beside their programs.
    #[arg(value_parser = ["core", "engine", "real", "workspace", "streams"])]
    subject: String,
    /// With `engine`: the folder of the peers' scripts and their environments.
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// With `engine`, `real` and `workspace`: fewer and smaller runs.
    #[arg(long)]
    quick: bool,
    /// With `real`: a past of a million delegations, too.
    #[arg(long)]
    long: bool,
    /// Only cases whose names contain this; with `real`: `one`, `past`, `small`, `tasks`.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Count instructions only.
    #[arg(long)]
    no_time: bool,
    /// Fail if a limit is missed. Times are only worth that on a quiet machine.
    #[arg(long)]
    check: bool,
}

/// Measures, prints a table and keeps the figures in `target/bench/`.
pub fn run(args: &Args) -> Result<()> {
    let missed = match args.subject.as_str() {
        "engine" => {
            let options = engine::Options { peers: args.peers.as_deref(), quick: args.quick };
            engine::run(&options)?
        }
        "real" => {
            real::run(real::Options { quick: args.quick, long: args.long, only: &args.only })?
        }
        "workspace" => workspace::run(args.quick)?,
        "streams" => streams::run()?,
        _ => rules(args)?,
    };
    if args.check && missed > 0 {
        bail!("{missed} limits are missed");
    }
    Ok(())
}

/// Measures the rules. Says how many limits are missed.
fn rules(args: &Args) -> Result<usize> {
    let package = format!("legation-{}", args.subject);
    setup::debian("valgrind", "valgrind")?;
    if !args.no_time {
        let bench = ["bench", "--locked", "--package", &package, "--bench", "core"];
        process::run(cargo(bench).args(["--", "--quiet", &args.only]))?;
    }
    let counter = counter(&package)?;
    let cases = process::stdout_of(Command::new(&counter).arg("--list-cases"))?;
    let mut rows = Vec::new();
    for line in cases.lines() {
        let case: Case = Case::from_json(line)?;
        if case.name.contains(&args.only) {
            let instructions = counts::per_round(&counter, &case)?;
            let nanos = if args.no_time { None } else { nanos(&case.name) };
            rows.push((case, Measured { instructions, nanos }));
        }
    }
    if rows.is_empty() {
        bail!("no case has `{}` in its name", args.only);
    }
    let rows = table::judged(rows);
    say(&table::text(&rows));
    keep(&args.subject, &rows)?;
    Ok(rows.iter().filter(|row| row.is_missed()).count())
}

/// Builds the benchmarks, which can also run a case a given number of times.
fn counter(package: &str) -> Result<PathBuf> {
    let mut command = cargo(["bench", "--locked", "--package", package, "--bench", "core"]);
    command.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let built = process::executables(&process::stdout_of(&mut command)?);
    built.into_iter().next().context("the benchmark was not built")
}

/// The time that criterion measured for a case, if it did.
fn nanos(case: &str) -> Option<f64> {
    let estimates =
        crate::workspace::target().join("criterion").join(case).join("new/estimates.json");
    let text = std::fs::read_to_string(estimates).ok()?;
    let estimates: Value = serde_json::from_str(&text).ok()?;
    estimates.pointer("/median/point_estimate")?.as_f64()
}

fn keep(subject: &str, rows: &[table::Row]) -> Result<()> {
    let folder = crate::workspace::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{subject}.json"));
    let rows: Vec<Value> = rows.iter().map(table::Row::to_json).collect();
    std::fs::write(&path, format!("{:#}\n", json!({ "cases": rows })))?;
    say(&format!("kept in {}", relative(&path).display()));
    Ok(())
}

fn relative(path: &Path) -> &Path {
    let root = crate::workspace::root();
    path.strip_prefix(&root).unwrap_or(path)
}
