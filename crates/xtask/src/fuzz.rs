//! Throwing hostile input at the parsers.
//!
//! The fuzz targets are a workspace of their own, so that their dependencies and
//! compiler flags never touch the product's. The flags are those of libFuzzer
//! without a sanitizer: no crate here has unsafe code, what is looked for is a
//! panic, a hang or a hunger for memory. All of it works on the stable compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process::{self, cargo, say};
use crate::workspace;

/// The longest input: a megabyte, where quadratic time shows.
const LONGEST_INPUT: usize = 1 << 20;
/// Seconds that one input may take.
const SECONDS_PER_INPUT: u32 = 5;
/// Megabytes that a target may use.
const MEGABYTES: u32 = 2048;
/// Counters on every edge, and comparisons told to the fuzzer.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

/// Throws hostile input at the parsers, each for some seconds.
#[derive(clap::Args)]
pub struct Args {
    /// The target; all of them if none is named.
    target: Option<String>,
    /// Seconds for each target.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Run this one input only, to see a failure again.
    #[arg(long, value_name = "FILE", requires = "target")]
    input: Option<PathBuf>,
}

/// Runs the targets asked for.
pub fn run(args: &Args) -> Result<()> {
    let folder = workspace::root().join("fuzz");
    let binaries = build(&folder)?;
    let wanted = |name: &str| args.target.as_deref().is_none_or(|target| target == name);
    let chosen: Vec<&PathBuf> = binaries.iter().filter(|path| wanted(&name(path))).collect();
    if chosen.is_empty() {
        let known: Vec<String> = binaries.iter().map(|path| name(path)).collect();
        bail!("there is no such fuzz target; there are {}", known.join(", "));
    }
    for binary in chosen {
        match &args.input {
            Some(input) => process::run(Command::new(binary).arg(input))?,
            None => fuzz(&folder, binary, args.seconds)?,
        }
    }
    Ok(())
}

fn fuzz(folder: &Path, binary: &Path, seconds: u32) -> Result<()> {
    let name = name(binary);
    let kept = workspace::target().join("fuzz");
    let (corpus, failures) = (kept.join("corpus").join(&name), kept.join("failures").join(&name));
    for folder in [&corpus, &failures] {
        std::fs::create_dir_all(folder)?;
    }
    say(&format!("\n== {name}, {seconds} s"));
    let mut command = Command::new(binary);
    // The first folder is written to; the committed seeds are only read.
    command.arg(&corpus);
    command.args(Some(folder.join("seeds").join(&name)).filter(|seeds| seeds.is_dir()));
    command.arg(format!("-artifact_prefix={}/", failures.display()));
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-max_len={LONGEST_INPUT}"));
    command.arg(format!("-timeout={SECONDS_PER_INPUT}"));
    command.arg(format!("-rss_limit_mb={MEGABYTES}"));
    command.args(["-print_final_stats=1", "-verbosity=0"]);
    process::run(&mut command).with_context(|| {
        let failures = failures.display();
        format!("{name} broke; see it again with: cargo xtask fuzz {name} --input FILE, where FILE is in {failures}")
    })
}

/// Builds every target, and says where they are.
fn build(folder: &Path) -> Result<Vec<PathBuf>> {
    let about = process::stdout_of(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not name its host")?;
    // With a named target the flags are for the product's code only, not for
    // build scripts and macros.
    // The lock file follows the product's crates, which change without asking.
    let mut command = cargo(["build", "--release", "--bins", "--target", host]);
    command.arg("--message-format=json-render-diagnostics");
    command.current_dir(folder);
    command.env("CARGO_TARGET_DIR", workspace::target().join("fuzz/build"));
    command.env("RUSTFLAGS", FLAGS.join(" "));
    Ok(process::executables(&process::stdout_of(&mut command)?))
}

fn name(binary: &Path) -> String {
    let name = binary.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
